"""What writers of formats take: a finished run at one budget, with its labels, frames and confidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from budgetseg.app.export.pictures import restored
from budgetseg.app.export.run import FinishedRun
from budgetseg.app.spaces import FRAMES
from budgetseg.app.state import read_confidence, read_state
from budgetseg.errors import OutputError
from budgetseg.spaces.regions.evidence import WindowMemory
from budgetseg.types import Classes, Float64, UInt8
from budgetseg.video import VideoSource, read_index_png
from budgetseg.video.read import fitted

__all__ = ["Advance", "Labelled", "Settings", "jpeg"]

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Settings:
    """Settings of exported files.

    Attributes
    ----------
    quality : of JPEG images, 0 to 100; 95 is what OpenCV takes, and tells edges of labels well
    """

    quality: int = 95


@dataclass(frozen=True, eq=False)
class Labelled:
    """A finished run at one budget.

    Attributes
    ----------
    run : the run
    budget : name of the budget
    video : that was labelled; None to restore its frames from the overlays
    """

    run: FinishedRun
    budget: str
    video: VideoSource | None = None

    @property
    def files(self) -> Sequence[Path]:
        """Label pictures, one for each frame."""
        return self.run.label_files(self.budget)

    @property
    def stems(self) -> list[str]:
        """Names of the frames: those of the label pictures, without suffix."""
        return [file.stem for file in self.files]

    @property
    def classes(self) -> Classes:
        """Names and colours of the label indices."""
        return self.run.classes

    @property
    def about(self) -> str:
        """What was labelled, and with what, in words."""
        trace = self.run.trace
        return f"{trace.video.name}, labelled by budgetseg with model {trace.model.name} in {self.budget}"

    def labels(self) -> Iterator[UInt8]:
        """Labels of each frame, (H, W) uint8."""
        return (read_index_png(file) for file in self.files)

    def frames(self) -> Iterator[UInt8]:
        """Pixels of each frame, (H, W, 3) uint8, RGB, at the size of the labels."""
        mark = self.run.trace.video
        if self.video is not None:
            return (frame.pixels for frame in self.video)
        return (fitted(frame, (mark.width, mark.height)) for frame in restored(self.run, range(mark.n_frames)))

    def confidence(self) -> Float64:
        """Mean confidence of the labels of each frame, (T,), 0 to 1.

        By regions it is known at the largest budget alone, and counts regions with a descriptor: others have 0. So have
        frames that no window covers.
        """
        windows = self._by_frames() if self.run.trace.space == FRAMES else self._by_regions()
        found = np.zeros(self.run.trace.video.n_frames)
        known = np.concatenate([*windows, np.zeros(0)])[: len(found)]
        found[: len(known)] = known
        return found

    def _by_frames(self) -> list[Float64]:
        place = self.run.budgets.index(self.budget)
        return [window[place].mean(axis=(1, 2)) / 255 for window in read_confidence(self.run.folder)]

    def _by_regions(self) -> list[Float64]:
        known = iter(read_state(self.run.folder))  # of windows with supervoxels alone
        return [
            _by_region(next(known), window.n_frames) if window.n_places else np.zeros(window.n_frames)
            for window in self.run.trace.windows
        ]


def _by_region(known: WindowMemory, n_frames: int) -> Float64:
    """Mean confidence of the frames of a window."""
    sure = np.where(known.subsets > 0, known.probabilities.max(axis=1), 0.0)
    worked = sure[known.supervoxels.ids].mean(axis=(1, 2))
    stride = -(-n_frames // len(worked))
    return np.repeat(worked, stride)[:n_frames]


def jpeg(pixels: UInt8, settings: Settings | None = None) -> bytes:
    """A frame (H, W, 3) uint8, RGB, as the content of a JPEG file."""
    quality = (settings or Settings()).quality
    done, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise OutputError("a frame cannot be encoded as JPEG; export another format")
    return data.tobytes()
