"""Options that several commands read the same way."""

import re

from budgetseg.errors import UsageError

__all__ = ["parse_size"]


def parse_size(text: str | None) -> tuple[int, int] | None:
    """Width and height from a text like 480x360.

    Examples
    --------
    >>> parse_size("480x360")
    (480, 360)
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)[x×](\d+)", text.strip().lower())
    if match is None:
        raise UsageError(f"size must be WIDTHxHEIGHT. Got '{text}'; for example 480x360")
    return int(match[1]), int(match[2])
