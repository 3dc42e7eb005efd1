"""What is measured, how long, and that stopping it stops it."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import DatasetError, UsageError
from budgetseg.evaluation import bench_supervoxels as bench
from budgetseg.evaluation.bench_supervoxels import Case, data_cases, scaling_cases
from budgetseg.video import write_index_png


def test_the_data_that_is_there_decides_what_is_measured(data_root: Path) -> None:
    names = [case.video for case in data_cases(data_root)]
    assert names[0] == "camvid-dense"
    assert {"bus", "container", "garden", "paris", "soccer"} <= set(names)
    assert [case.video for case in data_cases(None)] == ["street-0000"]


def test_a_folder_without_any_known_dataset_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match=f"no camvid/ or suny/ in '{place}'; give the folder that holds them"):
            data_cases(place)


def test_camvid_without_its_dense_run_is_refused(tmp_path: Path) -> None:
    for folder in ("val", "valannot"):
        (tmp_path / "camvid" / folder).mkdir(parents=True)
        for number in (30, 60, 90):
            path = tmp_path / "camvid" / folder / f"0016E5_{number:05}.png"
            write_index_png(path, np.zeros((4, 4), np.uint8), np.zeros((256, 3), np.uint8))
    (case,) = data_cases(tmp_path)
    with pytest.raises(DatasetError, match="0 runs of more than 50 frames in val/, where CamVid has one"):
        case.load()


def test_videos_that_are_compared_run_until_a_second_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = seconds_of([0.1, 0.9, 0.2, 0.3])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    frames = np.zeros((2, 16, 16, 3), np.uint8)
    case = Case("x", lambda: (frames, None), (1,), least_s=1.4)
    assert bench._time_row(case, frames, "fast", 1, repeats=1)["cpu_s"] == pytest.approx(0.25)  # the median of all four
    assert all(case.least_s >= 1 for case in scaling_cases())


def seconds_of(runs: list[float]) -> Iterator[float]:
    """What a clock shows before and after each run."""
    now = 0.0
    for run in runs:
        yield now
        now += run
        yield now


def test_a_stopped_benchmark_does_not_wait_for_the_video_it_measures() -> None:
    interrupt_us = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(10**6)"
    case = Case("endless", partial(exec, interrupt_us), (1,))  # type: ignore[arg-type]  # it never returns
    with pytest.raises(KeyboardInterrupt):  # or the suite would run out of patience
        bench.bench_supervoxels([case], ("fast",))
