"""A labelled video stored as an image for each frame, with label files for some or all of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import TypeVar

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

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class FrameFiles(LabelledVideo):
    """One image file per frame.

    Attributes
    ----------
    name : unique within the dataset
    frames : T image files, in time order
    times_s : (T,) presentation times
    label_files : label file by frame index, indices ascending
    read_labels : reads a label file to class indices
    resize : whether labels of another size are resized to that of the frames; otherwise they are an error
    defect : why the labels of this video are not valid, as the message of an error; None if they are
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
        """The frames between two fractions of the video as a video; a frame on the border goes to the first part."""
        first, last = ceil(start * self.n_frames), ceil(end * self.n_frames)
        labels = {index - first: path for index, path in self.label_files.items() if first <= index < last}
        frames = self.frames[first:last]
        times_s = self.times_s[first:last]
        return replace(self, name=name, frames=frames, times_s=times_s, label_files=labels)

    def video(self) -> Video:
        """All frames; they must have one size."""
        frames = np.empty((self.n_frames, *self._first_size, 3), np.uint8)
        for index, path in enumerate(self.frames):
            frames[index] = self._fitting(read_image(path), path)
        return Video(frames, self.times_s, self.name)

    def labels(self) -> UInt8:
        """Labels of the labelled frames, (K, H, W)."""
        if self.defect:
            raise DatasetError(self.defect)
        labels = np.empty((len(self.label_files), *self._first_size), np.uint8)
        for k, path in enumerate(self.label_files.values()):
            found = self.read_labels(path)
            labels[k] = _resized(found, self._first_size) if self.resize else self._fitting(found, path)
        return labels

    def sources(self) -> tuple[str, ...]:
        """The T image files."""
        return tuple(map(str, self.frames))

    def inspect(self) -> Iterator[SeenFrame]:
        """Read all frames, to find the size that most of them have, then their labels."""
        for index, path in enumerate(self.frames):
            size, problems = self._seen[index]
            if size is not None and self._size is not None and size != self._size:
                problems = (Problem(str(path), _misfit(size, self._size, path)),)
            labels, more = attempt(self.label_files.get(index), self._inspect_labels)
            yield SeenFrame(str(path), labels, problems + more)

    def _inspect_labels(self, path: Path) -> UInt8:
        labels = self.read_labels(path)
        return _resized(labels, self._size) if self.resize else of_size(labels, self._size, path)

    def _fitting(self, image: UInt8, path: Path) -> UInt8:
        """The image, if it has the size of the first frame; else an error about the file that differs from most."""
        if _size_of(image) == self._first_size:
            return image
        for frame in self.frames:  # the first frame may be the one that differs
            of_size(read_image(frame), self._size, frame)
        return of_size(image, self._size, path)

    @cached_property
    def _first_size(self) -> Size:
        """Rows and columns of the first frame that can be read; an error if there is none."""
        if not self.frames:
            raise DatasetError(f"{self.name}: no frames; put its images in place, or take it out of the splits")
        sizes = (attempt(path, _size_at)[0] for path in self.frames)
        return next((size for size in sizes if size is not None), None) or _size_at(self.frames[0])

    @cached_property
    def _size(self) -> Size | None:
        """Rows and columns that most frames have."""
        found = Counter(size for size, _ in self._seen if size is not None).most_common(1)
        return found[0][0] if found else None

    @cached_property
    def _seen(self) -> tuple[tuple[Size | None, tuple[Problem, ...]], ...]:
        """Size of every frame, and the problems if it cannot be read."""
        return tuple(attempt(path, _size_at) for path in self.frames)


def images_in(folder: Path) -> tuple[Path, ...]:
    """The PNG and JPEG files of a folder, in natural order; empty if there is no such folder."""
    return list_images(folder) if folder.is_dir() else ()


def attempt(path: Path | None, read: Callable[[Path], T]) -> tuple[T | None, tuple[Problem, ...]]:
    """What `read` returns for a file, None without a file, and the problems if it raises an error."""
    try:
        return None if path is None else read(path), ()
    except BudgetsegError as error:
        return None, (Problem(str(path), str(error)),)


def of_size(image: UInt8, size: Size | None, path: Path) -> UInt8:
    """The image, if it has this size, or no size is known; else an error about its file."""
    if size is not None and _size_of(image) != size:
        raise DatasetError(_misfit(_size_of(image), size, path))
    return image


def _misfit(found: Size, expected: Size, path: Path) -> str:
    is_, should = (f"{width}×{height}" for height, width in (found, expected))
    return f"{path}: {is_} pixels where the video has {should}; restore the file at that size"


def _size_at(path: Path) -> Size:
    return _size_of(read_image(path))


def _size_of(image: UInt8) -> Size:
    return image.shape[0], image.shape[1]


def _resized(labels: UInt8, size: Size | None) -> UInt8:
    if size is None:
        return labels
    height, width = size
    return np.asarray(cv2.resize(labels, (width, height), interpolation=cv2.INTER_NEAREST_EXACT), np.uint8)
