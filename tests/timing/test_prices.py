"""Prices: what is learned from stages and from calls, on made-up machines, and what is kept between runs."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.timing.prices import FILE, Learning, Prices
from budgetseg.timing.slowdown import Slowdown
from tests.spaces.clocks import quiet_prices

WORKS = (100.0, 1000.0, 5000.0)


def true_s(work: float) -> float:
    return 2e-5 + 3e-8 * work


def watch(prices: Prices, n: int, slower: float = 1.0, seed: int = 0) -> Prices:
    """Prices after n calls with noise of 20 %."""
    rng = np.random.default_rng(seed)
    for work in rng.uniform(0, 5000, n):
        prices.observe_calls("x", work, slower * true_s(work) * rng.lognormal(0, 0.2))
    return prices


def worst_error(prices: Prices, slower: float = 1.0) -> float:
    return max(abs(prices.predict("x", work) / (slower * true_s(work)) - 1) for work in WORKS)


def after_calls(calls: Iterable[tuple[float, float]]) -> Prices:
    prices = Prices()
    for work, took_s in calls:
        prices.observe_calls("x", work, took_s)
    return prices


def predictions(prices: Prices) -> list[float]:
    return [prices.predict("x", work) for work in WORKS]


# Stages


def test_what_was_never_seen_costs_nothing() -> None:
    prices = after_calls([(1, 1)])
    prices.observe_stage("decode", 1, 1)
    assert "x" in prices
    assert "decode" in prices
    assert "y" not in prices
    assert prices.predict("y", 1e6) == 0


def test_a_stage_that_was_seen_once_is_predicted_in_proportion_to_its_work() -> None:
    prices = Prices()
    prices.observe_stage("paint", 100, 0.5)
    assert prices.predict("paint", 300) == pytest.approx(1.5)


def test_a_changed_machine_is_known_after_five_runs_of_a_stage() -> None:
    prices = Prices({"paint": 0.01})
    for _ in range(5):
        prices.observe_stage("paint", 100, 4.0)
    assert 3.2 < prices.predict("paint", 100) < 4.0


def test_one_run_of_a_stage_has_the_weight_that_was_set() -> None:
    for weight, expected_s in ((0.0, 1.0), (0.5, 2.0), (1.0, 4.0)):
        prices = Prices({"paint": 0.01}, learning=Learning(stage_weight=weight))
        prices.observe_stage("paint", 100, 4.0)
        assert prices.predict("paint", 100) == pytest.approx(expected_s)


def test_what_was_learned_on_a_busy_machine_is_forgotten_at_once() -> None:
    prices = Prices({"paint": 0.01})
    prices.observe_stage("paint", 100, 0.25)
    assert 0.25 < prices.predict("paint", 100) < 0.4
    prices.observe_stage("paint", 100, 0.25)
    assert 0.25 < prices.predict("paint", 100) < 0.32


def test_a_stage_that_took_clearly_less_than_known_has_a_weight_of_its_own() -> None:
    learning = Learning(stage_weight=0.0, freed_weight=1.0, freed_times=1.5)
    for took_s, expected_s in ((0.7, 1.0), (0.6, 0.6), (1.6, 1.0)):
        prices = Prices({"paint": 0.01}, learning=learning)
        prices.observe_stage("paint", 100, took_s)
        assert prices.predict("paint", 100) == pytest.approx(expected_s)


def test_prices_of_a_run_soon_follow_its_video_and_teach_those_of_the_machine_slowly() -> None:
    machine = quiet_prices({"paint": 1.0})
    run = machine.for_run()
    assert run.predict("paint", 2.0) == machine.predict("paint", 2.0)
    run.observe_stage("paint", 1.0, 4.0)
    learning = Learning()
    assert run.predict("paint", 1.0) == pytest.approx(4.0**learning.first_weight)
    assert machine.predict("paint", 1.0) == pytest.approx(4.0**learning.stage_weight)
    assert machine.for_run().predict("paint", 1.0) == machine.predict("paint", 1.0)


def test_calls_of_a_run_are_learned_by_the_machine_at_once() -> None:
    machine = quiet_prices({})
    run = machine.for_run()
    run.observe_calls("hog", 10.0, 0.5)
    assert machine.predict("hog", 10.0) == run.predict("hog", 10.0) == pytest.approx(0.5)


def test_frozen_prices_stay_frozen_in_a_run() -> None:
    run = Prices({"paint": 1.0}, frozen=True).for_run()
    run.observe_stage("paint", 1.0, 4.0)
    assert run.predict("paint", 1.0) == 1.0


def test_a_stage_too_short_for_the_clock_is_not_free_for_good() -> None:
    prices = Prices()
    prices.observe_stage("paint", 100, 0.0)
    for _ in range(20):
        prices.observe_stage("paint", 100, 1.0)
    assert prices.predict("paint", 100) == pytest.approx(1.0, rel=0.01)


# Calls


@pytest.mark.parametrize("seed", range(5))
def test_a_line_is_recovered_from_noisy_calls(seed: int) -> None:
    assert worst_error(watch(Prices(), 500, seed=seed)) < 0.15


def test_calls_without_noise_are_predicted_exactly() -> None:
    assert worst_error(after_calls([(work, true_s(work)) for work in WORKS * 3])) < 1e-6


def test_one_amount_of_work_costs_its_mean() -> None:
    assert after_calls([(7, 1.0), (7, 1.2)]).predict("x", 7) == pytest.approx(1.1, rel=1e-3)


def test_the_price_does_not_fall_where_work_grows() -> None:
    prices = after_calls([(work, 1 / work) for work in WORKS])
    assert prices.predict("x", 5000) == prices.predict("x", 100) > 0


@pytest.mark.parametrize("slower", [0.5, 2.0])
def test_a_machine_that_changes_its_speed_is_followed(slower: float) -> None:
    prices = watch(Prices(), 300)
    assert worst_error(prices, slower) > 0.4
    assert worst_error(watch(prices, 300, slower), slower) < 0.15


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_one_outlier_does_not_move_the_line(factor: float) -> None:
    prices = watch(Prices(), 100)
    before = predictions(prices)
    prices.observe_calls("x", 2000, factor * true_s(2000))
    assert predictions(prices) == pytest.approx(before, rel=0.05)


def test_much_more_work_than_ever_before_is_no_outlier() -> None:
    small, large = [(100.0, true_s(100))] * 9, [(5000.0, true_s(5000))]
    assert after_calls(small + large).predict("x", 5000) == pytest.approx(true_s(5000), rel=0.01)


def test_calls_too_short_for_the_clock_are_not_free_for_good() -> None:
    assert after_calls([(1, 0.0)] * 10 + [(1, 1e-6)] * 500).predict("x", 1) > 5e-7


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e3)), min_size=1), st.floats(0, 1e9))
def test_predictions_are_finite_and_never_negative(calls: list[tuple[float, float]], work: float) -> None:
    assert 0 <= after_calls(calls).predict("x", work) < float("inf")


@pytest.mark.parametrize("factor", [0.3, 1e3])
def test_a_line_that_began_wrong_is_put_right(factor: float) -> None:
    prices = after_calls([(work, factor * true_s(work)) for work in (10.0, 20.0, 3000.0)])
    assert worst_error(watch(prices, 300)) < 0.2


def test_an_array_of_works_has_the_prices_of_each() -> None:
    prices = watch(Prices({"paint": 0.5}), 50)
    works = np.array([0.0, 10.0, 700.0])
    for name in ("x", "paint", "y"):
        assert prices.usual(name, works).tolist() == [prices.usual(name, work) for work in works.tolist()]


def test_no_calls_teach_nothing() -> None:
    prices = Prices()
    prices.observe_calls("x", 0.0, 0.0, n=0)
    assert "x" not in prices


def test_every_call_of_several_threads_counts(tmp_path: Path) -> None:
    prices = Prices()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda seed: watch(prices, 100, seed=seed), range(4)))
    prices.save(tmp_path)
    assert json.loads((tmp_path / FILE).read_text())["calls"]["x"]["n"] == 400
    assert worst_error(prices) < 0.15


def test_lines_of_calls_can_be_taken_from_other_prices() -> None:
    known, prices = watch(Prices({"paint": 1.0}), 100), Prices({"paint": 2.0})
    prices.observe_calls("y", 1.0, 1.0)
    prices.forget_calls(known)
    assert predictions(prices) == predictions(known)
    assert "y" not in prices
    assert prices.predict("paint", 1) == 2.0
    before = predictions(known)
    watch(prices, 100, slower=2.0)
    assert predictions(known) == before


# Slowdown


@pytest.mark.parametrize("factor", [1.0, 2.5])
def test_predictions_are_for_a_machine_as_busy_as_it_is(factor: float) -> None:
    prices = after_calls([(work, true_s(work)) for work in WORKS * 3])
    prices.observe_stage("paint", 100, 0.5)
    prices.slowdown.factor = factor
    assert predictions(prices) == pytest.approx([factor * true_s(work) for work in WORKS])
    assert prices.predict("paint", 100) == pytest.approx(factor * 0.5)
    assert prices.usual("x", 1000.0) == pytest.approx(true_s(1000))
    assert prices.usual("paint", 100.0) == pytest.approx(0.5)


def test_what_a_busy_machine_took_is_learned_as_of_an_idle_one_so_that_the_slowdown_counts_once() -> None:
    prices = Prices()
    prices.slowdown.factor = 2.0
    prices.observe_calls("x", 100.0, 2 * true_s(100))
    prices.observe_stage("paint", 100.0, 0.5)
    assert prices.predict("x", 100) == pytest.approx(2 * true_s(100))
    assert prices.predict("paint", 100) == pytest.approx(0.5)
    prices.slowdown.factor = 1.0
    assert prices.predict("x", 100) == pytest.approx(true_s(100))
    assert prices.predict("paint", 100) == pytest.approx(0.25)


def test_a_busy_while_leaves_the_prices_of_an_idle_machine_as_they_were() -> None:
    prices = watch(Prices(), 200)
    before = predictions(prices)
    prices.slowdown.factor = 3.0
    watch(prices, 200, slower=3.0, seed=1)
    prices.slowdown.factor = 1.0
    assert predictions(prices) == pytest.approx(before, rel=0.1)


def write_counts(path: Path, computed_s: float, waited_s: float) -> None:
    path.write_text(f"{int(1e9 * computed_s)} {int(1e9 * waited_s)} 7\n")


def busy(prices: Prices, counts: Path) -> Prices:
    """Prices that look at a machine of which others have half."""
    prices.slowdown = Slowdown(counts)
    for k in range(10):
        write_counts(counts, 0.1 * k, 0.1 * k)
        prices.look()
    return prices


def test_looking_at_the_machine_finds_the_slowdown(tmp_path: Path) -> None:
    assert busy(Prices(), tmp_path / "counts").slowdown.factor == pytest.approx(2, rel=0.15)


# Frozen prices


def test_frozen_prices_learn_nothing(tmp_path: Path) -> None:
    prices = busy(Prices({"paint": 0.01}, frozen=True), tmp_path / "counts")
    prices.observe_stage("paint", 100, 9.0)
    prices.observe_stage("decode", 100, 9.0)
    prices.observe_calls("x", 100, 9.0)
    assert prices.slowdown.factor == 1
    assert prices.predict("paint", 100) == pytest.approx(1.0)
    assert "decode" not in prices
    assert "x" not in prices


def test_freezing_gives_the_same_prices_idle_and_leaves_the_others_learning() -> None:
    prices = watch(Prices({"paint": 0.01}), 100)
    before = predictions(prices)
    prices.slowdown.factor = 2.0
    frozen = prices.freeze()
    assert frozen.frozen
    assert not prices.frozen
    watch(prices, 300, slower=4.0)
    prices.observe_stage("paint", 100, 9.0)
    assert predictions(frozen) == before
    assert frozen.predict("paint", 100) == pytest.approx(1.0)
    assert worst_error(prices, 4.0) < 0.2


# Kept between runs


def saved(folder: Path) -> Prices:
    prices = watch(Prices({"paint": 0.01}), 50)
    prices.save(folder)
    return prices


def change(folder: Path, **fields: Any) -> None:
    path = folder / FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def assert_nothing_known(folder: Path) -> None:
    prices = Prices.load(folder)
    assert "x" not in prices
    assert "paint" not in prices


def test_what_was_saved_is_loaded_and_learns_on_alike(tmp_path: Path) -> None:
    prices = saved(tmp_path / "new")
    loaded = Prices.load(tmp_path / "new")
    for _ in range(2):
        assert predictions(loaded) == predictions(prices)
        assert loaded.predict("paint", 7) == prices.predict("paint", 7)
        for one in (prices, loaded):
            watch(one, 20, seed=1)
            one.observe_stage("paint", 10, 3.0)


def test_the_slowdown_is_not_saved(tmp_path: Path) -> None:
    prices = watch(Prices(), 50)
    before = predictions(prices)
    prices.slowdown.factor = 3.0
    prices.save(tmp_path)
    loaded = Prices.load(tmp_path)
    assert loaded.slowdown.factor == 1
    assert predictions(loaded) == before


def test_where_no_folder_is_given_prices_are_kept_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))
    Prices({"paint": 0.5}).save()
    assert [file.name for file in (tmp_path / "cache").iterdir()] == [FILE]
    assert Prices.load().predict("paint", 2) == 1.0


def test_a_place_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", Path("/proc/nowhere")):
        saved(place)
        assert_nothing_known(place)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_missing_file_holds_nothing(tmp_path: Path) -> None:
    assert_nothing_known(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00\xff", '{"format": 1}', '{"stages": {}, "calls": {}}'])
def test_a_damaged_file_holds_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, "latin-1")
    assert_nothing_known(tmp_path)


@pytest.mark.parametrize("other", [{"cpu": "another"}, {"format": 0}, {"format": None}], ids=str)
def test_prices_of_another_processor_or_format_do_not_count(other: dict[str, Any], tmp_path: Path) -> None:
    saved(tmp_path)
    change(tmp_path, **other)
    assert_nothing_known(tmp_path)


HUGE = 10**400
LINE_DAMAGES: list[dict[str, Any]] = [
    {"a": "fast"},
    {"a": None},
    {"a": -1.0},
    {"squares": float("nan")},
    {"b": float("inf")},
    {"b": HUGE},
    {"speed": 1.0},
]


@pytest.mark.parametrize("damage", LINE_DAMAGES, ids=lambda damage: str(damage)[:20])
def test_a_file_with_a_damaged_line_holds_nothing(damage: dict[str, Any], tmp_path: Path) -> None:
    saved(tmp_path)
    calls = json.loads((tmp_path / FILE).read_text())["calls"]
    change(tmp_path, calls={"x": calls["x"] | damage})
    assert_nothing_known(tmp_path)


OTHER_SHAPES: list[Any] = [[], None, "x", {"x": []}, {"x": {}}, {"x": {"n": 9}}, {"x": "fast"}, {"x": None}]


@pytest.mark.parametrize("part", ["stages", "calls"])
@pytest.mark.parametrize("shape", OTHER_SHAPES, ids=str)
def test_a_file_with_a_part_of_another_shape_holds_nothing(part: str, shape: Any, tmp_path: Path) -> None:
    saved(tmp_path)
    change(tmp_path, **{part: shape})
    assert_nothing_known(tmp_path)


@pytest.mark.parametrize("rate", [-1.0, 0.0, float("nan"), float("inf"), HUGE], ids=lambda rate: str(rate)[:5])
def test_a_file_with_a_rate_that_no_machine_has_holds_nothing(rate: float, tmp_path: Path) -> None:
    saved(tmp_path)
    change(tmp_path, stages={"paint": rate})
    assert_nothing_known(tmp_path)
