"""A labelled video stored as a video file, with label files for some or all of its frames."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path

import numpy as np

from budgetseg.datasets.core import LabelledVideo, Problem, SeenFrame
from budgetseg.datasets.files import attempt, of_size
from budgetseg.datasets.labels import ReadLabels
from budgetseg.errors import BudgetsegError
from budgetseg.types import UInt8, Video
from budgetseg.video import VideoSource, open_video

__all__ = ["VideoFile"]


@dataclass(frozen=True, eq=False)
class VideoFile(LabelledVideo):
    """A video file, or its frames between two fractions; it is opened when its frames are needed.

    Attributes
    ----------
    name : unique within the dataset
    path : the file
    numbered : label file by frame number in the file, numbers ascending
    read_labels : reads a label file to class indices
    span : fractions of the frames at which the video begins and ends
    """

    name: str
    path: Path
    numbered: Mapping[int, Path]
    read_labels: ReadLabels
    span: tuple[float, float] = (0.0, 1.0)

    @cached_property
    def n_frames(self) -> int:  # type: ignore[override]  # read-only, as all of a frozen class
        """Number of frames, T."""
        return len(self._range)

    @cached_property
    def labelled(self) -> tuple[int, ...]:  # type: ignore[override]  # read-only, as all of a frozen class
        """Indices of the frames that have labels, ascending."""
        return tuple(number - self._range.start for number in self._label_files)

    def between(self, name: str, start: float, end: float) -> "VideoFile":
        """The frames between two fractions of the file as a video; a frame on the border goes to the first part."""
        return replace(self, name=name, span=(start, end))

    def video(self) -> Video:
        """All frames."""
        return replace(self._source().read(), name=self.name)

    def labels(self) -> UInt8:
        """Labels of the labelled frames, (K, H, W)."""
        width, height = self._source().size
        labels = np.empty((len(self._label_files), height, width), np.uint8)
        for k, path in enumerate(self._label_files.values()):
            labels[k] = of_size(self.read_labels(path), (height, width), path)
        return labels

    def sources(self) -> tuple[str, ...]:
        """File and frame number of each frame; empty if the file cannot be read."""
        try:
            return tuple(f"{self.path}[{number}]" for number in self._range)
        except BudgetsegError:
            return ()

    def inspect(self) -> Iterator[SeenFrame]:
        """Decode every frame and read its labels; at damage in the file, a last item has the problem."""
        try:
            source = self._source()
            width, height = source.size
            for frame in source:
                path = self.numbered.get(frame.index)
                labels, problems = attempt(path, lambda path: of_size(self.read_labels(path), (height, width), path))
                beyond = self._beyond() if frame.index == self._range.stop - 1 else ()
                yield SeenFrame(f"{self.path}[{frame.index}]", labels, problems + beyond)
        except BudgetsegError as error:
            yield SeenFrame(str(self.path), None, (Problem(str(self.path), str(error)),))

    @cached_property
    def _n_in_file(self) -> int:
        return open_video(self.path).count()

    @cached_property
    def _range(self) -> range:
        """Frame numbers in the file."""
        start, end = self.span
        return range(ceil(start * self._n_in_file), ceil(end * self._n_in_file))

    @cached_property
    def _label_files(self) -> dict[int, Path]:
        return {number: path for number, path in self.numbered.items() if number in self._range}

    def _source(self) -> VideoSource:
        return open_video(self.path, start=self._range.start, end=self._range.stop)

    def _beyond(self) -> tuple[Problem, ...]:
        """Problems: labels of frames that the file does not have."""
        rule = f"no such frame, {self.path.name} has {self._n_in_file}; frames are numbered from 0"
        late = (path for number, path in self.numbered.items() if number >= self._n_in_file)
        return tuple(Problem(str(path), f"{path}: {rule}") for path in late)
