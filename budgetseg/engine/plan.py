"""What a run reads of a video, and how it works on that: the one noun that both spaces plan by."""

from dataclasses import dataclass

__all__ = ["STRIDES", "Plan"]

STRIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Every how many frames one may be read: each has many of the others as divisors."""


@dataclass(frozen=True)
class Plan:
    """How a video is labelled.

    Attributes
    ----------
    n_frames : of the video
    size : height and width of the frames that are worked on
    stride : every so many frames one is read; the others take their labels from those
    prior : nothing is read: every pixel gets the most frequent class
    read_size : height and width at which frames are read, where that is larger than `size`; None for the same
    density : regions: supervoxels a frame
    tier : regions: of the supervoxels; None for that of the model
    colour_only : regions: no other descriptor is considered
    network : frames: the network that is asked; empty where none is
    n_keys : frames: key frames, those that the network is asked about
    carry : frames: how predictions come to other frames, `flow` or `copy`
    edges : frames: whether labels follow the edges of the frame
    cost_s : predicted seconds of all that is still to be done
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
        """Frames that are worked on."""
        return -(-self.n_frames // self.stride)

    @property
    def n_pixels(self) -> float:
        """Pixels that are worked on."""
        return float(self.n_worked * self.size[0] * self.size[1])

    @property
    def n_supervoxels(self) -> int:
        """Supervoxels in all, where there are some."""
        return self.supervoxels_in(self.n_worked)

    def supervoxels_in(self, n_frames: int) -> int:
        """Supervoxels in so many of the frames that are worked on, at least one."""
        return max(1, round(self.density * n_frames))
