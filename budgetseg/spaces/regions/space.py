"""What labels videos by supervoxels: all that does not depend on one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.crf.potentials import Crf
from budgetseg.descriptors.core import Descriptor
from budgetseg.policy.episode import Chooser, Selection
from budgetseg.spaces.regions.paint import painters
from budgetseg.supervoxels.tiers import FAST, tier_named
from budgetseg.timing.prices import Prices

__all__ = ["Engine", "Strategy"]


class Strategy(Protocol):
    """Who decides."""

    def __call__(self, share: float) -> tuple[Chooser, Selection]:
        """Who does, and who is considered first, where such a share of the full cost may be spent."""


@dataclass(frozen=True, eq=False)
class Engine:
    """What labels videos: all that does not depend on one.

    Attributes
    ----------
    classifiers : H
    crf : the energies
    descriptors : in the order of H
    prices : what everything costs on this machine
    strategy : says who decides, and which supervoxels are considered first
    tier : of the supervoxels
    threads : cores to use
    guarded : names of descriptors that are not trusted to return
    counted : descriptors that make up the full cost of which the strategy is told a share, as bits; -1 for all
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

    @property
    def tiers(self) -> tuple[str, ...]:
        """Of the supervoxels that it may work with, by the budget, the best first: those of others cost less."""
        return tuple(dict.fromkeys((self.tier, FAST)))

    def of_tier(self, name: str | None) -> "Engine":
        """The same with supervoxels of another tier; None for its own."""
        return self if name is None or name == self.tier else replace(self, tier=name)

    def cutting(self, n_frames: int, size: tuple[int, int]) -> tuple[str, float]:
        """What the costs of its supervoxels are known by, and the work: blocks of pixels, which the tier makes."""
        (height, width), line = size, f"supervoxels {self.tier} {self.threads}"
        side = tier_named(self.tier).reduce(height * width)
        return line, float(n_frames * -(-height // side) * -(-width // side))

    def painting(self, n_pixels: int) -> tuple[str, float]:
        """What the costs of painting are known by, and the work of one thread."""
        return "pixels", n_pixels / painters(n_pixels, self.threads)
