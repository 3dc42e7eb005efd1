"""Clips for benchmarks, loaded by the process that measures: frames (T, H, W, 3), and labels (T, H, W) or None."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.errors import DatasetError
from budgetseg.types import UInt8

__all__ = ["CamvidDense", "Plain", "Street", "SunyVideo"]


@dataclass(frozen=True)
class CamvidDense:
    """CamVid's dense run: the one video of `val`."""

    root: Path

    def __call__(self) -> tuple[UInt8, UInt8]:
        """Frames and labels."""
        dense = [video for video in open_dataset("camvid", self.root).videos("val") if video.n_frames > 50]
        if len(dense) != 1:
            raise DatasetError(
                f"{self.root}: {len(dense)} runs of more than 50 frames in val/, where CamVid has one; "
                "see budgetseg datasets check camvid"
            )
        return dense[0].video().frames, dense[0].labels()


@dataclass(frozen=True)
class SunyVideo:
    """A video of SUNY, both halves."""

    root: Path
    name: str

    def __call__(self) -> tuple[UInt8, UInt8]:
        """Frames and labels."""
        dataset = open_dataset("suny", self.root)
        halves = [video for split in ("train", "test") for video in dataset.videos(split)]
        halves = [half for half in halves if half.name in (f"{self.name}_train", f"{self.name}_test")]
        return np.concatenate([h.video().frames for h in halves]), np.concatenate([h.labels() for h in halves])


@dataclass(frozen=True)
class Street:
    """A rendered street."""

    size: tuple[int, int] = (320, 240)
    n_frames: int = 60

    def __call__(self) -> tuple[UInt8, UInt8]:
        """Frames and labels."""
        from budgetseg.datasets.synthetic import render

        video, truth = render(0, self.n_frames, self.size)
        return video.frames, truth.labels


@dataclass(frozen=True)
class Plain:
    """A constant or a noise video."""

    kind: str
    shape: tuple[int, int, int, int] = (32, 360, 480, 3)

    def __call__(self) -> tuple[UInt8, None]:
        """Frames and no labels."""
        if self.kind == "constant":
            return np.full(self.shape, 128, np.uint8), None
        return np.random.default_rng(0).integers(0, 256, self.shape, np.uint8), None
