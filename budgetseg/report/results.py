"""Tables of the page from rows of results.json: a line for each method and budget."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

from budgetseg.evaluation.summary import FIGURES, Mean

__all__ = ["tables_of"]

Row = dict[str, Any]

KINDS = ("dataset", "split", "scope", "costs", "clock")
"""Fields of a row that all rows of a table share."""


def tables_of(rows: Sequence[Row]) -> list[Row]:
    """A table for each dataset, split, scope, kind of costs and clock, from the rows of all videos together."""
    tables: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row["video"] == "all":
            tables.setdefault(tuple(str(row[kind]) for kind in KINDS), []).append(row)
    return [dict(zip(KINDS, key, strict=True)) | _table(table_rows) for key, table_rows in tables.items()]


def _table(rows: Sequence[Row]) -> Row:
    unit = _unit(rows)
    lines: dict[tuple[str, float | None], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["method"], row[unit]), []).append(row)
    classes = list(dict.fromkeys(name for row in rows for name in row["accuracy"]["per_class"]))
    found = [{"budget": budget} | _line(line_rows, classes) for (_, budget), line_rows in lines.items()]
    return {"unit": unit, "classes": classes, "lines": sorted(found, key=lambda line: _size(line["budget"]))}


def _unit(rows: Sequence[Row]) -> str:
    """The unit that budgets were given in: seconds are the same for all methods, shares refer to their full cost."""
    n_s, n_fractions = (len({row[unit] for row in rows}) for unit in ("budget_s", "budget_fraction"))
    return "budget_s" if n_s < n_fractions else "budget_fraction"


def _size(budget: float | None) -> float:
    """Sort key of a budget: no bound comes first, as in the paper."""
    return -math.inf if budget is None else budget


def _line(rows: Sequence[Row], classes: Sequence[str]) -> Row:
    """Means over seeds, with half the widths of their confidence intervals, or None."""
    first = rows[0]
    figures = {name: _mean([row["accuracy"][name] for row in rows]) for name in FIGURES}
    figures |= {f"class {name}": _mean([row["accuracy"]["per_class"].get(name) for row in rows]) for name in classes}
    figures["temporal_consistency"] = _mean([row.get("temporal_consistency") for row in rows])
    names = list(first["descriptor_counts"])
    moments = zip(*(row["choices_over_time"] for row in rows), strict=True)
    return {
        "method": first["method"],
        "budget_fraction": first["budget_fraction"],
        "budget_s": first["budget_s"],
        "spent_s": statistics.mean(row["spent_s"] for row in rows),
        "seeds": len(rows),
        "supervoxels": first["n_supervoxels"],
        "figures": figures,
        "descriptors": names,
        "counts": [statistics.mean(row["descriptor_counts"][name] for row in rows) for name in names],
        "over_time": [
            [statistics.mean(counts.get(name, 0) for counts in moment) for name in names] for moment in moments
        ],
    }


def _mean(figures: Sequence[float | None]) -> tuple[float | None, float | None]:
    mean = Mean.of(figures)
    return mean.value, mean.within
