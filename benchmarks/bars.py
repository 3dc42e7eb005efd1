"""What the learned policies have to reach, checked on results.json; nothing is run.

Usage: python -m benchmarks.bars RESULTS…, files of 'budgetseg evaluate' or folders that hold results.json.

1. A learned variant beats the best form of Baseline1, 2 and 3 with the same descriptors at the low and the middle
   budget of the paper's table, closes at the low one as much of the gap to the unbounded CRF as the paper's, and does
   not lose at the top one.
2. It keeps 97, 99 and 100 % of the unbounded CRF's accuracy, to a tenth, at 20, 50 and 90 % of the full cost.
3. The learned policy with its own selection order beats the best static plan at 2, 5, 10, 15 and 20 %, at three of them
   with an interval clear of zero, and does not lose at 50 and 90 %. Against the wall clock, whatever runs within a
   budget beats key frames.
3+. The same against the plan in its stronger form, which has the best of five orders of selection itself, and spends
   what is left.

Class average on CamVid, global on SUNY, the other figure in brackets. Differences are in points and paired, with 95 %
intervals of a bootstrap over videos and seeds; where there is one video, over fifths of it and seeds. A star means that
the interval is clear of zero also if it is widened for the small number of videos. Not to lose is to have an interval
that does not lie below zero.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.paper import FAMILIES, LAYOUTS, Family, Layout
from budgetseg.errors import BudgetsegError
from budgetseg.evaluation.paired import Comparison, Estimate, read_comparisons

KEPT = {0.2: 0.97, 0.5: 0.99, 0.9: 1.0}
LOW = (0.02, 0.05, 0.1, 0.15, 0.2)
HIGH = (0.5, 0.9)
N_CLEAR = 3
LATE = 1.03


class Check(NamedTuple):
    """One thing that was to be reached: in words, whether it was, and the bar that it belongs to."""

    bar: str
    text: str
    holds: bool

    def __str__(self) -> str:
        return f"- bar {self.bar}, {'holds' if self.holds else '**fails**'}: {self.text}"


def main(paths: Sequence[Path]) -> None:
    """Print a line for each check, and how many hold."""
    for found in read_comparisons(paths):
        layout = LAYOUTS.get(found.setup["dataset"])
        if layout is None:
            continue
        checks = list(checks_of(found, layout))
        print(
            f"### {layout.title} {found.setup['split']}, {found.setup['costs']} costs, {found.setup['clock']} clock\n"
        )
        print(*checks, sep="\n")
        for bar in sorted({check.bar for check in checks}):
            own = [check.holds for check in checks if check.bar == bar]
            print(f"- **bar {bar}: {sum(own)} of {len(own)} checks hold**")
        print()


def checks_of(found: Comparison, layout: Layout) -> Iterator[Check]:
    """All that the rows allow to check."""
    if found.setup["clock"] == "wall":
        yield from against_keyframes(found, layout)
        return
    for family in FAMILIES:
        for method in family.learned:
            yield from against_baselines(found, layout, family, method)
        for method in family.learned:
            yield from kept(found, layout, family, method)
        for bar, plan in zip(("3", "3+"), family.plans, strict=True):
            yield from against_static(found, layout, family, bar, plan)


def against_baselines(found: Comparison, layout: Layout, family: Family, method: str) -> Iterator[Check]:
    """Bar 1 of a learned variant."""
    low, _, top = layout.budgets
    for budget in layout.budgets:
        best = family.best_baseline(found, budget, layout.kind)
        if best is None or (method, budget) not in found:
            continue
        ours, theirs = (found.estimate((name, budget), layout.kind) for name in (method, best))
        text = f"{method} {_percent(ours)} at {_at(budget)}, {best} {_percent(theirs)}: " + _apart(
            found, layout, (method, best), budget
        )
        if budget == top:
            yield Check("1", text, not _loses(ours - theirs))
            continue
        yield Check("1", text, ours.value > theirs.value)
        if budget == low and (family.unbounded, None) in found:
            yield _gap(ours, theirs, found.estimate((family.unbounded, None), layout.kind), layout, method)


def _gap(ours: Estimate, theirs: Estimate, unbounded: Estimate, layout: Layout, method: str) -> Check:
    where = f"{method} at {_at(layout.budgets[0])}"
    if unbounded.value <= theirs.value:
        text = f"{where}: the best baseline leaves no gap to the unbounded CRF, {_percent(unbounded)}"
        return Check("1", text, ours.value > theirs.value)
    closed = (ours.value - theirs.value) / (unbounded.value - theirs.value)
    text = f"{where} closes {100 * closed:.0f} % of the gap to {_percent(unbounded)}, {100 * layout.gap:.0f} % needed"
    return Check("1", text, closed >= layout.gap)


def kept(found: Comparison, layout: Layout, family: Family, method: str) -> Iterator[Check]:
    """Bar 2 of a learned variant."""
    whole = (family.unbounded, None)
    for budget, needed in KEPT.items():
        if (method, budget) not in found or whole not in found:
            continue
        main, other = (found.estimate((method, budget), k) / found.estimate(whole, k) for k in _kinds(layout))
        text = (
            f"{method} keeps {100 * main.value:.1f} % at {_at(budget)} ({100 * other.value:.1f}), {100 * needed:.0f} %"
        )
        yield Check("2", f"{text} needed", round(main.value, 3) >= needed)


def against_static(found: Comparison, layout: Layout, family: Family, bar: str, plan: str) -> Iterator[Check]:
    """Bar 3, or 3+, of the learned policy with its own selection order, over tables."""
    ours, clear = family.learned[-1], []
    for budget in (*LOW, *HIGH):
        if (ours, budget) not in found or (plan, budget) not in found:
            continue
        apart = found.estimate((ours, budget), layout.kind) - found.estimate((plan, budget), layout.kind)
        text = f"{ours} at {_at(budget)} against {plan}: {_apart(found, layout, (ours, plan), budget)}"
        yield Check(bar, text, apart.value > 0 if budget in LOW else not _loses(apart))
        if budget in LOW:
            clear.append(_clear(apart.interval))
    if clear:
        text = f"{ours} is clear above {plan} at {sum(clear)} of {len(clear)} low budgets, {N_CLEAR} needed"
        yield Check(bar, text, sum(clear) >= N_CLEAR)


def against_keyframes(found: Comparison, layout: Layout) -> Iterator[Check]:
    """Bar 3 against the wall clock: each method that is not key frames, at each budget."""
    rivals = [method for method in found.methods if method.startswith("keyframes")]
    for method in (method for method in found.methods if method not in rivals):
        for budget in found.budgets:
            best = found.best(rivals, budget, layout.kind)
            if best is None or (method, budget) not in found:
                continue
            seconds = found.pooled[method, budget][0]["budget_s"]
            text = (
                f"{method} at {_at(budget)}, {seconds:.3g} s, against {best}{_lateness(found.pooled[best, budget])}: "
            )
            apart = found.estimate((method, budget), layout.kind) - found.estimate((best, budget), layout.kind)
            yield Check("3", text + _apart(found, layout, (method, best), budget), apart.value > 0)


def _lateness(rows: Sequence[Mapping[str, Any]]) -> str:
    """A word where a budget was not kept."""
    share = fmean(row["spent_s"] / row["budget_s"] for row in rows)
    return f" (which takes {share:.1f} times as long)" if share > LATE else ""


def _kinds(layout: Layout) -> tuple[str, str]:
    return layout.kind, layout.other


def _apart(found: Comparison, layout: Layout, methods: tuple[str, str], budget: float) -> str:
    """How far two methods are apart, in both figures."""
    main, other = (
        found.estimate((methods[0], budget), kind) - found.estimate((methods[1], budget), kind)
        for kind in _kinds(layout)
    )
    star = "*" if _clear(main.wide) else ""
    return f"{_points(main)}{star} ({_points(other)})"


def _clear(interval: tuple[float, float] | None) -> bool:
    return interval is not None and interval[0] > 0


def _loses(apart: Estimate) -> bool:
    """Beyond noise; without an interval, at all."""
    return (apart.interval[1] if apart.interval is not None else apart.value) < 0


def _points(apart: Estimate) -> str:
    if apart.interval is None:
        return f"{100 * apart.value:+.2f}"
    low, high = apart.interval
    return f"{100 * apart.value:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]"


def _percent(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.1f}"


def _at(budget: float) -> str:
    return f"{100 * budget:.3g} %"


if __name__ == "__main__":
    try:
        main([Path(word) for word in sys.argv[1:]])
    except BudgetsegError as error:
        sys.exit(str(error))
