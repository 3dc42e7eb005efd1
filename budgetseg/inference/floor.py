"""What labelling a video costs without any descriptor, by which budgets are planned."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from budgetseg.inference.closing import STAGES
from budgetseg.inference.engine import Engine
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.plan import FLOOR_SHARE, LONGEST_STRIDE, REFINED_SHARE, Plan, choose_plan
from budgetseg.inference.prospect import Prospect
from budgetseg.inference.request import Request
from budgetseg.inference.window import DESCRIPTORS
from budgetseg.supervoxels.blocks import BLOCKS
from budgetseg.supervoxels.segment import density_for
from budgetseg.video import VideoSource

__all__ = ["FLOOR_SHARE", "REDUCING", "REFINED_SHARE", "Floor", "foretell_share"]

REDUCING = "reducing"  # frames as they were read to those that are worked on
CUTTING = 0.2  # of the budget; where the supervoxels of a model take more, faster ones leave more for descriptors
STRANGERS = 3.0  # frames of usual video; where as much lies between frames, none is left out for a network's sake
FEWER = 4  # times fewer blocks: pixels get their labels from networks, and each block takes time that these need
MOST_BLOCKS = 9.0  # a frame, as in film: frames a second apart have more supervoxels, since these live in one alone


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
        """The plan before anything is read, if decoding costs so many times what is known of it.

        Blocks are for labels that are refined: where there is no time for that, supervoxels say more, if there is time
        for more than these.
        """
        floor_s = partial(self.seconds, decoding=decoding)
        plan = self.choose(self.in_time, self.end_s, floor_s)
        if plan.has_blocks and self._worth(plan, self.end_s - floor_s(plan), plan.n_frames) == -np.inf:
            other = self.choose(self._with(self.engine.tiers[-2]), self.end_s, floor_s)
            plan = other if floor_s(other) <= FLOOR_SHARE * self.end_s else plan
        return self.with_pictures(plan)

    def _with(self, tier: str) -> Plan:
        """The full plan with supervoxels of a tier."""
        density = min(self.full.density / FEWER, MOST_BLOCKS) if tier == BLOCKS else self.full.density
        return self.full if tier == self.engine.tier else replace(self.full, tier=tier, density=density)

    def _cutting_s(self, tier: str) -> float:
        """What supervoxels of a tier cost."""
        return self._books.foretold_s(*self.engine.of_tier(tier).cutting(self.full.n_worked, self.full.size))

    def choose(
        self,
        plan: Plan,
        left_s: float,
        floor_s: Callable[[Plan], float],
        n_frames: int | None = None,
        longest_stride: int = LONGEST_STRIDE,
    ) -> Plan:
        """What to do of a plan, for so many frames of the video or all, in so many seconds.

        Where labels can be refined, what promises most then: fewer frames leave more time for networks.
        """
        if self.engine.refiner is None:
            return choose_plan(plan, left_s, floor_s, longest_stride, FLOOR_SHARE)
        n = plan.n_frames if n_frames is None else n_frames

        def worth(one: Plan, own_s: float) -> float:
            return self._worth(one, left_s - own_s, n)

        share = REFINED_SHARE if self.apart < STRANGERS else FLOOR_SHARE
        return choose_plan(plan, left_s, floor_s, longest_stride, share, worth)

    def _worth(self, plan: Plan, left_s: float, n_frames: int) -> float:
        """What labels of so many frames by a plan are worth where so many seconds are left for descriptors."""
        n_worked = -(-n_frames // plan.stride)
        prospect = Prospect(self.engine, self._books, n_frames, n_worked, self.full.size, self.apart)
        best = None if plan.colour_only else prospect.best(left_s)
        return -np.inf if best is None else best.worth

    @cached_property
    def apart(self) -> float:
        """How far frames lie from each other, by their rate, in frames of usual video."""
        return 1.0 if self.engine.refiner is None else self.engine.refiner.foretell_apart(self.source.rate)

    def seconds(self, plan: Plan, n_frames: int | None = None, decoding: float = 1.0) -> float:
        """What so many of the frames of a plan, or all, cost, if decoding costs so many times what is known of it."""
        if plan.prior:
            return 0.0
        n = plan.n_worked if n_frames is None else n_frames
        cutting_s = self._books.foretold_s(*self.engine.of_tier(plan.tier).cutting(n, plan.size))
        read = self.with_pictures(plan).read_size or plan.size
        reducing_s = 0.0 if read == plan.size else self._books.foretold_s(REDUCING, float(n * read[0] * read[1]))
        seconds = reducing_s + cutting_s + self.after_cutting_s(plan, n)
        work = self.decode_work(n, plan.stride)
        return seconds + decoding * self._books.decoding_s(self.decode_line, work, self.source.can_skip)

    def after_cutting_s(self, plan: Plan, n_frames: int) -> float:
        """What remains to be done with so many frames when they have supervoxels."""
        n, n_pixels = float(plan.supervoxels_in(n_frames)), n_frames * plan.size[0] * plan.size[1]
        stages = [("preparation", float(n_pixels)), *((stage, n) for stage in STAGES), self.engine.painting(n_pixels)]
        if self.is_carried(plan):
            stages.append(("carrying", self.carry_work(plan, n_frames)))
        return sum(self._books.foretold_s(*stage) for stage in stages)

    def with_pictures(self, plan: Plan) -> Plan:
        """A plan that reads frames as large as networks can make use of, where it works on smaller ones."""
        size = self.engine.picture_size(self.full.size)
        is_smaller = size is not None and plan.size < size and not plan.prior
        return replace(plan, read_size=size) if is_smaller and plan.read_size is None else plan

    def is_carried(self, plan: Plan) -> bool:
        """Whether labels of what is worked on are not yet those of the video."""
        return plan.size != self.full.size or plan.stride != 1

    def carry_work(self, plan: Plan, n_frames: int) -> float:
        """Of carrying the labels of so many frames to all, at their size."""
        return float(n_frames * plan.stride * self.full.size[0] * self.full.size[1])

    @property
    def decode_line(self) -> str:
        """What the costs of decoding are known by."""
        return f"decode {self.source.clip.path.suffix}"

    def decode_work(self, n_frames: int, stride: int) -> float:
        """Pixels of the file: smaller frames are decoded in full first, and so are those between, if they must be."""
        width, height = self.source.clip.size
        return float(n_frames * (1 if self.source.can_skip else stride) * width * height)

    @property
    def _books(self) -> Books:
        return Books(Ledger(None), self.engine.stages)


def foretell_share(engine: Engine, source: VideoSource, request: Request) -> float | None:
    """What share of all descriptors that count the last budget will pay for; None where nothing was ever labelled."""
    budget, floor = request.budgets[-1], Floor.of(engine, source, request)
    full_s = engine.stages.predict(DESCRIPTORS, floor.full.n_pixels)
    if budget.is_share and request.scope == "descriptors":
        return budget.amount
    if full_s == 0:
        return None
    floor_s = floor.seconds(floor.in_time) if request.scope == "total" else 0.0
    return max(budget.in_s(floor_s + full_s) - floor_s, 0.0) / full_s
