"""Summarise rows of results.json over seeds: means with 95 % confidence intervals."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Line", "Mean", "summarise"]

Row = dict[str, Any]

FIGURES = ("class_average", "global", "miou")


@dataclass(frozen=True)
class Mean:
    """A mean, and half the width of its 95 % interval, None for a single figure. Both are None without figures."""

    value: float | None
    within: float | None = None

    @classmethod
    def of(cls, figures: Sequence[float | None]) -> "Mean":
        """The mean of some figures, with an interval by Student's t; None among them is left out."""
        known = [figure for figure in figures if figure is not None]
        if len(known) < 2:
            return cls(known[0] if known else None)
        from scipy.stats import t

        spread = statistics.stdev(known) / math.sqrt(len(known))
        return cls(statistics.mean(known), float(t.ppf(0.975, len(known) - 1)) * spread)


@dataclass(frozen=True)
class Line:
    """The accuracy of a method at a budget, over all videos.

    Attributes
    ----------
    method : its name
    budget_fraction, budget_s : None for no bound
    spent_s : mean over seeds
    figures : class_average, global and miou
    consistency : temporal consistency; empty without the wall clock
    """

    method: str
    budget_fraction: float | None
    budget_s: float | None
    spent_s: float
    figures: dict[str, Mean]
    consistency: Mean


def summarise(rows: Iterable[Row]) -> list[Line]:
    """A line for each method and budget, in the order of the rows, from those of all videos together."""
    groups: dict[tuple[str, float | None], list[Row]] = {}
    for row in rows:
        if row["video"] == "all":
            groups.setdefault((row["method"], row["budget_s"]), []).append(row)
    return [_line(method, group) for (method, _), group in groups.items()]


def _line(method: str, rows: list[Row]) -> Line:
    figures = {name: Mean.of([row["accuracy"][name] for row in rows]) for name in FIGURES}
    spent_s = statistics.mean(row["spent_s"] for row in rows)
    consistency = Mean.of([row.get("temporal_consistency") for row in rows])
    return Line(method, rows[0]["budget_fraction"], rows[0]["budget_s"], spent_s, figures, consistency)
