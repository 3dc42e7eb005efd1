"""The regions space: a place is a supervoxel, a source is a descriptor. Here is all that does not depend on a video."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.crf.potentials import Crf
from budgetseg.descriptors.core import Descriptor
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.window import Reader, Window
from budgetseg.policy.episode import Chooser, Selection
from budgetseg.spaces.regions.costs import FixedCosts, reader_of
from budgetseg.spaces.regions.paint import painters
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.spaces.regions.state import RegionState
from budgetseg.supervoxels.tiers import FAST, tier_named
from budgetseg.timing.ledger import Account
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32
from budgetseg.video import VideoSource

__all__ = ["Regions", "Strategy"]


class Strategy(Protocol):
    """Chooses the policy of a run, and the order in which supervoxels are considered."""

    def __call__(self, share: float) -> tuple[Chooser, Selection]:
        """Policy and selection for a run that may spend `share` of the full cost."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Labels videos by supervoxels.

    Attributes
    ----------
    classifiers : H
    crf : the energies
    descriptors : in the order of H
    prices : what work costs on this machine
    strategy : chooses the policy, and the order of supervoxels
    tier : of the supervoxels
    threads : cores to use
    guarded : names of plug-in descriptors, which may fail or never return
    counted : descriptors that make up the full cost, as bits; -1 for all
    margins : safety margins of a budget
    settings : how a video is labelled
    """

    classifiers: SubsetClassifiers
    crf: Crf
    descriptors: Sequence[Descriptor]
    prices: Prices
    strategy: Strategy
    tier: str = FAST
    threads: int = 1
    guarded: Sequence[str] = ()
    counted: int = -1
    margins: Margins = field(default_factory=Margins)
    settings: RegionSettings = field(default_factory=RegionSettings)

    name = "regions"
    stage = "descriptors"

    @property
    def sources(self) -> Sequence[str]:
        """Names of the descriptors."""
        return self.classifiers.names

    @property
    def prior(self) -> Float32:
        """Share of each class in training, (L,)."""
        return self.classifiers.prior.astype(np.float32)

    @property
    def tiers(self) -> tuple[str, ...]:
        """Tiers of the supervoxels that it may use, depending on the budget; the best first."""
        return tuple(dict.fromkeys((self.tier, FAST)))

    def of_tier(self, name: str | None) -> "Regions":
        """The space with supervoxels of another tier; None for its own tier."""
        return self if name is None or name == self.tier else replace(self, tier=name)

    def cutting(self, n_frames: int, size: tuple[int, int]) -> tuple[str, float]:
        """Price key and work of the supervoxels of n_frames frames; work is counted in blocks of pixels of the tier."""
        height, width = size
        side = tier_named(self.tier).reduce(height * width)
        return f"supervoxels {self.tier} {self.threads}", float(n_frames * -(-height // side) * -(-width // side))

    def painting(self, n_pixels: int) -> tuple[str, float]:
        """Price key of painting, and the pixels of each thread."""
        return "pixels", n_pixels / painters(n_pixels, self.threads, self.settings.pixels_per_thread)

    def for_run(self) -> "Regions":
        """The space for one run, with prices that follow the video at hand."""
        return replace(self, prices=self.prices.for_run())

    def plan(self, video: VideoSource, request: Request) -> Plan:
        """The best plan for a video, before anything is read."""
        costs = FixedCosts.of(self, video, request)
        if costs.end_s == np.inf:
            return costs.full
        plan = costs.first_plan()
        # If nothing were read, the price of reading would never be corrected.
        return costs.first_plan(1 / self.margins.decode_doubt) if plan.prior else plan

    def window_length(self, request: Request, plan: Plan) -> int:
        """Number of frames that are labelled in one window, at most."""
        height, width = plan.read_size or plan.size
        most = self.settings.window_pixels // (height * width)
        return request.window or max(self.settings.shortest_window, most)

    def reader(self, video: VideoSource, plan: Plan) -> Reader:
        """A reader of the frames that a plan uses."""
        return reader_of(video, plan, self.threads)

    def open(self, window: Window, video: VideoSource, request: Request, plan: Plan, account: Account) -> RegionState:
        """The state of a window before anything was read."""
        return RegionState(self, window, FixedCosts.of(self, video, request), plan, account, request.seed)
