"""What labelling a video by supervoxels costs without any descriptor: what plans are made by."""

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
"""Stage: frames as they were read become those that are worked on."""
CARRYING = "carrying"
"""Stage: labels of frames that were worked on become those of all frames, at full size."""
ALL_DESCRIPTORS = "all descriptors"
"""What the cost of every descriptor of a video is priced by, a pixel."""


@dataclass(frozen=True, eq=False)
class FixedCosts:
    """Predicts everything a plan costs except descriptors: decode, segment, CRF, paint.

    Attributes
    ----------
    space : labels the video
    video : that is labelled
    full : plan that does without nothing
    end_s : when labels must be there, in seconds of the clock; infinity for no bound
    """

    space: "Regions"
    video: VideoSource
    full: Plan
    end_s: float

    @classmethod
    def of(cls, space: "Regions", video: VideoSource, request: Request) -> "FixedCosts":
        """For what is wanted of a video."""
        n_frames = video.n_frames or max(1, round((video.duration_s or 10.0) * video.rate))
        density = request.density or density_for(video.width * video.height, 1 / video.rate)
        full = Plan(n_frames, (video.height, video.width), density=density)
        return cls(space, video, full, request.end_s)

    @property
    def in_time(self) -> Plan:
        """The full plan; with faster supervoxels, where those of the model would take much of the budget."""
        tiers, most_s = self.space.tiers, self.space.settings.cutting_share * self.end_s
        fast = [tier for tier in tiers if self._cutting_s(tier) <= most_s]
        tier = fast[0] if fast else min(tiers, key=self._cutting_s)
        return self.full if tier == self.space.tier else replace(self.full, tier=tier)

    def first_plan(self, decoding: float = 1.0) -> Plan:
        """The plan before anything is read, if decoding costs so many times what is known of it."""
        return self.choose(self.in_time, self.end_s, partial(self.seconds, decoding=decoding))

    def choose(
        self, plan: Plan, left_s: float, fixed_s: Callable[[Plan], float], longest_stride: int = STRIDES[-1]
    ) -> Plan:
        """What to do of a plan in so many seconds."""
        return choose_plan(plan, left_s, fixed_s, self.space.settings, longest_stride)

    def seconds(self, plan: Plan, n_frames: int | None = None, decoding: float = 1.0) -> float:
        """What so many of the frames of a plan, or all, cost, if decoding costs so many times what is known of it."""
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
        """What remains to be done with so many frames when they have supervoxels."""
        n, n_pixels = float(plan.supervoxels_in(n_frames)), n_frames * plan.size[0] * plan.size[1]
        stages = [("preparation", float(n_pixels)), *((stage, n) for stage in STAGES), self.space.painting(n_pixels)]
        if self.is_carried(plan):
            stages.append((CARRYING, self.carry_work(plan, n_frames)))
        return sum(self.space.prices.predict(*stage) for stage in stages)

    def is_carried(self, plan: Plan) -> bool:
        """Whether labels of what is worked on are not yet those of the video."""
        return plan.size != self.full.size or plan.stride != 1

    def carry_work(self, plan: Plan, n_frames: int) -> float:
        """Pixels, of carrying the labels of so many frames to all, at their size."""
        return float(n_frames * plan.stride * self.full.size[0] * self.full.size[1])

    def _cutting_s(self, tier: str) -> float:
        """What supervoxels of a tier cost."""
        return self.space.prices.predict(*self.space.of_tier(tier).cutting(self.full.n_worked, self.full.size))


def expected_share(space: "Regions", video: VideoSource, request: Request) -> float | None:
    """What share of all descriptors that count the last budget will pay for; None where nothing was ever labelled."""
    budget, costs = request.budgets[-1], FixedCosts.of(space, video, request)
    full_s = space.prices.usual(ALL_DESCRIPTORS, costs.full.n_pixels)
    if budget.is_share and request.scope == "descriptors":
        return budget.amount
    if full_s == 0:
        return None
    fixed_s = costs.seconds(costs.in_time) if request.scope == "total" else 0.0
    share = max(budget.in_s(fixed_s + full_s) - fixed_s, 0.0) / full_s
    return share if share < np.inf else 1.0


def reader_of(video: VideoSource, plan: Plan, threads: int) -> Reader:
    """Gives the frames that a plan works on, at the size at which they are read."""
    height, width = plan.read_size or plan.size
    span = replace(video.span, stride=video.span.stride * plan.stride)
    return Reader(replace(video, size=(width, height), span=span), threads, plan.stride)
