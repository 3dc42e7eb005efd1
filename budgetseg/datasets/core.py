"""The contract that every dataset reader fills: splits of labelled videos over one set of classes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from budgetseg.errors import UsageError
from budgetseg.types import Classes, UInt8, Video

__all__ = ["Dataset", "LabelledVideo"]


class LabelledVideo(ABC):
    """One video of a dataset, some or all of its frames labelled; nothing is read before it is asked for.

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


class Dataset(ABC):
    """Labelled videos in splits.

    Splits are never mixed: choices are made on `selection`, figures are reported on `val` or `test`. `train` is all
    that may be learned from; `fit` and `selection` are its two parts.

    Attributes
    ----------
    name : as on the command line
    classes : names and colours, index 0..L-1
    splits : names of the splits that are there
    """

    name: str
    classes: Classes
    splits: tuple[str, ...]

    def videos(self, split: str) -> Sequence[LabelledVideo]:
        """The videos of one split, in name order."""
        if split not in self.splits:
            raise UsageError(f"{self.name} has no split '{split}'; choose from {', '.join(self.splits)}")
        return self._videos(split)

    @abstractmethod
    def _videos(self, split: str) -> Sequence[LabelledVideo]: ...
