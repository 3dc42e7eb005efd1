"""Measures against an independent program, and on partitions whose quality is known."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from budgetseg.supervoxels.metrics import measure
from budgetseg.supervoxels.segment import segment
from budgetseg.types import IGNORE, Int32, UInt8
from tests.supervoxels.volumes import Shape, dense, drift, noise

Measure = Callable[[Int32, UInt8, UInt8, int], dict[str, float]]


@pytest.fixture(scope="session")
def peer(data_root: Path) -> Measure:
    """The program behind the published figures."""
    path = data_root.parent / "tools" / "supervoxel_metrics.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        pytest.skip(f"no {path.name} beside the data")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    measured: Measure = module.metrics
    return measured


def labels_like(ids: Int32, rng: np.random.Generator) -> UInt8:
    """Labels that follow the ids here and there, some of them ignored."""
    labels = rng.choice([0, 1, 2, 5, IGNORE], int(ids.max()) + 1)[ids]
    return np.where(rng.random(ids.shape) < 0.2, rng.integers(0, 4, ids.shape), labels).astype(np.uint8)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", [(1, 6, 7), (2, 1, 20), (5, 12, 1), (4, 9, 11)])
def test_random_partitions_measure_as_the_peer_says(peer: Measure, shape: Shape, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = dense(rng.integers(0, rng.integers(1, 30), shape).astype(np.int32))
    labels, frames = labels_like(ids, rng), noise(shape, seed)
    assert measure(ids, labels, frames) == pytest.approx(peer(ids, labels, frames, IGNORE), rel=0, abs=1e-9)


@pytest.mark.parametrize("n", [1, 40])
def test_supervoxels_measure_as_the_peer_says(peer: Measure, n: int) -> None:
    frames = drift((6, 30, 41))
    ids = segment(frames, n).ids
    labels = labels_like(segment(frames, 7).ids, np.random.default_rng(0))
    assert measure(ids, labels, frames) == pytest.approx(peer(ids, labels, frames, IGNORE), rel=0, abs=1e-9)


def test_a_real_clip_measures_as_the_peer_says(peer: Measure, camvid: tuple[UInt8, UInt8]) -> None:
    frames, labels = (array[:4] for array in camvid)
    ids = segment(frames, 200, "fast").ids
    assert measure(ids, labels, frames) == pytest.approx(peer(ids, labels, frames, IGNORE), rel=0, abs=1e-9)


def halves(shape: Shape = (4, 6, 8)) -> Int32:
    return np.broadcast_to(np.arange(shape[2]) >= shape[2] // 2, shape).astype(np.int32)


def test_supervoxels_that_are_the_classes_are_perfect() -> None:
    ids = halves()
    frames = np.repeat(ids[..., None] * 100, 3, axis=3).astype(np.uint8)
    found = measure(ids, ids.astype(np.uint8), frames)
    assert found == pytest.approx(
        {"n": 2, "BR3D": 1, "UE": 0, "UEnp": 0, "SA3D": 1, "ASA": 1, "EV": 1, "bd": 1 / 8, "dur": 4}
    )


def test_one_supervoxel_has_no_boundary_and_the_accuracy_of_the_largest_class() -> None:
    ids, labels = np.zeros((4, 6, 8), np.int32), np.zeros((4, 6, 8), np.uint8)
    labels[:, :, 6:] = 1
    found = measure(ids, labels, noise(ids.shape))
    expected = {
        "n": 1,
        "BR3D": 0,
        "UE": (1 / 3 + 3) / 2,
        "UEnp": 0.5,
        "SA3D": 0.5,
        "ASA": 0.75,
        "EV": 0,
        "bd": 0,
        "dur": 4,
    }
    assert found == pytest.approx(expected, abs=1e-9)


def test_a_boundary_one_pixel_off_is_recalled_and_three_off_is_not() -> None:
    labels = halves((3, 6, 16)).astype(np.uint8)
    for shift, recall in ((1, 1), (3, 0)):
        ids = np.roll(halves((3, 6, 16)), shift, axis=2)
        ids[:, :, :shift] = 0
        assert measure(ids, labels, noise(ids.shape))["BR3D"] == recall


def test_overlap_counts_no_ignored_voxels() -> None:
    rng = np.random.default_rng(0)
    ids = dense(rng.integers(0, 9, (3, 8, 8)).astype(np.int32))
    labels, frames = rng.integers(0, 3, ids.shape).astype(np.uint8), noise(ids.shape)
    labels[:, :, 4:] = IGNORE
    whole, kept = measure(ids, labels, frames), measure(ids[:, :, :4].copy(), labels[:, :, :4], frames[:, :, :4])
    for name in ("UE", "UEnp", "SA3D", "ASA"):
        assert whole[name] == pytest.approx(kept[name]), name


def test_plain_frames_are_explained_by_anything() -> None:
    assert measure(halves(), halves().astype(np.uint8), np.zeros((4, 6, 8, 3), np.uint8))["EV"] == 1
