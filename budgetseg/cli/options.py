"""Options that several commands read the same way."""

import os
import re

from budgetseg.errors import UsageError

__all__ = ["cores_for", "parse_names", "parse_size"]


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


def parse_names(text: str) -> tuple[str, ...]:
    """Names with commas between them.

    Examples
    --------
    >>> parse_names("colour, hog")
    ('colour', 'hog')
    """
    return tuple(name.strip() for name in text.split(","))


def cores_for(threads: int | None) -> int:
    """As many cores as were asked for, or all."""
    return threads or os.cpu_count() or 1
