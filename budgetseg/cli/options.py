"""Options that several commands read the same way."""

import math
import os
import re

from budgetseg.errors import UsageError
from budgetseg.types import Budget

__all__ = ["cores_for", "parse_budgets", "parse_names", "parse_size"]

_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


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


def parse_budgets(text: str) -> tuple[Budget, ...]:
    """Budgets with commas between them: 500ms, 10s, 2m, 1h; 20% or 0.2, a share of the full cost; inf, no bound.

    Examples
    --------
    >>> parse_budgets("10s,2m")
    (Budget(amount=10.0, is_share=False), Budget(amount=120.0, is_share=False))
    >>> parse_budgets("20%,inf")
    (Budget(amount=0.2, is_share=True), Budget(amount=inf, is_share=True))
    """
    budgets = [_parse_budget(one.strip().lower()) for one in text.split(",")]
    are_shares = all(budget.is_share for budget in budgets if budget.amount != math.inf) and budgets[0].is_share
    return tuple(Budget(math.inf, are_shares) if budget.amount == math.inf else budget for budget in budgets)


def _parse_budget(text: str) -> Budget:
    if text == "inf":
        return Budget(math.inf)
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(ms|s|m|h|%|)", text)
    amount = 0.0 if match is None else float(match[1])
    if match is None or amount == 0:
        raise UsageError(f"budget must be a time, a share or 'inf', more than nothing. Got '{text}'; for example 10s")
    if match[2] in _UNITS:
        return Budget(amount * _UNITS[match[2]])
    share = amount / 100 if match[2] else amount
    if share > 1:
        raise UsageError(f"budget must be 100 % at most where it is a share. Got '{text}'; for example 20%, or 10s")
    return Budget(share, is_share=True)


def cores_for(threads: int | None) -> int:
    """As many cores as were asked for, or all."""
    return threads or os.cpu_count() or 1
