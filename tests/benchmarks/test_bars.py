"""The bars: what holds, what fails, and why."""

from pathlib import Path

import pytest

from benchmarks import bars
from benchmarks.bars import Check, checks_of
from benchmarks.paper import LAYOUTS
from tests.benchmarks.made import comparison_of, rows_of, write_rows

LOW = (0.02, 0.05, 0.1, 0.15, 0.2)


def checks(rates: dict[tuple[str, float | None], float], bar: str, clock: str = "cost") -> list[Check]:
    found = checks_of(comparison_of(rates, clock=clock), LAYOUTS["camvid"])
    return [check for check in found if check.bar == bar]


def bar1(learned: float, top: float = 0.8) -> list[bool]:
    rates = {("crf", None): 0.8, ("baseline1", 0.2): 0.4, ("baseline1-rest", 0.2): 0.6, ("budget-rndrnk", 0.2): learned}
    rates |= {("baseline2", 0.9): 0.79, ("budget-rndrnk", 0.9): top}
    return [check.holds for check in checks(rates, "1")]


def test_a_variant_must_beat_the_stronger_form_and_close_its_share_of_the_gap() -> None:
    assert bar1(0.70) == [True, True, True]
    assert bar1(0.68) == [True, False, True]  # 40 % of the gap, 46 are needed
    assert bar1(0.59) == [False, False, True]


def test_at_the_top_budget_a_variant_must_not_lose() -> None:
    assert bar1(0.70, top=0.79) == [True, True, True]
    assert bar1(0.70, top=0.78) == [True, True, False]


def test_where_a_baseline_leaves_no_gap_it_must_be_beaten() -> None:
    rates = {("crf", None): 0.6, ("baseline2", 0.2): 0.65, ("budget-wanted", 0.2): 0.66}
    beats, gap = checks(rates, "1")
    assert (beats.holds, gap.holds) == (True, True)
    assert "no gap" in gap.text


def test_variants_are_compared_with_baselines_and_bounds_of_the_same_descriptors() -> None:
    rates = {("crf", None): 0.9, ("crf-full", None): 0.8, ("baseline2", 0.2): 0.7, ("baseline2-full", 0.2): 0.5}
    texts = [check.text for check in checks(rates | {("budget-full", 0.2): 0.65}, "1")]
    assert texts[0].startswith("budget-full 65.0 at 20 %, baseline2-full 50.0: +15.00 [")
    assert texts[1] == "budget-full at 20 % closes 50 % of the gap to 80.0, 46 % needed"


def test_shares_of_the_unbounded_accuracy_are_kept_to_a_tenth() -> None:
    rates = {
        ("crf", None): 0.8,
        ("budget-nhbrnk", 0.2): 0.777,
        ("budget-nhbrnk", 0.5): 0.78,
        ("budget-nhbrnk", 0.9): 0.7997,
    }
    assert [check.holds for check in checks(rates, "2")] == [True, False, True]
    assert checks(rates, "2")[1].text == "budget-nhbrnk keeps 97.5 % at 50 % (97.5), 99 % needed"


def bar3(apart: tuple[float, ...], bar: str = "3", plan: str = "static") -> list[bool]:
    """How far the learned policy is ahead at 2, 5, 10, 15, 20, 50 and 90 %."""
    rates: dict[tuple[str, float | None], float] = {}
    for budget, ahead in zip((*LOW, 0.5, 0.9), apart, strict=True):
        rates |= {(plan, budget): 0.7, ("budget-wanted", budget): 0.7 + ahead}
    return [check.holds for check in checks(rates, bar)]


def test_the_learned_policy_must_beat_the_static_plan_wherever_little_can_be_spent() -> None:
    assert bar3((0.01,) * 7) == [True] * 8
    assert bar3((0.01, 0.01, 0.01, -0.01, 0.01, 0.01, 0.01)) == [*[True] * 3, False, *[True] * 4]


def test_the_stronger_form_of_the_plan_is_held_against_it_as_well() -> None:
    apart = (0.01, 0.01, 0.01, -0.01, 0.01, 0.01, -0.01)
    assert bar3(apart, "3+", "static-rest") == bar3(apart) == [*[True] * 3, False, True, True, False, True]
    assert bar3(apart, "3", "static-rest") == []


def test_at_high_budgets_it_must_not_lose() -> None:
    assert bar3((0.01,) * 5 + (0.0, 0.0)) == [True] * 8
    assert bar3((0.01,) * 5 + (0.0, -0.01)) == [*[True] * 6, False, True]


def test_it_must_be_clear_of_zero_at_three_low_budgets() -> None:
    assert bar3((0.01, 0.01, 0.01, 0.0, 0.0, 0.0, 0.0)) == [True, True, True, False, False, True, True, True]
    assert bar3((0.01, 0.01, 0.0, 0.0, 0.0, 0.01, 0.01)) == [True, True, False, False, False, True, True, False]


def test_against_the_wall_clock_the_stronger_key_frames_must_be_beaten() -> None:
    rates: dict[tuple[str, float | None], float] = {("keyframes", 0.1): 0.5, ("keyframes-large", 0.1): 0.7}
    behind, ahead = checks(rates | {("static", 0.1): 0.6, ("learned", 0.1): 0.8}, "3", clock="wall")
    assert (behind.holds, ahead.holds) == (False, True)
    assert ahead.text.startswith("learned at 10 %, 3 s, against keyframes-large: +10.00 [")


def test_the_command_prints_a_line_for_each_check_and_a_sum_for_each_bar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rates = {("crf", None): 0.8, ("baseline2", 0.2): 0.6, ("budget-wanted", 0.2): 0.79, ("static", 0.2): 0.795}
    bars.main([write_rows(rows_of(rates), tmp_path / "results")])
    title, _, *lines = capsys.readouterr().out.strip().splitlines()
    assert title == "### CamVid val, shared costs, cost clock"
    assert lines[-3:] == [
        f"- **bar {bar}: {text} checks hold**" for bar, text in ((1, "2 of 2"), (2, "1 of 1"), (3, "0 of 2"))
    ]
    assert sum("**fails**" in line for line in lines) == 2
