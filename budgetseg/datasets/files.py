"""A labelled video that lies on disk as one image per frame, with label files for some or all of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path

import cv2
import numpy as np

from budgetseg.datasets.core import LabelledVideo, Problem, SeenFrame
from budgetseg.datasets.labels import ReadLabels
from budgetseg.errors import BudgetsegError, DatasetError
from budgetseg.types import Float64, UInt8, Video
from budgetseg.video import read_image
from budgetseg.video.images import list_images

__all__ = ["FrameFiles", "Size", "attempt", "images_in", "of_size"]

Size = tuple[int, int]
"""Rows and columns."""


@dataclass(frozen=True, eq=False)
class FrameFiles(LabelledVideo):
    """One image file per frame.

    Attributes
    ----------
    name : unique within the dataset
    frames : T image files, in time order
    times_s : (T,) presentation times
    label_files : frame index → label file, indices ascending
    read_labels : how a label file becomes class indices
    resize : labels of another size are brought to the size of the frames (an error otherwise)
    defect : why the labels of this video cannot be trusted; asking for them raises it
    """

    name: str
    frames: tuple[Path, ...]
    times_s: Float64
    label_files: Mapping[int, Path]
    read_labels: ReadLabels
    resize: bool = False
    defect: str | None = None

    @cached_property
    def n_frames(self) -> int:  # type: ignore[override]  # read-only, as all of a frozen class
        """Number of frames, T."""
        return len(self.frames)

    @cached_property
    def labelled(self) -> tuple[int, ...]:  # type: ignore[override]  # read-only, as all of a frozen class
        """Indices of the frames that have labels, ascending."""
        return tuple(self.label_files)

    def between(self, name: str, start: float, end: float) -> "FrameFiles":
        """The frames between two fractions of the video as a video of their own; a split frame goes to the first."""
        first, last = ceil(start * self.n_frames), ceil(end * self.n_frames)
        labels = {index - first: path for index, path in self.label_files.items() if first <= index < last}
        frames, times_s = self.frames[first:last], self.times_s[first:last]
        return replace(self, name=name, frames=frames, times_s=times_s, label_files=labels)

    def video(self) -> Video:
        """All frames; they must have one size."""
        size = self._known_size()
        frames = np.empty((self.n_frames, *size, 3), np.uint8)
        for index, path in enumerate(self.frames):
            frames[index] = of_size(read_image(path), size, path)
        return Video(frames, self.times_s, self.name)

    def labels(self) -> UInt8:
        """Labels of the labelled frames, (K, H, W)."""
        if self.defect:
            raise DatasetError(self.defect)
        labels = np.empty((len(self.label_files), *self._known_size()), np.uint8)
        for k, path in enumerate(self.label_files.values()):
            labels[k] = self._read_labels(path)
        return labels

    def sources(self) -> tuple[str, ...]:
        """The T image files."""
        return tuple(map(str, self.frames))

    def inspect(self) -> Iterator[SeenFrame]:
        """Read every frame and its labels."""
        for index, path in enumerate(self.frames):
            _, problems = attempt(path, lambda path: of_size(read_image(path), self._size, path))
            labels, more = attempt(self.label_files.get(index), self._read_labels)
            yield SeenFrame(str(path), labels, problems + more)

    def _read_labels(self, path: Path) -> UInt8:
        labels = self.read_labels(path)
        return _resized(labels, self._size) if self.resize else of_size(labels, self._size, path)

    def _known_size(self) -> Size:
        if not self.frames:
            raise DatasetError(f"{self.name}: no frames; put its images in place, or take it out of the splits")
        # Where no size is known, the first frame cannot be read, and doing so says why.
        return self._size or _size_of(read_image(self.frames[0]))

    @cached_property
    def _size(self) -> Size | None:
        """Rows and columns that most of the first three frames agree on, should one of them be damaged."""
        first = (attempt(path, read_image)[0] for path in self.frames[:3])
        found = Counter(_size_of(image) for image in first if image is not None).most_common(1)
        return found[0][0] if found else None


def images_in(folder: Path) -> tuple[Path, ...]:
    """The PNG and JPEG files of a folder in natural order; none where there is no such folder."""
    return list_images(folder) if folder.is_dir() else ()


def attempt(path: Path | None, read: Callable[[Path], UInt8]) -> tuple[UInt8 | None, tuple[Problem, ...]]:
    """What `read` makes of a file, if there is one, or the problem that kept it from reading."""
    try:
        return None if path is None else read(path), ()
    except BudgetsegError as error:
        return None, (Problem(str(path), str(error)),)


def of_size(image: UInt8, size: Size | None, path: Path) -> UInt8:
    """The image, if it has this size, or where no size is known; an error that names its file otherwise."""
    if size is not None and _size_of(image) != size:
        found, expected = (f"{width}×{height}" for height, width in (_size_of(image), size))
        raise DatasetError(f"{path}: {found} pixels where the video has {expected}; restore the file at that size")
    return image


def _size_of(image: UInt8) -> Size:
    return image.shape[0], image.shape[1]


def _resized(labels: UInt8, size: Size | None) -> UInt8:
    if size is None:
        return labels
    height, width = size
    return np.asarray(cv2.resize(labels, (width, height), interpolation=cv2.INTER_NEAREST_EXACT), np.uint8)
