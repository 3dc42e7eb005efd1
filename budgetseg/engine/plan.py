"""What to do without when the budget is short, in a stated order.

    fewer supervoxels ─► smaller frames ─► fewer frames, their labels carried over ─► colour alone ─► the prior

The floor is what labelling costs with no descriptor at all: decoding, supervoxels, closing, pixels. A budget is short
where that would take more than half of it: descriptors of a few large supervoxels tell more than many without any.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

__all__ = ["LADDER", "Plan", "cheapest", "choose_plan", "smaller"]

LADDER = ("fewer supervoxels", "smaller frames", "fewer frames", "colour alone", "prior")
LEAST_DENSITY = 16  # supervoxels a frame; fewer cost no less time, and say less than smaller frames do
SMALLEST_SIDE = 64  # pixels
STRIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
LONGEST_STRIDE = STRIDES[-1]
FLOOR_SHARE = 0.5  # of the budget; the rest is for descriptors


@dataclass(frozen=True)
class Plan:
    """How a video is labelled.

    Attributes
    ----------
    n_frames : about how many the video has
    size : height and width of the frames that are worked on
    density : supervoxels a frame
    stride : every so many frames are worked on, the others take the labels of the nearest
    colour_only : no other descriptor is considered
    prior : nothing is computed at all
    read_size : height and width at which frames are read, where that is larger: only then it showed that they had to
        be smaller; windows before that are of larger frames
    tier : of the supervoxels; None for that of the model
    """

    n_frames: int
    size: tuple[int, int]
    density: float
    stride: int = 1
    colour_only: bool = False
    prior: bool = False
    read_size: tuple[int, int] | None = None
    tier: str | None = None

    @property
    def n_worked(self) -> int:
        """Frames that are worked on."""
        return -(-self.n_frames // self.stride)

    @property
    def n_pixels(self) -> float:
        """Pixels that are worked on."""
        return float(self.n_worked * self.size[0] * self.size[1])

    @property
    def n_supervoxels(self) -> int:
        """In all."""
        return self.supervoxels_in(self.n_worked)

    def supervoxels_in(self, n_frames: int) -> int:
        """In so many of the frames that are worked on, at least one."""
        return max(1, round(self.density * n_frames))

    def lacks(self, full: "Plan") -> list[str]:
        """What it does without, by the names in `LADDER`."""
        if self.prior:
            return ["prior"]
        given_up = (
            self.density < full.density,
            self.size != full.size,
            self.stride != full.stride,
            self.colour_only,
        )
        return [name for name, is_so in zip(LADDER, given_up, strict=False) if is_so]


def choose_plan(
    full: Plan, budget_s: float, floor_s: Callable[[Plan], float], longest_stride: int = LONGEST_STRIDE
) -> Plan:
    """The first plan of the ladder whose floor is `FLOOR_SHARE` of the budget at most.

    Where no floor is, the last; the prior where that does not fit at all.
    """
    floors = [(plan, floor_s(plan)) for plan in _ladder(full, longest_stride)]
    fitting = [plan for plan, own_s in floors if own_s <= FLOOR_SHARE * budget_s]
    if fitting:
        return fitting[0]
    last, last_s = floors[-1]
    return last if last_s <= budget_s else replace(last, prior=True)


def cheapest(full: Plan, longest_stride: int = LONGEST_STRIDE) -> Plan:
    """The last plan of the ladder before the prior."""
    *_, last = _ladder(full, longest_stride)
    return last


def smaller(plan: Plan) -> Plan | None:
    """The same with frames of half the size; None where they would be too small."""
    if min(plan.size) // 2 < SMALLEST_SIDE:
        return None
    return replace(plan, size=(plan.size[0] // 2, plan.size[1] // 2))


def _ladder(plan: Plan, longest_stride: int) -> Iterator[Plan]:
    yield plan
    while plan.density / 2 >= LEAST_DENSITY:
        plan = replace(plan, density=plan.density / 2)
        yield plan
    while (half := smaller(plan)) is not None:
        plan = half
        yield plan
    began = plan.stride  # of frames that were read, only some can be left out
    for stride in STRIDES:
        if plan.stride < min(longest_stride, plan.n_frames) and stride > began and stride % began == 0:
            plan = replace(plan, stride=stride)
            yield plan
    yield replace(plan, colour_only=True)
