"""Settings of the regions space, each with its meaning and where its value comes from."""

from dataclasses import dataclass

__all__ = ["RegionSettings"]


@dataclass(frozen=True)
class RegionSettings:
    """How a video is worked on by supervoxels.

    Attributes
    ----------
    floor_share : share of the budget that may go to everything but descriptors; where it would be more, frames are made
        smaller or fewer. `python -m benchmarks.choose_plan`
    cutting_share : share of the budget that supervoxels may take; where those of the model would take more, faster ones
        are used. `python -m benchmarks.choose_plan`
    least_density : supervoxels a frame; fewer cost no less time and say less than smaller frames do.
        `python -m benchmarks.choose_plan`
    smallest_side : pixels of the shorter side of a frame, at least: descriptors look at cells of 8 pixels
    clearly_less : share of the work of cutting for which it pays to begin again with smaller frames
    cutting_reported : share of the time of supervoxels that goes by while they report progress; the rest is merging.
        `python -m benchmarks.profile_supervoxels`
    window_pixels : pixels of a window, at most: 240 frames of 480×360 take about 2 GB
    shortest_window : frames of a window, at least
    batch : descriptors that are chosen and computed together, at most. `python -m benchmarks.batches`
    batch_s : seconds of them, at most: so long a decision may be out of date
    look_s : seconds between two looks at how busy the machine is while descriptors are computed; a look takes 13 µs
    patience : times the predicted seconds that a plug-in may take before it is left behind
    patience_s : seconds on top of that
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
