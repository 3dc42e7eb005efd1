"""What the model learns from calls, on made-up machines and on real video."""

import json
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.datasets import open_dataset
from budgetseg.descriptors import costs as costs_module
from budgetseg.descriptors.calibrate import calibrate
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.costs import CostModel
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.models import bundled
from budgetseg.supervoxels import segment

WORKS = (100.0, 1000.0, 5000.0)
seconds = st.floats(0, 1e3)


def true_s(work: float) -> float:
    return 2e-5 + 3e-8 * work


def watch(costs: CostModel, n: int, slower: float = 1.0, seed: int = 0) -> CostModel:
    """Calls with noise of 20 %."""
    rng = np.random.default_rng(seed)
    for work in rng.uniform(0, 5000, n):
        costs.observe("x", work, slower * true_s(work) * rng.lognormal(0, 0.2))
    return costs


def worst_error(costs: CostModel, slower: float = 1.0) -> float:
    return max(abs(costs.predict("x", work) / (slower * true_s(work)) - 1) for work in WORKS)


def after(calls: Iterable[tuple[float, float]]) -> CostModel:
    costs = CostModel()
    for work, took_s in calls:
        costs.observe("x", work, took_s)
    return costs


def test_what_was_never_seen_costs_nothing() -> None:
    costs = after([(1, 1)])
    assert "x" in costs
    assert "y" not in costs
    assert costs.predict("y", 1e6) == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_line_is_recovered_from_noisy_calls(seed: int) -> None:
    assert worst_error(watch(CostModel(), 500, seed=seed)) < 0.15


def test_calls_without_noise_are_predicted_exactly() -> None:
    assert worst_error(after([(work, true_s(work)) for work in WORKS * 3])) < 1e-6


def test_one_amount_of_work_costs_its_mean() -> None:
    assert after([(7, 1.0), (7, 1.2)]).predict("x", 7) == pytest.approx(1.1, rel=1e-3)


def test_the_price_does_not_fall_where_work_grows() -> None:
    costs = after([(work, 1 / work) for work in WORKS])
    assert costs.predict("x", 5000) == costs.predict("x", 100) > 0


@pytest.mark.parametrize("slower", [0.5, 2.0])
def test_a_machine_that_changes_its_speed_is_followed(slower: float) -> None:
    costs = watch(CostModel(), 300)
    assert worst_error(costs, slower) > 0.4
    assert worst_error(watch(costs, 300, slower), slower) < 0.15


@pytest.mark.parametrize("factor", [1e-4, 1e4])
def test_one_outlier_does_not_move_the_line(factor: float) -> None:
    costs = watch(CostModel(), 100)
    before = [costs.predict("x", work) for work in WORKS]
    costs.observe("x", 2000, factor * true_s(2000))
    assert [costs.predict("x", work) for work in WORKS] == pytest.approx(before, rel=0.05)


def test_much_more_work_than_ever_before_is_not_taken_for_an_accident() -> None:
    small, large = [(100.0, true_s(100))] * 9, [(5000.0, true_s(5000))]
    assert after(small + large).predict("x", 5000) == pytest.approx(true_s(5000), rel=0.01)


def test_calls_too_short_for_the_clock_do_not_make_it_free_for_good() -> None:
    assert after([(1, 0.0)] * 10 + [(1, 1e-6)] * 500).predict("x", 1) > 5e-7


@given(st.lists(st.tuples(st.floats(0, 1e9), seconds), min_size=1), st.floats(0, 1e9))
def test_predictions_are_finite_and_never_negative(calls: list[tuple[float, float]], work: float) -> None:
    costs = after(calls)
    assert 0 <= costs.predict("x", work) < float("inf")
    assert 0 < costs.pace < float("inf")


@pytest.mark.parametrize("factor", [0.3, 1e3])
def test_a_line_that_began_wrong_is_put_right(factor: float) -> None:
    costs = after([(work, factor * true_s(work)) for work in (10.0, 20.0, 3000.0)])
    assert worst_error(watch(costs, 300)) < 0.2


def test_an_array_of_works_has_the_prices_of_each() -> None:
    costs = watch(CostModel(), 50)
    works = np.array([0.0, 10.0, 700.0])
    assert costs.usual("x", works).tolist() == [costs.usual("x", work) for work in works.tolist()]
    assert costs.usual("y", works).tolist() == [0, 0, 0]


def test_what_was_saved_is_loaded_and_learns_on_alike(tmp_path: Path) -> None:
    costs = watch(CostModel(), 50)
    costs.save(tmp_path / "new" / "costs.json")
    loaded = CostModel.load(tmp_path / "new" / "costs.json")
    for _ in range(2):
        assert [loaded.predict("x", work) for work in WORKS] == [costs.predict("x", work) for work in WORKS]
        watch(costs, 20, seed=1)
        watch(loaded, 20, seed=1)


