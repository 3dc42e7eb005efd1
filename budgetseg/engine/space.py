"""The contract that a space fills: what the engine must know of it to run it.

A *space* says what a place is and which sources can be asked about it. Its *state* is what is known of one window of a
video. The engine shares out time, decides when to stop, and keeps the accounts; it knows nothing else.
"""

from collections.abc import Sequence
from typing import Any, Protocol

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
    """What the labels of a window were made from, at one budget: for confidence, pages and pictures."""

    def confidence(self, size: tuple[int, int]) -> Float32:
        """The probability of the label at every pixel, (T, H, W), of frames of a size (H, W)."""


class WindowState(Protocol):
    """What is known of one window; it only grows.

    Attributes
    ----------
    plan : what is done in this window, and in those after it
    """

    plan: Plan

    def glance(self, end_s: float) -> Batch:
        """An action about one place that can be done by `end_s` before anything is read; empty where there is none."""

    @property
    def is_known(self) -> bool:
        """Whether labels can be made that show what is in the window."""

    def prepare(self, end_s: float, last_s: float) -> bool:
        """Read, and make ready for actions, with labels due at `end_s`; False where there is no time for any label.

        It is called once for each budget; `last_s` is the end at the largest of them.
        """

    def prepare_again(self, earlier: WindowTrace, n_read: int, memory: Any = None) -> None:
        """Make ready as another run did, however long it takes; `memory` is what that run has kept, if anything."""

    def choose(self, left_s: float) -> Batch:
        """The next actions, where so many seconds are left for them; empty to stop."""

    def do(self, batch: Batch) -> Outcome:
        """Do actions; several threads may be in here."""

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Take in what came of actions."""

    def cuttable(self) -> Sequence[Cuttable]:
        """What can be told to stop when time is up."""

    def full_s(self, scope: str) -> float:
        """Predicted seconds of every action that there is; with reading and the end, where the scope is `total`."""

    def finish_s(self) -> float:
        """Predicted seconds from the last action to labels ready."""

    def finish(self, end_s: float, out: UInt8, like: Finish | None = None) -> tuple[Finish, Evidence | None]:
        """Write labels to `out` (T, H, W) by `end_s`, or as it was done before."""

    def next_s(self) -> float:
        """Predicted seconds of the cheapest action that was not done; 0 where all was done."""

    def trace(self) -> tuple[Sequence[int], tuple[int, int], int]:
        """Frames read, size worked on and number of places, as of `WindowTrace`."""

    @property
    def n_frames(self) -> int:
        """Frames of the window that there are; a video may end before it said so."""

    def memory(self) -> Any:
        """What a later run can go on from."""


class Space(Protocol):
    """A way to label videos.

    Attributes
    ----------
    name : `frames` or `regions`
    stage : what the ledger calls the loop: `networks` or `descriptors`
    sources : names of networks or descriptors, in the order of the actions' numbers
    prior : (L,) share of each class in training
    prices : what work costs on this machine
    margins : what is kept back
    threads : that work
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
        """What is kept back."""

    @property
    def threads(self) -> int:
        """Threads that work."""

    def plan(self, video: VideoSource, request: Request) -> Plan:
        """The best plan for a video, before anything is read."""

    def window_length(self, request: Request, plan: Plan) -> int:
        """Frames that are worked on in one window, at most."""

    def reader(self, video: VideoSource, plan: Plan) -> Reader:
        """Gives the frames of a video that a plan works on."""

    def open(self, window: Window, video: VideoSource, request: Request, plan: Plan, account: Account) -> WindowState:
        """The state of a window, before anything is known of it."""
