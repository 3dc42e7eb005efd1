"""The paper's figures from results.json, and accuracy against the budget; nothing is run.

Usage: python -m benchmarks.figures OUT RESULTS…, files of 'budgetseg evaluate' or folders that hold results.json.

For each dataset and cost model: accuracy against the budget, means over seeds with 95 % intervals, each baseline in the
form that is the stronger one there; descriptors that Budget-Full chooses, by budget; descriptors that Budget-NhbRnk
chooses at 90 % of the full cost, over time. Against the wall clock: accuracy alone.
"""

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.paper import FAMILIES, LAYOUTS, Family, Layout
from budgetseg.errors import BudgetsegError
from budgetseg.evaluation.paired import Comparison, read_comparisons
from budgetseg.types import Float64

# Okabe and Ito's colours, which the colour-blind can tell apart; shapes, dashes and hatches say the same again.
BLACK, ORANGE, SKY, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
BLUE, RED, PINK = "#0072b2", "#d55e00", "#cc79a7"
Look = dict[str, Any]
LEARNED_LOOK: tuple[Look, ...] = tuple(
    {"color": colour, "marker": marker, "linestyle": "-"} for colour, marker in ((SKY, "s"), (BLUE, "D"), (RED, "o"))
)
BASELINE_LOOK: tuple[Look, ...] = tuple(
    {"color": colour, "marker": marker, "linestyle": "--"}
    for colour, marker in ((ORANGE, "v"), (PINK, "^"), (GREEN, "<"))
)
PLAN_LOOK: tuple[Look, ...] = tuple(
    {"color": colour, "marker": marker, "linestyle": ":"} for colour, marker in (("grey", "x"), (BLACK, "X"))
)
DESCRIPTOR_LOOK = {
    "colour": (ORANGE, ""),
    "hog": (SKY, "//"),
    "hof": (GREEN, ".."),
    "mbh": (PINK, "xx"),
    "dcnn": (BLUE, "\\\\"),
}
DEPTH = 40
"""Points below the best that are shown."""
TICKS = (2, 5, 10, 20, 50, 100)
PER_BUDGET, OVER_TIME = "budget-full", ("budget-nhbrnk", 0.9)


def main(output: Path, paths: Sequence[Path]) -> None:
    """Write PNGs, and print their names."""
    comparisons = read_comparisons(paths)
    output.mkdir(parents=True, exist_ok=True)
    for found in comparisons:
        layout = LAYOUTS.get(found.setup["dataset"])
        if layout is None:
            continue
        on_wall = found.setup["clock"] == "wall"
        name = f"{found.setup['dataset']}-{'wall' if on_wall else found.setup['costs']}"
        plots = {"accuracy": wall_plot(found, layout) if on_wall else accuracy_plot(found, layout)}
        if any((PER_BUDGET, budget) in found for budget in found.budgets):
            plots["descriptors"] = descriptor_plot(found, layout)
        if OVER_TIME in found:
            plots["over-time"] = time_plot(found, layout)
        for what, figure in plots.items():
            figure.savefig(output / f"{name}-{what}.png", dpi=120)
            print(output / f"{name}-{what}.png")


def accuracy_plot(found: Comparison, layout: Layout) -> Figure:
    """Accuracy against the budget, one panel for each set of descriptors."""
    families = [own for own in FAMILIES if {own.unbounded, *own.plans, *own.learned} & set(found.methods)]
    figure, panels = _panels(len(families))
    for axes, family in zip(panels, families, strict=True):
        _panel(axes, found, family, layout.kind)
        axes.set_title(family.title)
    panels[0].set(ylabel=f"{_kind_title(layout)}, %", ylim=_limits(found, layout.kind))
    figure.suptitle(_title(found, layout))
    return figure


def _limits(found: Comparison, kind: str) -> tuple[float, float]:
    """Of what is shown; where a method knows next to nothing, showing it would make all others one line."""
    shown = [100 * (found.mean(run, kind).value or 0.0) for run in found.counts]
    return max(min(shown), max(shown) - DEPTH) - 1, min(max(shown) + 2, 100)


def _panel(axes: Axes, found: Comparison, family: Family, kind: str) -> None:
    for forms, look in zip(family.baselines, BASELINE_LOOK, strict=True):
        stronger = [(found.best(forms, budget, kind), budget) for budget in found.budgets]
        points = [(method, budget) for method, budget in stronger if method is not None]
        _curve(axes, found, points, kind, {"label": forms[0], **look})
    for method, look in zip((*family.plans, *family.learned), (*PLAN_LOOK, *LEARNED_LOOK), strict=True):
        _curve(axes, found, [(method, budget) for budget in found.budgets], kind, {"label": method, **look})
    if (family.unbounded, None) in found:
        value = 100 * (found.mean((family.unbounded, None), kind).value or 0.0)
        axes.axhline(value, color="grey", linewidth=1, label=f"{family.unbounded}, no bound")
    _budget_axis(axes, "budget, % of full cost")


