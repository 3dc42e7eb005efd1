"""The frames space: a place is a frame, a source is a network. All that does not depend on one video."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.window import Reader, Window
from budgetseg.errors import UsageError
from budgetseg.spaces.frames.costs import FrameCosts
from budgetseg.spaces.frames.settings import FrameSettings, Losses
from budgetseg.spaces.frames.state import FrameState
from budgetseg.spaces.frames.worth import Worth
from budgetseg.timing.ledger import Account
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource

__all__ = ["Frames", "Network"]


class Network(Protocol):
    """From a frame to probabilities."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the output, (h, w, L)."""

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3)."""

    def cut_off(self) -> None:
        """Let every call that is under way, in other threads, end with LateError."""


@dataclass(frozen=True, eq=False)
class Frames:
    """What labels videos frame by frame.

    Attributes
    ----------
    networks : by name, from the cheapest to the dearest; all give as many rows and columns
    class_shares : (L,) share of each class in the training pixels
    prices : what everything costs on this machine
    threads : cores to use
    margins : what is kept back of a budget
    settings : how a video is worked on
    keys : by network or kind of work, what its price goes by; its name where it is left out
    worth : what networks and carrying are worth on the video at hand
    """

    networks: Mapping[str, Network]
    class_shares: Float32
    prices: Prices
    threads: int = 1
    margins: Margins = field(default_factory=lambda: Margins(finish=1.1, action=1.1, share=0.004, seconds=0.001))
    settings: FrameSettings = field(default_factory=FrameSettings)
    keys: Mapping[str, str] = field(default_factory=dict)
    worth: Worth = field(default_factory=lambda: Worth(Losses()))

    name = "frames"
    stage = "networks"

    @cached_property
    def sources(self) -> Sequence[str]:
        """Names of the networks."""
        return tuple(self.networks)

    @property
    def prior(self) -> Float32:
        """Share of each class in training, (L,)."""
        return self.class_shares

    @cached_property
    def networks_in_order(self) -> Sequence[Network]:
        """The networks, in the order of the actions' numbers."""
        return list(self.networks.values())

    @cached_property
    def cells(self) -> tuple[int, int]:
        """Rows and columns of what networks give."""
        return self.networks_in_order[0].shape[:2]

    @cached_property
    def class_weights(self) -> Float32:
        """(L,), what each class counts, 1 for the rarest."""
        weights = np.maximum(self.class_shares, 1e-3) ** -self.settings.balance
        return np.asarray(weights / weights.max(), np.float32)

    def costs(self, n_pixels: int, threads: int | None = None) -> FrameCosts:
        """Predicts what frames of so many pixels cost, by so many threads; None for its own."""
        n_cells, flow_pixels = self.cells[0] * self.cells[1], self.settings.propagation.flow_pixels
        return FrameCosts(self.prices, n_pixels, n_cells, threads or self.threads, flow_pixels, self.keys)

    def predict(self, network: int, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3), times what classes count; ArithmeticError where it has none."""
        found = self.networks_in_order[network](frame) * self.class_weights
        if not np.isfinite(found.sum()):
            raise ArithmeticError("it gives NaN or infinity")
        return np.ascontiguousarray(found, np.float32)

    def in_order(self, names: Sequence[str] = ()) -> "Frames":
        """The space with its networks in the order of `names`, or else from the cheapest to the dearest."""
        costs = self.costs(1)
        names = names or sorted(self.networks, key=costs.network_s)
        if set(names) != set(self.networks):
            raise UsageError(f"the networks are {', '.join(self.networks)}, not {', '.join(names)}; give those")
        return replace(self, networks={name: self.networks[name] for name in names})

    def for_run(self) -> "Frames":
        """The space for one run, with prices and worth that follow the video at hand."""
        return replace(self, prices=self.prices.for_run(), worth=Worth(self.settings.losses))

    def plan(self, video: VideoSource, request: Request) -> Plan:
        """All frames at full size; each window plans what to read when it is opened."""
        if request.scope != "total":
            raise UsageError(f"scope '{request.scope}' needs regions; use --space regions")
        return Plan(video.n_frames or video.count(), (video.height, video.width))

    def window_length(self, request: Request, plan: Plan) -> int:
        """Frames of one window, at most."""
        height, width, n_labels = self.networks_in_order[0].shape
        cells = height * width
        each = 3 * plan.size[0] * plan.size[1] + 4 * cells * (n_labels * len(self.networks) + 2 * 8)
        most = self.settings.window_bytes // each
        length = request.window or max(self.settings.shortest_window, most)
        return max(1, length // plan.stride)  # of an earlier run's plan: any other frame may be read now

    def reader(self, video: VideoSource, plan: Plan) -> Reader:  # noqa: ARG002 - any of its frames may be read
        """Gives the frames of a video."""
        return Reader(video, self.threads)

    def open(self, window: Window, video: VideoSource, request: Request, plan: Plan, account: Account) -> FrameState:
        """The state of a window, before anything is known of it."""
        whole = Plan(plan.n_frames, plan.size)
        return FrameState(self, window, video.rate, whole, account, request.explain)
