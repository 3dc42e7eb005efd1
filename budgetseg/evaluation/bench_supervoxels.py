"""Speed and quality of supervoxels: `budgetseg bench supervoxels`.

Every video is measured in a process of its own, so that the peak of memory is its own, on one thread, decoding left
out: colour conversion, leaves, merges, graph and full-size ids are timed, as CPU time, the median of several runs.
"""

import resource
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.types import UInt8

__all__ = ["Case", "bench_supervoxels", "data_cases", "scaling_cases"]

Row = dict[str, str | int | float | None]
METRICS = ("BR3D", "UE", "UEnp", "SA3D", "ASA", "EV", "bd")


@dataclass(frozen=True)
class Case:
    """One video to measure.

    Attributes
    ----------
    video : name in the table
    load : called in the measuring process; frames (T, H, W, 3) and labels (T, H, W), or None where there are none
    counts : numbers of supervoxels
    """

    video: str
    load: Callable[[], tuple[UInt8, UInt8 | None]]
    counts: tuple[int, ...]


def data_cases(data: Path | None) -> list[Case]:
    """CamVid's dense run and the videos of SUNY below `data`; a synthetic street where there is no data."""
    cases = []
    if data is not None and (data / "camvid").is_dir():
        cases.append(Case("camvid-dense", _Camvid(data / "camvid"), (378, 1063, 3500, 4228)))
    if data is not None and (data / "suny").is_dir():
        names = [video.name.removesuffix("_train") for video in open_dataset("suny", data / "suny").videos("train")]
        cases += [Case(name, _Suny(data / "suny", name), (300, 1000)) for name in names]
    return cases or [Case("street-0000", _Street(), (300, 1000))]


def scaling_cases() -> list[Case]:
    """A rendered street at a quarter, once and four times 480x360, and a constant and a noise video."""
    sizes = ((240, 180), (480, 360), (960, 720))
    streets = [Case(f"street {width}x{height}", _Street((width, height), 32), (1000,)) for width, height in sizes]
    return [*streets, *(Case(f"{kind} 480x360", _Plain(kind), (1000,)) for kind in ("constant", "noise"))]


def bench_supervoxels(
    cases: list[Case], tiers: tuple[str, ...], repeats: int = 3, advance: Callable[[int], None] = lambda _: None
) -> list[Row]:
    """One row per video, tier and number of supervoxels."""
    rows: list[Row] = []
    for case in cases:
        for tier in tiers:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                rows += process.submit(_measure_case, case, tier, repeats).result()
            advance(1)
    return rows


def _measure_case(case: Case, tier: str, repeats: int) -> list[Row]:
    """Time and memory of every number first, since measuring quality takes memory of its own."""
    import cv2

    from budgetseg.supervoxels import build_hierarchy, warm_up
    from budgetseg.supervoxels.metrics import measure

    cv2.setNumThreads(1)
    frames, labels = case.load()
    warm_up()
    rows = [_time_row(case.video, frames, tier, n, repeats) for n in case.counts]
    hierarchy = build_hierarchy(frames, tier)
    for row, n in zip(rows, case.counts, strict=True):
        quality = {} if labels is None else measure(hierarchy.cut(n).ids, labels, frames)
        row.update({name: quality.get(name) for name in METRICS})
    return rows


def _time_row(video: str, frames: UInt8, tier: str, n: int, repeats: int) -> Row:
    from budgetseg.supervoxels import build_hierarchy

    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        supervoxels = build_hierarchy(frames, tier).cut(n)
        seconds.append(time.process_time() - started)
    cpu_s = statistics.median(seconds)
    return {
        "video": video,
        "tier": tier,
        "n": len(supervoxels),
        "ms_per_frame": 1e3 * cpu_s / len(frames),
        "cpu_s": cpu_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


@dataclass(frozen=True)
class _Camvid:
    root: Path

    def __call__(self) -> tuple[UInt8, UInt8]:
        (dense,) = [video for video in open_dataset("camvid", self.root).videos("val") if video.n_frames > 50]
        return dense.video().frames, dense.labels()


@dataclass(frozen=True)
class _Suny:
    root: Path
    name: str

    def __call__(self) -> tuple[UInt8, UInt8]:
        dataset = open_dataset("suny", self.root)
        halves = [video for split in ("train", "test") for video in dataset.videos(split)]
        halves = [half for half in halves if half.name in (f"{self.name}_train", f"{self.name}_test")]
        return np.concatenate([h.video().frames for h in halves]), np.concatenate([h.labels() for h in halves])


@dataclass(frozen=True)
class _Street:
    size: tuple[int, int] = (320, 240)
    n_frames: int = 60

    def __call__(self) -> tuple[UInt8, UInt8]:
        from budgetseg.datasets.synthetic import render

        video, truth = render(0, self.n_frames, self.size)
        return video.frames, truth.labels


@dataclass(frozen=True)
class _Plain:
    kind: str
    shape: tuple[int, int, int, int] = (32, 360, 480, 3)

    def __call__(self) -> tuple[UInt8, None]:
        if self.kind == "constant":
            return np.full(self.shape, 128, np.uint8), None
        return np.random.default_rng(0).integers(0, 256, self.shape, np.uint8), None
