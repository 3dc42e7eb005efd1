"""A plan: which frames of a video are read, and how they are labelled. Both spaces use the same class."""

from dataclasses import dataclass

__all__ = ["STRIDES", "Plan"]

STRIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Strides that a plan may have: every how many frames one is read.

They are numbers with many divisors among the others: a run that has read with one stride can change to a multiple of
it without reading other frames.
"""


@dataclass(frozen=True)
class Plan:
    """How a video is labelled.

    Attributes
    ----------
    n_frames : number of frames of the video
    size : height and width, in pixels, of the frames that are labelled
    stride : one frame in this many is read; the others take their labels from those
    prior : if True, nothing is read, and every pixel gets the most frequent class
    read_size : height and width at which frames are read, if larger than `size`; None for the same
    density : regions: supervoxels per frame
    tier : regions: tier of the supervoxels; None for that of the model
    colour_only : regions: the colour descriptor is the only one considered
    network : frames: name of the network that runs; empty if none does
    n_keys : frames: number of key frames, the frames that the network runs on
    carry : frames: how predictions are propagated to other frames, `flow` or `copy`
    edges : frames: whether labels follow the edges of the frame
    cost_s : predicted seconds of all work that remains
    score : predicted accuracy, in points of mean IoU against the cheapest network on every frame
    """

    n_frames: int
    size: tuple[int, int]
    stride: int = 1
    prior: bool = False
    read_size: tuple[int, int] | None = None
    density: float = 0.0
    tier: str | None = None
    colour_only: bool = False
    network: str = ""
    n_keys: int = 0
    carry: str = ""
    edges: bool = False
    cost_s: float = 0.0
    score: float = 0.0

    @property
    def n_worked(self) -> int:
        """Number of frames that are read and labelled, one in `stride`."""
        return -(-self.n_frames // self.stride)

    @property
    def n_pixels(self) -> float:
        """Number of pixels in those frames."""
        return float(self.n_worked * self.size[0] * self.size[1])

    @property
    def n_supervoxels(self) -> int:
        """Number of supervoxels of the video, at least one."""
        return self.supervoxels_in(self.n_worked)

    def supervoxels_in(self, n_frames: int) -> int:
        """Number of supervoxels in `n_frames` of the frames that are read, at least one."""
        return max(1, round(self.density * n_frames))
