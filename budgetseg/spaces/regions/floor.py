"""What labelling a video costs without any descriptor, by which budgets are planned."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from budgetseg.engine.request import Request
from budgetseg.spaces.regions.closing import STAGES
from budgetseg.engine.plan import LONGEST_STRIDE, Plan, choose_plan
from budgetseg.spaces.regions.space import Engine
from budgetseg.spaces.regions.window import DESCRIPTORS
from budgetseg.supervoxels.segment import density_for
from budgetseg.timing.prices import Prices
from budgetseg.video import VideoSource

__all__ = ["REDUCING", "Floor", "foretell_share"]

REDUCING = "reducing"  # frames as they were read to those that are worked on
IMAGE_S, FILM_S = 1.5e-8, 3e-9  # to decode a pixel of images, and of other files, where it was never done here
CUTTING = 0.2  # of the budget; where the supervoxels of a model take more, faster ones leave more for descriptors


@dataclass(frozen=True, eq=False)
class Floor:
    """Foretells it for any plan.

    Attributes
    ----------
    engine : labels the video
    source : the video
    full : plan that does without nothing
    end_s : when labels must be there, seconds after the clock started; infinity for no bound
    """

    engine: Engine
    source: VideoSource
    full: Plan
    end_s: float

    @classmethod
    def of(cls, engine: Engine, source: VideoSource, request: Request) -> "Floor":
        """For what is wanted of a video."""
        n_frames = source.n_frames or max(1, round((source.duration_s or 10.0) * source.rate))
        density = request.density or density_for(source.width * source.height, 1 / source.rate)
        is_bounded = request.scope == "total" and not request.budgets[0].is_share
        end_s = request.budgets[-1].amount if is_bounded else np.inf
        return cls(engine, source, Plan(n_frames, (source.height, source.width), density), end_s)

    @property
    def in_time(self) -> Plan:
        """The full plan; with faster supervoxels, where those of the model would take much of the budget."""
        tiers = self.engine.tiers
        fast = [tier for tier in tiers if self._cutting_s(tier) <= CUTTING * self.end_s]
        return self._with(fast[0] if fast else min(tiers, key=self._cutting_s))

    def begin(self, decoding: float = 1.0) -> Plan:
        """The plan before anything is read, if decoding costs so many times what is known of it."""
        return self.choose(self.in_time, self.end_s, partial(self.seconds, decoding=decoding))

    def _with(self, tier: str) -> Plan:
        """The full plan with supervoxels of a tier."""
        return self.full if tier == self.engine.tier else replace(self.full, tier=tier)

    def _cutting_s(self, tier: str) -> float:
        """What supervoxels of a tier cost."""
        return self._prices.predict(*self.engine.of_tier(tier).cutting(self.full.n_worked, self.full.size))

    def choose(
        self, plan: Plan, left_s: float, floor_s: Callable[[Plan], float], longest_stride: int = LONGEST_STRIDE
    ) -> Plan:
        """What to do of a plan in so many seconds."""
        return choose_plan(plan, left_s, floor_s, longest_stride)

    def seconds(self, plan: Plan, n_frames: int | None = None, decoding: float = 1.0) -> float:
        """What so many of the frames of a plan, or all, cost, if decoding costs so many times what is known of it."""
        if plan.prior:
            return 0.0
        n = plan.n_worked if n_frames is None else n_frames
        cutting_s = self._prices.predict(*self.engine.of_tier(plan.tier).cutting(n, plan.size))
        read = plan.read_size or plan.size
        reducing_s = 0.0 if read == plan.size else self._prices.predict(REDUCING, float(n * read[0] * read[1]))
        seconds = reducing_s + cutting_s + self.after_cutting_s(plan, n)
        work = self.decode_work(n, plan.stride)
        return seconds + decoding * decoding_s(self._prices, self.decode_line, work, self.source.can_skip)

    def after_cutting_s(self, plan: Plan, n_frames: int) -> float:
        """What remains to be done with so many frames when they have supervoxels."""
        n, n_pixels = float(plan.supervoxels_in(n_frames)), n_frames * plan.size[0] * plan.size[1]
        stages = [("preparation", float(n_pixels)), *((stage, n) for stage in STAGES), self.engine.painting(n_pixels)]
        if self.is_carried(plan):
            stages.append(("carrying", self.carry_work(plan, n_frames)))
        return sum(self._prices.predict(*stage) for stage in stages)

    def is_carried(self, plan: Plan) -> bool:
        """Whether labels of what is worked on are not yet those of the video."""
        return plan.size != self.full.size or plan.stride != 1

    def carry_work(self, plan: Plan, n_frames: int) -> float:
        """Of carrying the labels of so many frames to all, at their size."""
        return float(n_frames * plan.stride * self.full.size[0] * self.full.size[1])

    def frame_s(self, stride: int) -> float:
        """To decode one frame."""
        return decoding_s(self._prices, self.decode_line, self.decode_work(1, stride), self.source.can_skip)

    @property
    def decode_line(self) -> str:
        """What the costs of decoding are known by."""
        return f"decode {self.source.clip.path.suffix}"

    def decode_work(self, n_frames: int, stride: int) -> float:
        """Pixels of the file: smaller frames are decoded in full first, and so are those between, if they must be."""
        width, height = self.source.clip.size
        return float(n_frames * (1 if self.source.can_skip else stride) * width * height)

    @property
    def _prices(self) -> Prices:
        return self.engine.prices


def decoding_s(prices: Prices, line: str, n_pixels: float, are_images: bool) -> float:
    """Seconds to decode so many pixels; a guess for a kind of file that was never decoded here."""
    if line in prices:
        return prices.predict(line, n_pixels)
    return (IMAGE_S if are_images else FILM_S) * n_pixels


def foretell_share(engine: Engine, source: VideoSource, request: Request) -> float | None:
    """What share of all descriptors that count the last budget will pay for; None where nothing was ever labelled."""
    budget, floor = request.budgets[-1], Floor.of(engine, source, request)
    full_s = engine.prices.usual(DESCRIPTORS, floor.full.n_pixels)
    if budget.is_share and request.scope == "descriptors":
        return budget.amount
    if full_s == 0:
        return None
    floor_s = floor.seconds(floor.in_time) if request.scope == "total" else 0.0
    return max(budget.in_s(floor_s + full_s) - floor_s, 0.0) / full_s
