"""What labels videos by supervoxels: all that does not depend on one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.crf.potentials import Crf
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.costs import CostModel
from budgetseg.descriptors.network.descriptor import NetworkDescriptor
from budgetseg.inference.episode import Chooser, Selection
from budgetseg.inference.paint import painters
from budgetseg.inference.refining import Refiner
from budgetseg.inference.stages import StageCosts
from budgetseg.supervoxels.blocks import BLOCKS
from budgetseg.supervoxels.tiers import FAST, tier_named

__all__ = ["Engine", "Strategy"]

AT_LEAST = 300_000
"""Pixels of which blocks are cut in the time that it takes to begin with any."""


class Strategy(Protocol):
    """Who decides."""

    def __call__(self, share: float, network: str | None = None) -> tuple[Chooser, Selection]:
        """Who does, and who is considered first, where such a share of the full cost may be spent.

        `network` is the one to ask, of several, where it matters which.
        """


@dataclass(frozen=True, eq=False)
class Engine:
    """What labels videos: all that does not depend on one.

    Attributes
    ----------
    classifiers : H
    crf : the energies
    descriptors : in the order of H
    costs : what descriptors cost on this machine
    stages : what all else costs
    strategy : says who decides, and which supervoxels are considered first
    tier : of the supervoxels, or `BLOCKS` in their place
    threads : cores to use
    guarded : names of descriptors that are not trusted to return
    counted : descriptors that make up the full cost of which the strategy is told a share, as bits; -1 for all
    refiner : makes better labels of pixels, where networks were asked; None for nobody
    """

    classifiers: SubsetClassifiers
    crf: Crf
    descriptors: Sequence[Descriptor]
    costs: CostModel
    stages: StageCosts
    strategy: Strategy
    tier: str = FAST
    threads: int = 1
    guarded: Sequence[str] = ()
    counted: int = -1
    refiner: Refiner | None = None

    @property
    def tiers(self) -> tuple[str, ...]:
        """Of the supervoxels that it may work with, by the budget, the best first: those of others cost less.

        Blocks are among them where labels are refined after all: there edges come from networks.
        """
        return tuple(dict.fromkeys((self.tier, FAST, *((BLOCKS,) if self.refiner is not None else ()))))

    @property
    def has_blocks(self) -> bool:
        """In the place of supervoxels."""
        return self.tier == BLOCKS

    def of_tier(self, name: str | None) -> "Engine":
        """The same with supervoxels of another tier; None for its own.

        Of blocks networks look at one frame, not three: all of one time share it, and where there is time for a few
        frames alone, they had better lie apart.
        """
        if name is None or name == self.tier:
            return self
        return self._of_blocks if name == BLOCKS else replace(self, tier=name)

    @cached_property
    def _of_blocks(self) -> "Engine":
        return replace(self, tier=BLOCKS, descriptors=[_glancing(one) for one in self.descriptors])

    def cutting(self, n_frames: int, size: tuple[int, int]) -> tuple[str, float]:
        """What the costs of its supervoxels are known by, and the work: blocks of pixels, which the tier makes."""
        (height, width), line = size, f"supervoxels {self.tier} {self.threads}"
        if self.has_blocks:  # of a few small frames most of it is overhead
            return line, float(AT_LEAST + n_frames * height * width)
        side = tier_named(self.tier).reduce(height * width)
        return line, float(n_frames * -(-height // side) * -(-width // side))

    def picture_size(self, size: tuple[int, int]) -> tuple[int, int] | None:
        """Rows and columns at which networks should see frames of a size: halves that they make full use of."""
        if self.refiner is None:
            return None
        least = self.refiner.least
        while all(side // 2 >= own for side, own in zip(size, least, strict=True)):
            size = size[0] // 2, size[1] // 2
        return size

    def painting(self, n_pixels: int) -> tuple[str, float]:
        """What the costs of painting are known by, and the work of one thread."""
        return "pixels", n_pixels / painters(n_pixels, self.threads)


def _glancing(descriptor: Descriptor) -> Descriptor:
    """At one frame, if it is a network."""
    return descriptor.looking_at(1) if isinstance(descriptor, NetworkDescriptor) else descriptor
