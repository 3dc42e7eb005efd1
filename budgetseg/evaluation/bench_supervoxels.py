"""Measure the speed and quality of supervoxels: the rows of `budgetseg bench supervoxels`.

Every video is measured in a process of its own, so that its peak of memory can be read, on one thread, without
decoding. Colour conversion, leaves, merges, graph and full-size ids are timed, as CPU time, the median of several runs.
Videos that are compared with each other run until a second has been measured, since short times vary most.
"""

import resource
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from budgetseg.datasets import open_dataset
from budgetseg.errors import UsageError
from budgetseg.evaluation.clips import CamvidDense, Plain, Street, SunyVideo
from budgetseg.processes import in_processes
from budgetseg.timing.clock import process_s
from budgetseg.types import UInt8

__all__ = ["Case", "bench_supervoxels", "data_cases", "scaling_cases"]

Row = dict[str, str | int | float | None]
SETS = ("camvid", "suny")
METRICS = ("BR3D", "UE", "UEnp", "SA3D", "ASA", "EV", "bd")


@dataclass(frozen=True)
class Case:
    """One video to measure.

    Attributes
    ----------
    video : name in the table
    load : called in the measuring process; returns frames (T, H, W, 3), and labels (T, H, W) or None
    counts : numbers of supervoxels
    least_s : seconds of CPU time to measure, at least; more runs are added until it is reached
    """

    video: str
    load: Callable[[], tuple[UInt8, UInt8 | None]]
    counts: tuple[int, ...]
    least_s: float = 0.0


def data_cases(data: Path | None) -> list[Case]:
    """CamVid's dense run and the videos of SUNY, if they are below `data`; a rendered street for None."""
    if data is None:
        return [Case("street-0000", Street(), (300, 1000))]
    there = [name for name in SETS if (data / name).is_dir()]
    if not there:
        raise UsageError(f"no camvid/ or suny/ in '{data}'; give the folder that holds them, or leave out --data")
    cases = []
    if "camvid" in there:
        cases.append(Case("camvid-dense", CamvidDense(data / "camvid"), (378, 1063, 3500, 4228)))
    if "suny" in there:
        names = [video.name.removesuffix("_train") for video in open_dataset("suny", data / "suny").videos("train")]
        cases += [Case(name, SunyVideo(data / "suny", name), (300, 1000)) for name in names]
    return cases


def scaling_cases() -> list[Case]:
    """A rendered street at a quarter, once and four times 480x360, and a constant and a noise video."""
    sizes = ((240, 180), (480, 360), (960, 720))
    loads: dict[str, Callable[[], tuple[UInt8, UInt8 | None]]] = {
        **{f"street {width}x{height}": Street((width, height), 32) for width, height in sizes},
        **{f"{kind} 480x360": Plain(kind) for kind in ("constant", "noise")},
    }
    return [Case(name, load, (1000,), least_s=1.0) for name, load in loads.items()]


def bench_supervoxels(
    cases: list[Case], tiers: tuple[str, ...], repeats: int = 3, advance: Callable[[int], None] = lambda _: None
) -> list[Row]:
    """A row for each video, tier and number of supervoxels."""
    rows: list[Row] = []
    for case in cases:
        for tier in tiers:
            rows += _in_own_process(case, tier, repeats)
            advance(1)
    return rows


def _in_own_process(case: Case, tier: str, repeats: int) -> list[Row]:
    (rows,) = in_processes(_measure_case, [(case, tier, repeats)], 1, lambda _: None)
    return rows


def _measure_case(case: Case, tier: str, repeats: int) -> list[Row]:
    """Rows of a case. Time and memory are measured first for all numbers, since measuring quality takes memory."""
    import cv2

    from budgetseg.supervoxels import build_hierarchy, warm_up
    from budgetseg.supervoxels.metrics import measure

    cv2.setNumThreads(1)
    frames, labels = case.load()
    warm_up()
    rows = [_time_row(case, frames, tier, n, repeats) for n in case.counts]
    hierarchy = build_hierarchy(frames, tier)
    for row, n in zip(rows, case.counts, strict=True):
        quality = {} if labels is None else measure(hierarchy.cut(n).ids, labels, frames)
        row.update({name: quality.get(name) for name in METRICS})
    return rows


def _time_row(case: Case, frames: UInt8, tier: str, n: int, repeats: int) -> Row:
    from budgetseg.supervoxels import build_hierarchy

    seconds: list[float] = []
    while len(seconds) < repeats or sum(seconds) < case.least_s:
        started = process_s()
        supervoxels = build_hierarchy(frames, tier).cut(n)
        seconds.append(process_s() - started)
    cpu_s = statistics.median(seconds)
    return {
        "video": case.video,
        "tier": tier,
        "n": len(supervoxels),
        "ms_per_frame": 1e3 * cpu_s / len(frames),
        "cpu_s": cpu_s,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
