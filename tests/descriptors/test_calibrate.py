"""Prices on this machine: measured for everything, kept where there is a place, and free of compilation."""

import subprocess
import sys
from pathlib import Path

import pytest

from budgetseg.descriptors import calibrate as calibrate_module
from budgetseg.descriptors.calibrate import TOGETHER, calibrate, known_costs, save_costs
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.costs import CostModel
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.models import bundled


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Streets that take no time, and an empty cache."""
    monkeypatch.setattr(calibrate_module, "SIZES", ((64, 48), (96, 64)))
    monkeypatch.setattr(calibrate_module, "N_FRAMES", 4)
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def everything() -> list[Descriptor]:
    return open_descriptors([*BUILT_IN, "dcnn"], networks=bundled("camvid", ""))


def priced(descriptors: list[Descriptor]) -> set[str]:
    """All that needs a price."""
    kinds = {resource.kind for descriptor in descriptors for resource in descriptor.resources}
    return kinds | {descriptor.name for descriptor in descriptors}


def test_after_calibration_everything_has_a_price() -> None:
    costs, descriptors = CostModel(), everything()
    calibrate(descriptors, costs)
    for name in priced(descriptors):
        assert name in costs
        assert costs.predict(name, 1000.0) > 0, name


def test_prices_are_measured_by_the_clock_that_is_given() -> None:
    ticks = iter(range(10**9))
    costs = CostModel()
    calibrate(open_descriptors(["colour"]), costs, timer=lambda: float(next(ticks)))
    # One tick lies between the two looks at the clock that a batch takes.
    assert costs.predict("colour", 1000.0) == pytest.approx(1 / TOGETHER)


def test_what_was_measured_is_stored_and_used_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = known_costs(everything())
    assert [file.name for file in cache.iterdir()] == ["costs.json"]
    monkeypatch.setattr(calibrate_module, "calibrate", None)
    again = known_costs(everything())
    for name in priced(everything()):
        assert again.predict(name, 500.0) == first.predict(name, 500.0)


def test_only_what_is_new_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[list[str]] = []
    monkeypatch.setattr(calibrate_module, "calibrate", lambda new, *_: measured.append([one.name for one in new]))
    costs = CostModel()
    costs.observe("colour", 1.0, 1.0)
    costs.observe("hog", 1.0, 1.0)  # but none of its resources
    save_costs(costs)
    known_costs(open_descriptors(["colour", "hog", "hof"]))
    assert measured == [["hog", "hof"]]


def test_what_a_run_has_learned_serves_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate_module, "calibrate", None)
    costs = CostModel()
    costs.observe("colour", 100.0, 3.0)
    save_costs(costs)
    assert known_costs(open_descriptors(["colour"])).predict("colour", 100.0) == pytest.approx(3.0)


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", Path("/proc/nowhere")):
        monkeypatch.setenv("BUDGETSEG_CACHE", str(place))
        assert known_costs(open_descriptors(["colour"])).predict("colour", 100.0) > 0
    assert (tmp_path / "file").read_text() == "mine"


COMPILED = """
import gc, sys
from numba.core.registry import CPUDispatcher
from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.calibrate import TOGETHER, warm_up
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.models import bundled
from budgetseg.supervoxels import segment

def compiled():
    return {str(one.py_func): len(one.signatures) for one in gc.get_objects() if isinstance(one, CPUDispatcher)}

frames = render(3, 20, (96, 64))[0].frames
scene = Scene.of(frames, segment(frames, 40, "fast"))
descriptors = open_descriptors([*BUILT_IN, "dcnn"], networks=bundled("camvid", ""))
before = compiled()
warm_up(descriptors)
warm = compiled()
measure(scene, descriptors)
print(warm != before, {name: n for name, n in compiled().items() if n != warm.get(name)})
"""


def test_warming_up_leaves_nothing_to_compile() -> None:
    done = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True)
    assert done.stdout == "True {}\n"
