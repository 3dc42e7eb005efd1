"""Predict what labelling a video by supervoxels costs without any descriptor. Plans are chosen by these costs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.engine.request import Request
from budgetseg.engine.window import Reader
from budgetseg.spaces.regions.closing import STAGES
from budgetseg.spaces.regions.ladder import choose_plan
from budgetseg.supervoxels.segment import density_for
from budgetseg.video import VideoSource

if TYPE_CHECKING:
    from budgetseg.spaces.regions.space import Regions

__all__ = ["ALL_DESCRIPTORS", "CARRYING", "REDUCING", "FixedCosts", "expected_share"]

REDUCING = "reducing"
"""Name of the stage in which frames are reduced to the size that is labelled."""
CARRYING = "carrying"
"""Name of the stage in which labels are enlarged to full size and copied to the frames between."""
ALL_DESCRIPTORS = "all descriptors"
"""Name under which the price per pixel of all descriptors of a video is kept."""


@dataclass(frozen=True, eq=False)
class FixedCosts:
    """Predicts everything a plan costs except descriptors: decoding, supervoxels, CRF, painting.

    Attributes
    ----------
    space : labels the video
    video : to label
    full : the plan for a budget without bound
    end_s : when labels are due, in seconds of the clock; infinity for no bound
    """

    space: "Regions"
    video: VideoSource
    full: Plan
    end_s: float

    @classmethod
    def of(cls, space: "Regions", video: VideoSource, request: Request) -> "FixedCosts":
        """Costs of a request on a video."""
        n_frames = video.n_frames or max(1, round((video.duration_s or 10.0) * video.rate))
        density = request.density or density_for(video.width * video.height, 1 / video.rate)
        full = Plan(n_frames, (video.height, video.width), density=density)
        return cls(space, video, full, request.end_s)

    @property
    def in_time(self) -> Plan:
        """The full plan, with faster supervoxels if those of the model would take too much of the budget."""
        tiers = self.space.tiers
        most_s = self.space.settings.cutting_share * self.end_s
        fast = [tier for tier in tiers if self._cutting_s(tier) <= most_s]
        tier = fast[0] if fast else min(tiers, key=self._cutting_s)
        return self.full if tier == self.space.tier else replace(self.full, tier=tier)

    def first_plan(self, decoding: float = 1.0) -> Plan:
        """The plan before anything is read, if decoding costs `decoding` times its predicted price."""
        return self.choose(self.in_time, self.end_s, partial(self.seconds, decoding=decoding))

    def choose(
        self, plan: Plan, left_s: float, fixed_s: Callable[[Plan], float], longest_stride: int = STRIDES[-1]
    ) -> Plan:
        """The best plan for left_s seconds, from `plan` down the ladder of `choose_plan`."""
        return choose_plan(plan, left_s, fixed_s, self.space.settings, longest_stride)

    def seconds(self, plan: Plan, n_frames: int | None = None, decoding: float = 1.0) -> float:
        """Predicted seconds of a plan without descriptors.

        Parameters
        ----------
        plan : to price
        n_frames : number of its frames that are read; None for all
        decoding : factor on the predicted price of decoding; 0 if they are decoded already
        """
        if plan.prior:
            return 0.0
        n = plan.n_worked if n_frames is None else n_frames
        prices = self.space.prices
        read = plan.read_size or plan.size
        reducing_s = 0.0 if read == plan.size else prices.predict(REDUCING, float(n * read[0] * read[1]))
        cutting_s = prices.predict(*self.space.of_tier(plan.tier).cutting(n, plan.size))
        decode_s = decoding * self.space.reader(self.video, plan).predict_s(prices, n) if decoding else 0.0
        return reducing_s + cutting_s + self.after_cutting_s(plan, n) + decode_s

    def after_cutting_s(self, plan: Plan, n_frames: int) -> float:
        """Predicted seconds of all work on n_frames frames that comes after their supervoxels, without descriptors."""
        n = float(plan.supervoxels_in(n_frames))
        n_pixels = n_frames * plan.size[0] * plan.size[1]
        stages = [("preparation", float(n_pixels)), *((stage, n) for stage in STAGES), self.space.painting(n_pixels)]
        if self.is_carried(plan):
            stages.append((CARRYING, self.carry_work(plan, n_frames)))
        return sum(self.space.prices.predict(*stage) for stage in stages)

    def is_carried(self, plan: Plan) -> bool:
        """Whether labels must be enlarged, or copied to frames that were not read."""
        return plan.size != self.full.size or plan.stride != 1

    def carry_work(self, plan: Plan, n_frames: int) -> float:
        """Number of pixels that the labels of n_frames frames are enlarged and copied to."""
        return float(n_frames * plan.stride * self.full.size[0] * self.full.size[1])

    def _cutting_s(self, tier: str) -> float:
        """Predicted seconds of the supervoxels of a tier for the whole video."""
        return self.space.prices.predict(*self.space.of_tier(tier).cutting(self.full.n_worked, self.full.size))


def expected_share(space: "Regions", video: VideoSource, request: Request) -> float | None:
    """The share of the full cost that the last budget leaves for descriptors; None if no price is known yet."""
    budget = request.budgets[-1]
    costs = FixedCosts.of(space, video, request)
    full_s = space.prices.usual(ALL_DESCRIPTORS, costs.full.n_pixels)
    if budget.is_share and request.scope == "descriptors":
        return budget.amount
    if full_s == 0:
        return None
    fixed_s = costs.seconds(costs.in_time) if request.scope == "total" else 0.0
    share = max(budget.in_s(fixed_s + full_s) - fixed_s, 0.0) / full_s
    return share if share < np.inf else 1.0


def reader_of(video: VideoSource, plan: Plan, threads: int) -> Reader:
    """A reader of the frames that a plan uses, at the size at which they are read."""
    height, width = plan.read_size or plan.size
    span = replace(video.span, stride=video.span.stride * plan.stride)
    return Reader(replace(video, size=(width, height), span=span), threads, plan.stride)
