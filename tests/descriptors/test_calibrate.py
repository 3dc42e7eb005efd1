"""Prices of descriptors on this machine: measured for everything that has none, and free of compilation."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from budgetseg.datasets import open_dataset
from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.calibrate import TOGETHER, calibrate, calibrate_new
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.models import bundled
from budgetseg.supervoxels import segment
from budgetseg.timing.clock import thread_s
from budgetseg.timing.prices import Prices


@pytest.fixture(scope="module")
def streets() -> list[Scene]:
    """Scenes that take no time."""
    videos = [render(0, 4, size)[0].frames for size in ((64, 48), (96, 64))]
    return [Scene.of(frames, segment(frames, 40, "fast")) for frames in videos]


def everything() -> list[Descriptor]:
    return open_descriptors([*BUILT_IN, "dcnn"], networks=bundled("camvid", ""))


def priced(descriptors: list[Descriptor]) -> set[str]:
    """All that needs a price."""
    kinds = {resource.kind for descriptor in descriptors for resource in descriptor.resources}
    return kinds | {descriptor.name for descriptor in descriptors}


def test_after_calibration_everything_has_a_price(streets: list[Scene]) -> None:
    prices, descriptors = Prices(), everything()
    calibrate(descriptors, prices, scenes=streets)
    for name in priced(descriptors):
        assert name in prices
        assert prices.predict(name, 1000.0) > 0, name


def test_where_no_scenes_are_given_streets_are_rendered() -> None:
    prices = Prices()
    calibrate(open_descriptors(["colour"]), prices)
    assert prices.predict("colour", 1000.0) > 0


def test_prices_are_measured_by_the_timer_that_is_given(streets: list[Scene]) -> None:
    ticks = iter(range(10**9))
    prices = Prices()
    calibrate(open_descriptors(["colour"]), prices, lambda: float(next(ticks)), streets)
    # One tick lies between the two looks at the timer that a batch takes.
    assert prices.predict("colour", 1000.0) == pytest.approx(1 / TOGETHER)


def test_only_descriptors_without_a_price_are_timed(streets: list[Scene]) -> None:
    prices = Prices()
    prices.observe_calls("colour", 1.0, 1.0)
    prices.observe_calls("hog", 1.0, 1.0)  # but none of its resources
    before = prices.freeze()
    assert calibrate_new(open_descriptors(["colour", "hog", "hof"]), prices, scenes=streets)
    assert prices.predict("colour", 1.0) == before.predict("colour", 1.0)
    assert prices.predict("hog", 1.0) != before.predict("hog", 1.0)
    assert all(name in prices for name in priced(open_descriptors(["hog", "hof"])))


def test_what_has_a_price_is_not_timed_again(streets: list[Scene]) -> None:
    prices = Prices()
    calibrate(everything(), prices, scenes=streets)
    before = prices.freeze()
    assert not calibrate_new(everything(), prices, scenes=streets)
    for name in priced(everything()):
        assert prices.usual(name, 500.0) == before.usual(name, 500.0)


def median_errors(scene: Scene) -> dict[str, float]:
    """|predicted / true - 1| of freshly measured prices, over all descriptors of all regions in random order."""
    descriptors, prices = everything(), Prices()
    calibrate(descriptors, prices, thread_s)
    live = LiveDescriptors(scene, descriptors, prices, timer=thread_s)
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
    errors = median_errors(scene)  # in CPU seconds of the thread: other programs hardly matter
    assert max(errors.values()) <= 0.3, errors


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
