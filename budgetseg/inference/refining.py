"""What may follow the labels of supervoxels: those of pixels, by what networks said of whole frames.

A network says more of a pixel than the mean over a supervoxel keeps. Who knows how to make use of it is not known here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from budgetseg.inference.ledger import Books
from budgetseg.types import Float32, Int32, UInt8

__all__ = ["Answers", "Asking", "Clock", "Extent", "Refined", "Refiner", "Seen"]

Answers = Mapping[str, tuple[int, ...]]
"""By network, numbers of the frames that it was asked about, among those that were worked on."""


class Extent(NamedTuple):
    """Of a window.

    Attributes
    ----------
    n_frames : of the video
    n_worked : that were worked on
    size : rows and columns of a frame of the video
    n_answers : frames that one network will have been asked about
    n_beside : answers of others
    apart : how far frames of the video lie from each other, in frames of usual video
    """

    n_frames: int
    n_worked: int
    size: tuple[int, int]
    n_answers: float
    n_beside: int = 0
    apart: float = 1.0


@dataclass(frozen=True, eq=False)
class Seen:
    """What is known of a window when its supervoxels have labels.

    Attributes
    ----------
    stride : every so many frames of the video one was worked on
    pictures : (t, h, w, 3), those frames
    answers : by network and number among them, what it said, (h, w, L)
    ids : (t, h, w), the supervoxels of their pixels
    opinions : (N, L), what the supervoxels are
    rough : whether they are blocks, whose labels are worse than those of another frame nearby
    apart : how far frames of the video lie from each other, in frames of usual video
    """

    stride: int
    pictures: UInt8
    answers: Mapping[str, Mapping[int, Float32]]
    ids: Int32
    opinions: Float32
    rough: bool = False
    apart: float = 1.0


class Clock(NamedTuple):
    """Seconds since it started, and when all must be done."""

    now_s: Callable[[], float]
    end_s: float


class Asking(NamedTuple):
    """Somebody who asks a network.

    Attributes
    ----------
    network : its name
    ask : what it says of a frame, by its number among those that were worked on, (h, w, L); None where it says nothing
    seconds : that must be left for that
    """

    network: str
    ask: Callable[[int], Float32 | None]
    seconds: Callable[[], float]


@dataclass(frozen=True)
class Refined:
    """How labels were refined: enough to do it again.

    Attributes
    ----------
    answers : that were made use of
    carry : how they came to other frames
    late : frames of the window for which there was no time, with the labels of supervoxels, or of another frame
    sharp : frames with labels along their edges
    apart : how far frames of the video were taken to lie from each other
    """

    answers: Answers
    carry: str
    late: tuple[int, ...]
    sharp: tuple[int, ...]
    apart: float = 1.0


class Refiner(Protocol):
    """Knows how to."""

    @property
    def networks(self) -> tuple[str, ...]:
        """Those whose answers are of use."""

    @property
    def least(self) -> tuple[int, int]:
        """Rows and columns of a frame that networks make full use of."""

    def carries(self, apart: float) -> Mapping[str, float]:
        """How answers may come to other frames, the dearest first, and what share of the time left this may take.

        Frames lie `apart` as so many of usual video.
        """

    def foretell_apart(self, rate: float) -> float:
        """How far frames of a video lie from each other, in frames of usual video, by their rate alone."""

    def apart(self, books: Books, pictures: UInt8, stride: int, left_s: float) -> float | None:
        """The same, as some of them show (t, h, w, 3), every so many of the video; None where there is no time."""

    def worth(self, extent: Extent, carry: str, network: str) -> float:
        """What labels are worth that come about so; more is better."""

    def seconds(self, books: Books, extent: Extent, carry: str) -> float:
        """What it costs."""

    def more(self, n_worked: int, asked: Sequence[int]) -> Sequence[int]:
        """Which of the frames that were worked on networks should be asked about next, beside those that they were."""

    def refine(
        self, books: Books, seen: Seen, carry: str, clock: Clock, out: UInt8, askings: Sequence[Asking] = ()
    ) -> Refined | None:
        """Write better labels to `out` (T, H, W) in time; None where it was left as it was.

        What is left of the time may be spent on asking about more frames.
        """

    def again(self, seen: Seen, refined: Refined, out: UInt8) -> None:
        """The same, as it was done before."""
