"""The contract of a dataset reader: splits of labelled videos with one set of classes."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from budgetseg.errors import UsageError
from budgetseg.types import Classes, UInt8, Video

__all__ = ["Dataset", "LabelledVideo", "Problem", "SeenFrame"]


@dataclass(frozen=True)
class Problem:
    """An error in a dataset.

    Attributes
    ----------
    path : the file or folder with the error
    message : one line with the file, the error, and what to do
    """

    path: str
    message: str


@dataclass(frozen=True, eq=False)
class SeenFrame:
    """The result of reading a frame and its labels.

    Attributes
    ----------
    source : identifies the frame; the same frame has the same source in every split
    labels : (H, W) uint8, class index or `IGNORE`; None if the frame has no readable labels
    problems : of the frame or its labels
    """

    source: str
    labels: UInt8 | None
    problems: tuple[Problem, ...] = ()


class LabelledVideo(ABC):
    """A video of a dataset, with labels for some or all of its frames; files are read on demand.

    Attributes
    ----------
    name : unique within the dataset
    n_frames : number of frames, T
    labelled : the K indices of the frames that have labels, ascending
    """

    name: str
    n_frames: int
    labelled: tuple[int, ...]

    @abstractmethod
    def video(self) -> Video:
        """All frames."""

    @abstractmethod
    def labels(self) -> UInt8:
        """Labels of the labelled frames, (K, H, W) at the size of the frames: class index or `IGNORE`."""

    def sources(self) -> tuple[str, ...]:
        """The source of each of the T frames; the same frame has the same source in every split."""
        return tuple(f"{self.name}[{index}]" for index in range(self.n_frames))

    def inspect(self) -> Iterator[SeenFrame]:
        """Read the T frames with their labels, one after the other; problems are returned, not raised."""
        labels = dict(zip(self.labelled, self.labels(), strict=True))
        for index, source in enumerate(self.sources()):
            yield SeenFrame(source, labels.get(index))


class Dataset(ABC):
    """Labelled videos in splits.

    Splits are never mixed: choices are made on `selection`, figures are reported on `val` or `test`. `train` is all
    that may be learned from; `fit` and `selection` are its two parts (without `selection` if there are too few videos).

    Attributes
    ----------
    name : as on the command line
    classes : names and colours, index 0..L-1
    splits : names of the existing splits
    """

    name: str
    classes: Classes
    splits: tuple[str, ...]

    def videos(self, split: str) -> Sequence[LabelledVideo]:
        """The videos of a split, in the order of their names."""
        if split not in self.splits:
            raise UsageError(f"{self.name} has no split '{split}'; choose from {', '.join(self.splits)}")
        return self._videos(split)

    def problems(self) -> Sequence[Problem]:
        """Files that are missing or left over, by their names; no file is read."""
        return ()

    @abstractmethod
    def _videos(self, split: str) -> Sequence[LabelledVideo]: ...
