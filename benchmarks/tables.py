"""The paper's tables from results.json, and a table of accuracy against all budgets; nothing is run.

Usage: python -m benchmarks.tables RESULTS…, files of 'budgetseg evaluate' or folders that hold results.json.

A baseline is shown in the stronger of its forms; `-rest` spends what is left on random supervoxels. Budgets are shares
of what all descriptors of a method cost. Means over seeds, with half the width of their 95 % intervals (Student's t).
Bold is the best of a budget among those with the same descriptors. The paper's figures are of another split of CamVid,
other supervoxels, networks and machines.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.paper import FAMILIES, KIND_TITLES, LAYOUTS, Family, Layout
from budgetseg.errors import BudgetsegError
from budgetseg.evaluation.paired import Comparison, read_comparisons
from budgetseg.evaluation.summary import Mean

Run = tuple[str, float | None]


def main(paths: Sequence[Path]) -> None:
    """Print tables for each dataset and cost model."""
    for found in read_comparisons(paths):
        layout = LAYOUTS.get(found.setup["dataset"])
        if layout is not None and found.setup["clock"] == "cost":
            print("\n".join(tables_of(found, layout)), end="\n\n")


def tables_of(found: Comparison, layout: Layout) -> Iterator[str]:
    """Lines of markdown."""
    split, costs = found.setup["split"], found.setup["costs"]
    yield f"### {layout.title} {split}, {costs} costs"
    yield ""
    n_videos, n_seeds = len(found.videos), len(found.seeds)
    yield f"{n_videos} video{'s' * (n_videos > 1)}, {n_seeds} seeds. Full cost: {', '.join(_full_costs(found))}."
    yield ""
    yield from paper_table(found, layout)
    for kind in (layout.kind, layout.other):
        yield ""
        yield f"{KIND_TITLES[kind].capitalize()}, at all budgets:"
        yield ""
        yield from budget_table(found, kind)


def _full_costs(found: Comparison) -> Iterator[str]:
    for family in FAMILIES:
        for row in found.pooled.get((family.unbounded, None), ())[:1]:
            yield f"{row['spent_s']:.3g} s {family.title}"


def paper_table(found: Comparison, layout: Layout) -> Iterator[str]:
    """The form of the paper: per class, average, and the paper's own figure beside."""
    kinds = (*layout.classes, layout.kind, layout.other)
    titles = (*layout.classes.values(), KIND_TITLES[layout.kind], KIND_TITLES[layout.other])
    yield _line(("B", "method", *titles, f"paper's {KIND_TITLES[layout.kind]}"))
    yield _line(["---"] * (len(kinds) + 3))
    for budget in (None, *layout.budgets):
        for family in FAMILIES:
            runs = list(_runs(found, family, budget, layout.kind))
            columns = [_column(found, runs, kind, kind not in layout.classes) for kind in kinds]
            for (method, _), *cells in zip(runs, *columns, strict=True):
                paper = layout.paper(method, budget)
                yield _line((_share(budget), method, *cells, "" if paper is None else f"{paper:.1f}"))


def budget_table(found: Comparison, kind: str) -> Iterator[str]:
    """A line for each method, a column for each budget."""
    budgets = (*found.budgets, None)
    yield _line(("method", *map(_share, budgets)))
    yield _line(["---"] * (len(budgets) + 1))
    for family in FAMILIES:
        forms = [form for forms in family.baselines for form in forms]
        methods = [own for own in (family.unbounded, *forms, *family.plans, *family.learned) if own in found.methods]
        columns = [_column(found, [(method, budget) for method in methods], kind, True) for budget in budgets]
        for method, *cells in zip(methods, *columns, strict=True):
            yield _line((method, *cells))


def _runs(found: Comparison, family: Family, budget: float | None, kind: str) -> Iterator[Run]:
    if budget is not None:
        yield from ((method, budget) for method in family.rows(found, budget, kind))
    elif (family.unbounded, None) in found:
        yield family.unbounded, None


def _column(found: Comparison, runs: Iterable[Run], kind: str, with_interval: bool) -> list[str]:
    """Figures of these runs, the best in bold, if there is something to be better than."""
    means = [found.mean(run, kind) if run in found else Mean(None) for run in runs]
    values = [_percent(mean.value) for mean in means]
    known = [float(value) for value in values if value]
    best = f"{max(known):.1f}" if len(known) > 1 else ""
    cells = []
    for mean, value in zip(means, values, strict=True):
        within = f" ± {_percent(mean.within)}" if with_interval and mean.within is not None else ""
        cells.append((f"**{value}**" if value and value == best else value) + within)
    return cells


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _share(budget: float | None) -> str:
    return "∞" if budget is None else f"{100 * budget:g} %"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    try:
        main([Path(word) for word in sys.argv[1:]])
    except BudgetsegError as error:
        sys.exit(str(error))
