"""The contract between the engine and a space, a way to label videos.

A *space* defines what a place is (a frame, a supervoxel) and which sources (networks, descriptors) can run on it. Its
*state* is what is known of one window of a video. The engine divides the time, decides when to stop, and keeps the
accounts. It knows no more of a space than these protocols.
"""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from budgetseg.engine.loop import Outcome
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.trace import Finish, WindowTrace
from budgetseg.engine.window import Reader, Window
from budgetseg.timing.deadline import Cuttable
from budgetseg.timing.ledger import Account
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import Batch, Float32, UInt8
from budgetseg.video import VideoSource

__all__ = ["Evidence", "Space", "WindowState"]


class Evidence(Protocol):
    """What the labels of a window were made from, at one budget; confidence and explanations come from it."""

    def confidence(self, size: tuple[int, int]) -> Float32:
        """The probability of the label at every pixel, (T, H, W), for frames of size (H, W)."""


class WindowState(Protocol):
    """What is known of one window. Knowledge is only ever added.

    Attributes
    ----------
    plan : for this window and those after it
    """

    plan: Plan

    def glance(self, end_s: float) -> Batch:
        """An action about one place that can be done by `end_s` before anything is read; empty where there is none."""

    @property
    def is_known(self) -> bool:
        """Whether labels can be made that show what is in the window."""

    def prepare(self, end_s: float, last_s: float) -> bool:
        """Read frames and make them ready for actions. Returns False if there is no time left to make labels.

        It is called once for each budget. Labels are due at `end_s`, those of the largest budget at `last_s`.
        """

    def prepare_again(self, earlier: WindowTrace, n_read: int, memory: Any = None) -> None:
        """Read the first n_read frames of an earlier run and make them ready as it did, however long that takes.

        `memory` is what `memory` returned at the end of that run, if it was kept.
        """

    def choose(self, left_s: float) -> Batch:
        """The actions to do next, with `left_s` seconds left for actions; an empty batch stops."""

    def do(self, batch: Batch) -> Outcome:
        """Do the actions of a batch. Several threads may call this at the same time."""

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Add the outcome of a batch to the state."""

    def cuttable(self) -> Sequence[Cuttable]:
        """Work under way that can be made to stop when time is up."""

    def full_s(self, scope: str) -> float:
        """Predicted seconds of all possible actions; with scope `total`, also of reading and finishing."""

    def finish_s(self) -> float:
        """Predicted seconds from the last action to labels ready."""

    def finish(self, end_s: float, out: UInt8, like: Finish | None = None) -> tuple[Finish, Evidence | None]:
        """Write labels to `out` (T, H, W) by `end_s`, or, with `like`, exactly as an earlier run did."""

    def next_s(self) -> float:
        """Predicted seconds of the cheapest action that was not done; 0 if all were."""

    def trace(self) -> tuple[Sequence[int], tuple[int, int], int]:
        """Numbers of the frames read, their size, and the number of places, as in `WindowTrace`."""

    @property
    def n_frames(self) -> int:
        """Number of frames of the window that exist; a video may be shorter than its file says."""

    def memory(self) -> Any:
        """What a later run needs to continue from here."""


class Space(Protocol):
    """A way to label videos.

    Attributes
    ----------
    name : `frames` or `regions`
    stage : name of the loop in the ledger: `networks` or `descriptors`
    sources : names of networks or descriptors, in the order of the source numbers of actions
    prior : (L,) share of each class in training
    prices : what work costs on this machine
    margins : safety margins of a budget
    threads : number of threads that work
    """

    name: str
    stage: str

    @property
    def sources(self) -> Sequence[str]:
        """Names of networks or descriptors."""

    @property
    def prior(self) -> Float32:
        """Share of each class in training."""

    @property
    def prices(self) -> Prices:
        """What work costs on this machine."""

    @property
    def margins(self) -> Margins:
        """Safety margins of a budget."""

    @property
    def threads(self) -> int:
        """Number of threads that work."""

    def for_run(self) -> Self:
        """The space for one run, with prices that follow the video at hand."""

    def plan(self, video: VideoSource, request: Request) -> Plan:
        """The best plan for a video, before anything is read."""

    def window_length(self, request: Request, plan: Plan) -> int:
        """Number of frames that are labelled in one window, at most."""

    def reader(self, video: VideoSource, plan: Plan) -> Reader:
        """A reader of the frames of a video that a plan uses."""

    def open(self, window: Window, video: VideoSource, request: Request, plan: Plan, account: Account) -> WindowState:
        """The state of a window before anything was read."""
