"""What the demo runs: supervoxels of one labelled video, in both tiers and at several numbers."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from budgetseg.files import atomic_folder
from budgetseg.supervoxels import TIERS, segment, warm_up
from budgetseg.supervoxels.truth import achievable_accuracy, count_labels
from budgetseg.types import Labelling, Video
from budgetseg.video import write_overlay

__all__ = ["N_STEPS", "DemoRow", "demo_supervoxels"]

COUNTS = (300, 1000)

N_STEPS = len(TIERS) * len(COUNTS)
"""How often `advance` is called."""


@dataclass(frozen=True)
class DemoRow:
    """One partition: how many, how fast, and the accuracy that a perfect labelling of it would reach."""

    tier: str
    n: int
    ms_per_frame: float
    reachable: float


def demo_supervoxels(
    video: Video, truth: Labelling, folder: Path, advance: Callable[[int], None] = lambda _: None
) -> list[DemoRow]:
    """Supervoxels in both tiers, their overlays in `folder` beside the video and its labels."""
    warm_up()
    rows = []
    with atomic_folder(folder) as part:
        write_overlay(part / "street.mp4", video)
        write_overlay(part / "truth.mp4", video, truth)
        for tier in TIERS:
            for n in COUNTS:
                started = time.perf_counter()
                supervoxels = segment(video.frames, n, tier)
                spent_s = time.perf_counter() - started
                write_overlay(part / f"{tier}-{n}.mp4", video, ids=supervoxels.ids)
                reachable = achievable_accuracy(count_labels(supervoxels.ids, truth.labels, len(truth.classes)))
                rows.append(DemoRow(tier, len(supervoxels), 1e3 * spent_s / len(video.frames), reachable))
                advance(1)
    return rows
