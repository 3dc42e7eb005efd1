"""Settings of the regions space, each with its meaning and where its value comes from."""

from dataclasses import dataclass

__all__ = ["RegionSettings"]


@dataclass(frozen=True)
class RegionSettings:
    """How a video is labelled by supervoxels.

    Attributes
    ----------
    floor_share : share of the budget that may go to everything but descriptors; if it would be more, frames are made
        smaller or fewer. `python -m benchmarks.choose_plan`
    cutting_share : share of the budget that supervoxels may take; if those of the model would take more, faster ones
        are used. `python -m benchmarks.choose_plan`
    least_density : supervoxels per frame, at least; with fewer, labels get worse than with smaller frames, and no time
        is saved. `python -m benchmarks.choose_plan`
    smallest_side : pixels of the shorter side of a frame, at least: descriptors use cells of 8 pixels
    clearly_less : supervoxels are begun again with smaller frames only if that takes at most this share of the work
    cutting_reported : share of the time of supervoxels during which they report progress; the rest is merging.
        `python -m benchmarks.profile_supervoxels`
    window_pixels : pixels of a window, at most: 240 frames of 480×360 take about 2 GB
    shortest_window : frames of a window, at least
    batch : descriptors that are chosen and computed together, at most. `python -m benchmarks.batches`
    batch_s : predicted seconds of a batch, at most: decisions in it cannot react to each other's results
    look_s : seconds between two measurements of how busy the machine is; one takes 13 µs
    patience : a plug-in that takes this many times its predicted seconds, and `patience_s` more, is abandoned
    patience_s : seconds, see `patience`
    pixels_per_thread : pixels that each thread paints, at least; with fewer, a thread may wait longer for a core than
        it works
    """

    floor_share: float = 0.5
    cutting_share: float = 0.2
    least_density: float = 16.0
    smallest_side: int = 64
    clearly_less: float = 0.6
    cutting_reported: float = 0.65
    window_pixels: int = 42_000_000
    shortest_window: int = 8
    batch: int = 32
    batch_s: float = 5e-4
    look_s: float = 5e-3
    patience: float = 10.0
    patience_s: float = 1.0
    pixels_per_thread: int = 10_000_000
