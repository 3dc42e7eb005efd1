"""What `budgetseg bench descriptors` measures, on a street small enough for a test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors import calibrate
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.network_output import _Output
from budgetseg.descriptors.pointers import FrameArray
from budgetseg.descriptors.registry import available, open_descriptors
from budgetseg.errors import DatasetError
from budgetseg.evaluation import bench_descriptors as bench
from budgetseg.evaluation.clips import Street
from budgetseg.models import bundled
from budgetseg.supervoxels import segment
from budgetseg.video import write_index_png


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(bench, "Street", lambda: Street((96, 64), 4))
    monkeypatch.setattr(calibrate, "SIZES", ((64, 48),))
    monkeypatch.setattr(calibrate, "N_FRAMES", 2)
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path))
    threads = cv2.getNumThreads()
    yield
    cv2.setNumThreads(threads)


@pytest.fixture(scope="module")
def scene() -> Scene:
    frames = render(0, 4, (96, 64))[0].frames
    return Scene.of(frames, segment(frames, 40, "fast"))


def test_there_is_a_row_for_every_descriptor_and_one_for_three_together() -> None:
    rows = bench._measure(None, repeats=1)
    assert [row["descriptor"] for row in rows] == [*available(bundled("camvid", "")), "hog+hof+mbh"]
    for row in rows:
        numbers = [row[key] for key in ("ms_per_frame", "us_per_supervoxel", "cpu_s", "cost_error_median")]
        assert all(isinstance(number, float) and number > 0 for number in numbers), row
        assert row["ms_per_frame"] == pytest.approx(1e3 * float(row["cpu_s"] or 0) / 4)
        assert (row["us_per_track"] is not None) == (row["descriptor"] in ("hof", "mbh", "hog+hof+mbh"))


def test_private_time_is_a_part_of_all_time(scene: Scene) -> None:
    cpu_s, private_s, n_tracks = bench._run(scene, open_descriptors(["hof"]))
    assert 0 < private_s < cpu_s
    assert n_tracks >= len(scene.supervoxels)


def test_every_run_starts_from_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    make = _Output.make

    def count(self: _Output, scene: Scene, index: int, inputs: list[Any]) -> FrameArray:
        asked.append(index)
        return make(self, scene, index, inputs)

    monkeypatch.setattr(_Output, "make", count)
    descriptors = open_descriptors(["dcnn"], networks=bundled("camvid", ""))
    bench._run(scene, descriptors)
    first = asked.copy()
    bench._run(scene, descriptors)
    assert asked == first * 2 != []


def test_one_error_stands_for_descriptors_together(scene: Scene) -> None:
    row = bench._row(scene, open_descriptors(["colour", "hog"]), 1, {"colour": 0.1, "hog": 0.3})
    assert (row["descriptor"], row["cost_error_median"]) == ("colour+hog", 0.3)


def test_errors_of_predicted_costs_are_relative_and_finite(scene: Scene) -> None:
    errors = bench._cost_errors(scene, open_descriptors(["colour", "hof"]))
    assert errors.keys() == {"colour", "hof"}
    assert all(0 <= error < np.inf for error in errors.values())


def test_an_error_in_the_other_process_arrives_as_itself(tmp_path: Path) -> None:
    for folder in ("val", "valannot"):
        (tmp_path / "camvid" / folder).mkdir(parents=True)
        write_index_png(
            tmp_path / "camvid" / folder / "0016E5_00030.png", np.zeros((4, 4), np.uint8), np.zeros((256, 3), np.uint8)
        )
    with pytest.raises(DatasetError, match="0 runs of more than 50 frames"):
        bench.bench_descriptors(tmp_path, repeats=1)