def test_a_missing_file_holds_nothing(tmp_path: Path) -> None:
    assert "x" not in CostModel.load(tmp_path / "costs.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00\xff", '{"format": 1}', '{"format": 0, "lines": {}}'])
def test_a_damaged_file_holds_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "costs.json").write_text(text, "latin-1")
    assert "x" not in CostModel.load(tmp_path / "costs.json")


DAMAGES = [{"a": "fast"}, {"a": None}, {"a": -1.0}, {"squares": float("nan")}, {"b": float("inf")}, {"speed": 1.0}]


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_a_damaged_line_counts_for_nothing(damage: dict[str, float], tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    watch(CostModel(), 50).save(path)
    stored = json.loads(path.read_text())
    stored["lines"]["x"] |= damage
    path.write_text(json.dumps(stored))
    assert "x" not in CostModel.load(path)


@pytest.mark.parametrize("lines", [[], None, "x", {"x": []}, {"x": 1}, {"x": {}}, {"x": {"n": 9}}], ids=str)
def test_lines_of_another_shape_count_for_nothing(lines: object, tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    watch(CostModel(), 50).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"lines": lines}))
    assert "x" not in CostModel.load(path)


def test_prices_of_another_processor_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "costs.json"
    watch(CostModel(), 50).save(path)
    monkeypatch.setattr(costs_module, "cpu_model", lambda: "another")
    assert "x" not in CostModel.load(path)


CALLS = {"tiny": (2e-6, 2e-8), "small": (2e-5, 5e-8), "large": (5e-4, 1e-6), "huge": (9e-3, 1e-6)}


class Machine:
    """Calls of four names in random order, 20 % of noise, on a machine that may become slower.

    Where another program takes turns, a call takes its time and all turns of 4 ms that fall into it.
    """

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.costs = CostModel()
        self.until_turn_s = 0.004
        self.work(0.5)

    def work(self, usual_s: float, slower: float = 1.0, names: Iterable[str] = CALLS, turns: bool = False) -> None:
        """Make calls that usually take so many seconds together, each name about as many of them."""
        spent = dict.fromkeys(names, 0.0)
        while sum(spent.values()) < usual_s:
            name = min(spent, key=lambda own: spent[own] * self.rng.uniform(0.5, 2))
            work = 1000.0 if name == "huge" else self.rng.uniform(0, 2000)  # frames are all alike
            own_s = CALLS[name][0] + CALLS[name][1] * work
            spent[name] += own_s
            own_s *= self.rng.lognormal(-0.02, 0.2)  # mean 1
            self.costs.observe(name, work, self._interrupted(own_s, slower) if turns else slower * own_s)

    def _interrupted(self, own_s: float, slower: float) -> float:
        self.until_turn_s -= own_s
        took_s = own_s
        while self.until_turn_s < 0:
            self.until_turn_s += 0.004
            took_s += 0.004 * (slower - 1)
        return took_s

    def errors(self, slower: float = 1.0) -> dict[str, float]:
        """Largest relative error of the predictions, by name."""
        return {
            name: max(abs(self.costs.predict(name, work) / (slower * (a + b * work)) - 1) for work in (400, 1000, 1900))
            for name, (a, b) in CALLS.items()
        }

    def usual(self) -> list[float]:
        return [self.costs.usual(name, 1000.0) for name in CALLS]


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("names", [list(CALLS), ["tiny"], ["small", "large"], ["huge"]], ids=str)
@pytest.mark.parametrize("slower", [2.0, 4.0])
def test_a_machine_that_becomes_slower_is_followed_for_names_that_are_not_called(
    slower: float, names: list[str], turns: bool
) -> None:
    machine = Machine()
    assert max(machine.errors().values()) < 0.2
    machine.work(0.12, slower, names, turns)
    assert max(machine.errors(slower).values()) < 0.3
    machine.work(0.16, 1.0, names)
    assert max(machine.errors().values()) < 0.3


def test_a_machine_that_becomes_faster_is_followed() -> None:
    machine = Machine()
    machine.work(0.12, 0.5, ["small"])
    assert machine.costs.pace == pytest.approx(0.5, rel=0.15)
    assert max(machine.errors(0.5).values()) < 0.3


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("names", [list(CALLS), ["tiny"], ["large"]], ids=str)
def test_a_slower_while_leaves_the_lines_as_they_were(names: list[str], turns: bool) -> None:
    machine = Machine()
    before = machine.usual()
    machine.work(3, 2.0, names, turns)
    assert machine.costs.pace == pytest.approx(2, rel=0.15)
    assert machine.usual() == pytest.approx(before, rel=0.1)