def _budget_axis(axes: Axes, title: str) -> None:
    axes.set(xscale="log", xlabel=title)
    axes.set_xticks(TICKS, [f"{tick}" for tick in TICKS])
    axes.set_xticks([], minor=True)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3)


def _curve(axes: Axes, found: Comparison, points: Sequence[tuple[str, float]], kind: str, look: Look) -> None:
    """Means at these points with their intervals; those that were not run are left out."""
    there = [point for point in points if point in found]
    if not there:
        return
    means = [found.mean(run, kind) for run in there]
    shares, values = [100 * budget for _, budget in there], [100 * (mean.value or 0.0) for mean in means]
    within = [100 * (mean.within or 0.0) for mean in means]
    axes.errorbar(shares, values, within, markersize=5, linewidth=1.3, capsize=2, elinewidth=0.8, **look)


def wall_plot(found: Comparison, layout: Layout) -> Figure:
    """Accuracy against real seconds, end to end, of all methods."""
    figure, (axes,) = _panels(1)
    looks = (*LEARNED_LOOK[::-1], PLAN_LOOK[-1], *BASELINE_LOOK)
    for method, look in zip(found.methods, looks, strict=False):
        _curve(axes, found, [(method, budget) for budget in found.budgets], layout.kind, {"label": method, **look})
    axes.set(ylabel=f"{_kind_title(layout)}, %", ylim=_limits(found, layout.kind))
    _budget_axis(axes, "budget, % of the wall-clock of computing everything")
    figure.suptitle(_title(found, layout))
    return figure


def descriptor_plot(found: Comparison, layout: Layout) -> Figure:
    """What is chosen at each budget, the upper figure of the paper."""
    budgets = [budget for budget in found.budgets if (PER_BUDGET, budget) in found]
    counts = [_mean_counts([row["descriptor_counts"] for row in found.pooled[PER_BUDGET, own]]) for own in budgets]
    figure = _histogram(counts, [f"{100 * budget:g} %" for budget in budgets], "budget, % of full cost")
    figure.suptitle(f"{_title(found, layout)}: descriptors chosen by Budget-Full")
    return figure


def time_plot(found: Comparison, layout: Layout) -> Figure:
    """What is chosen when, the lower figure of the paper."""
    moments = zip(*(row["choices_over_time"] for row in found.pooled[OVER_TIME]), strict=True)
    counts = [_mean_counts(own) for own in moments]
    ends = np.linspace(0, 100, len(counts) + 1)
    ticks = [f"{low:.0f}-{high:.0f}" for low, high in pairwise(ends)]
    figure = _histogram(counts, ticks, "time, % of the budget")
    figure.suptitle(f"{_title(found, layout)}: choices of Budget-NhbRnk at {100 * OVER_TIME[1]:g} %")
    return figure


def _mean_counts(rows: Sequence[dict[str, int]]) -> dict[str, float]:
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _histogram(counts: Sequence[dict[str, float]], ticks: Sequence[str], title: str) -> Figure:
    """Shares of choices, one bar for each of the counts, and above it how many there were."""
    figure, (axes,) = _panels(1)
    names, where = list(counts[0]), np.arange(len(counts))
    table: Float64 = np.array([[own[name] for name in names] for own in counts])
    totals = table.sum(axis=1)
    shares = 100 * table / np.maximum(totals, 1)[:, None]
    bottom = np.zeros(len(counts))
    for name, own in zip(names, shares.T, strict=True):
        colour, hatch = DESCRIPTOR_LOOK.get(name, ("lightgrey", ""))
        axes.bar(where, own, bottom=bottom, color=colour, hatch=hatch, edgecolor="white", label=name)
        bottom += own
    for place, total in zip(where.tolist(), totals.tolist(), strict=True):
        axes.text(place, 101, f"{total:.0f}", ha="center", fontsize=8)
    axes.set(ylim=(0, 108), ylabel="share of choices, %; above, their number", xlabel=title)
    axes.set_xticks(where, ticks)
    axes.grid(visible=False)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _panels(n: int) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(1 + 6 * n, 5), layout="constrained")
    panels: list[Axes] = figure.subplots(1, n, sharey=True, squeeze=False)[0].tolist()
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
    return figure, panels


def _title(found: Comparison, layout: Layout) -> str:
    how = "wall clock" if found.setup["clock"] == "wall" else f"{found.setup['costs']} costs"
    return f"{layout.title} {found.setup['split']}, {how}"


def _kind_title(layout: Layout) -> str:
    return {"class_average": "class average", "global": "global accuracy"}[layout.kind]


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]])
    except BudgetsegError as error:
        sys.exit(str(error))
