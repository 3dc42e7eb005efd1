"""What labelling a window by frames costs, predicted from prices: flow, networks, fusing, painting."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from budgetseg.propagate.settings import Propagation
from budgetseg.timing.ledger import Account
from budgetseg.timing.prices import Prices

__all__ = ["COPY", "FLOW", "PER_CLASS", "FrameCosts"]

FLOW = "flow"
"""Predictions are carried along optical flow, and fused."""
COPY = "copy"
"""Labels are those of the nearest key frame, as they are."""

PER_CLASS = ("fusing", "pixels", "edges")
"""Kinds of work that take the longer the more classes there are."""


@dataclass(frozen=True, eq=False)
class FrameCosts:
    """Predicted seconds of each kind of work in a window.

    Prices are seconds of one thread, so that they are the same however many threads share the work.

    Attributes
    ----------
    prices : what work costs on this machine
    n_pixels : of a frame of the video
    n_cells : of a network's output
    threads : that share the work
    flow_pixels : of the reduced frame that flow is found on, at most
    keys : by network or kind of work, what its price goes by; its name where it is left out
    """

    prices: Prices
    n_pixels: int
    n_cells: int
    threads: int
    flow_pixels: int = Propagation.flow_pixels
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def flow_work(self) -> float:
        """Work of the flow between two frames: pixels of the reduced frame, each side halved until they are few."""
        n_pixels = float(self.n_pixels)
        while n_pixels > self.flow_pixels:
            n_pixels /= 4
        return n_pixels

    def key(self, work: str) -> str:
        """What a kind of work is priced by."""
        return f"frames {self.keys.get(work, work)}"

    def look_s(self, n_frames: int) -> float:
        """To compare so many frames with those before them."""
        return self._shared_s("looking", n_frames * self.n_pixels)

    def flow_s(self, n_pairs: int) -> float:
        """To find the flow between so many pairs of frames."""
        return self._shared_s("flow", n_pairs * self.flow_work)

    def fuse_s(self, n_sources: float) -> float:
        """To carry and fuse so many key frames, counted once for each frame that they are fused into."""
        return self._shared_s("fusing", n_sources * self.n_cells)

    def paint_s(self, n_frames: float) -> float:
        """To paint so many frames."""
        return self._shared_s("pixels", n_frames * self.n_pixels)

    def edges_s(self, n_frames: float) -> float:
        """To let the labels of so many frames follow edges, on top of painting them."""
        return self._shared_s("edges", n_frames * self.n_pixels)

    def copy_s(self, n_frames: float) -> float:
        """To copy the labels of so many frames."""
        return self._shared_s("copies", n_frames * self.n_pixels)

    def network_s(self, network: str) -> float:
        """For one thread to run a network on a frame, while the others do so too."""
        return self.prices.predict(self.key(network), 1.0)

    def finish_s(self, n_frames: int, n_keys: float, n_sources: float, carry: str, n_edged: float) -> float:
        """From the last prediction to labels of all frames, `n_edged` along edges; `n_sources` as of `fuse_s`."""
        n_painted = n_keys if carry == COPY else n_frames
        seconds = self.paint_s(n_painted) + self.edges_s(min(n_edged, n_painted)) + self.copy_s(n_frames - n_painted)
        return seconds + (0.0 if carry == COPY else self.fuse_s(n_sources))

    def book(self, account: Account, stage: str, work: float, spent_s: float) -> None:
        """Write down a stage that all threads together did in so many seconds, and learn its price."""
        account.ledger.book_stage(stage, self._shared_s(stage, work), spent_s)
        account.prices.look()
        account.prices.observe_stage(self.key(stage), work, spent_s * self.threads)

    def learn(self, account: Account, stage: str, work: float, computed_s: float) -> None:
        """Learn the price of a stage from a thread that computed for so long, without waiting for a core."""
        account.prices.observe_stage(self.key(stage), work, computed_s * account.prices.slowdown.factor)

    def _shared_s(self, work: str, amount: float) -> float:
        """Seconds of work that all threads share."""
        return self.prices.predict(self.key(work), amount) / self.threads