@pytest.mark.parametrize("seed", range(5))
def test_on_a_steady_machine_the_pace_is_one(seed: int) -> None:
    machine = Machine(seed)
    for _ in range(20):
        machine.work(0.05)
        assert machine.costs.pace == 1


@pytest.mark.parametrize("name", CALLS)
def test_one_accident_does_not_change_the_pace(name: str) -> None:
    machine = Machine()
    machine.costs.observe(name, 1000.0, 3.0)
    for _ in range(20):
        machine.work(0.01)
        assert machine.costs.pace == 1
    assert max(machine.errors().values()) < 0.2


def test_a_small_change_is_left_to_the_lines() -> None:
    machine = Machine()
    machine.work(0.5, 1.2)
    assert machine.costs.pace == 1
    assert max(machine.errors(1.2).values()) < 0.2


def test_a_name_that_is_new_on_a_slower_machine_has_its_usual_price() -> None:
    machine = Machine()
    machine.work(0.12, 2.0)
    for work in machine.rng.uniform(0, 5000, 100):
        machine.costs.observe("x", work, 2 * true_s(work))
    assert worst_error(machine.costs, 2.0) < 0.3
    machine.work(0.12)
    assert worst_error(machine.costs) < 0.3


def test_a_name_that_is_new_before_the_pace_is_known_is_not_taken_for_twice_as_slow() -> None:
    machine = Machine()
    machine.work(0.01, 2.0)
    for work in machine.rng.uniform(0, 5000, 50):
        machine.costs.observe("x", work, 2 * true_s(work))
    machine.work(0.12, 2.0)
    assert worst_error(machine.costs, 2.0) < 0.5


def test_one_wrong_line_does_not_change_the_pace() -> None:
    machine = Machine()
    for work in (10.0, 20.0, 3000.0):
        machine.costs.observe("x", work, 1e3 * true_s(work))
    for _ in range(10):
        watch(machine.costs, 30)
        machine.work(0.02)
        assert machine.costs.pace == 1
    assert worst_error(machine.costs) < 0.2


def test_a_pace_that_lasts_becomes_the_usual_one() -> None:
    machine = Machine()
    for _ in range(11):
        machine.work(1, 2.0, ["large", "huge"])
    assert machine.costs.pace == 1
    assert max(machine.errors(2.0).values()) < 0.3


def test_the_pace_is_not_saved(tmp_path: Path) -> None:
    machine = Machine()
    before = machine.usual()
    machine.work(0.2, 3.0)
    assert machine.costs.pace > 2
    machine.costs.save(tmp_path / "costs.json")
    loaded = CostModel.load(tmp_path / "costs.json")
    assert loaded.pace == 1
    assert [loaded.predict(name, 1000.0) for name in CALLS] == machine.usual() == pytest.approx(before, rel=0.1)


def test_a_loaded_model_follows_the_machine(tmp_path: Path) -> None:
    machine = Machine()
    machine.costs.save(tmp_path / "costs.json")
    machine.costs = CostModel.load(tmp_path / "costs.json")
    machine.work(0.12, 2.0, ["large"])
    assert max(machine.errors(2.0).values()) < 0.3


def median_errors(scene: Scene) -> dict[str, float]:
    """|predicted / true - 1| of freshly measured prices, over all descriptors of all regions in random order."""
    descriptors = open_descriptors([*BUILT_IN, "dcnn"], networks=bundled("camvid", ""))
    costs = CostModel()
    calibrate(descriptors, costs, time.thread_time)
    live = LiveDescriptors(scene, descriptors, costs, timer=time.thread_time)
    calls = [(region, name) for region in range(len(scene.supervoxels)) for name in live.descriptors]
    errors: dict[str, list[float]] = {name: [] for name in live.descriptors}
    for k in np.random.default_rng(0).permutation(len(calls)):
        predicted_s = live.cost(*calls[k])
        errors[calls[k][1]].append(abs(predicted_s / live.compute(*calls[k]).total_s - 1))
    return {name: float(np.median(found)) for name, found in errors.items()}


def test_on_real_video_half_of_the_calls_are_predicted_within_three_tenths(data_root: Path) -> None:
    (dense,) = open_dataset("camvid", data_root / "camvid").videos("val")
    frames = dense.video().frames[:40]
    scene = Scene.of(frames, segment(frames, 3500 * 40 // 101, "fast"))
    for _attempt in range(3):  # other programs may have taken the memory
        errors = median_errors(scene)
        if max(errors.values()) <= 0.3:
            return
    pytest.fail(f"median errors of predicted costs: {errors}")
