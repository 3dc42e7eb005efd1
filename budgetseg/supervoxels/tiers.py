"""The two tiers: `quality` merges voxels of full size, `fast` those of reduced frames, for use under a deadline."""

from collections.abc import Callable
from dataclasses import dataclass

from budgetseg.errors import UsageError

__all__ = ["FAST", "TIERS", "Tier", "tier_named"]


@dataclass(frozen=True)
class Tier:
    """How a tier treats frames.

    Attributes
    ----------
    name : as on the command line
    reduce : maps the number of pixels of a frame to the side of the blocks of pixels that become one voxel
    """

    name: str
    reduce: Callable[[int], int]


def _fast_reduce(n_pixels: int) -> int:
    """Blocks of 3 from about 400x250 pixels on, of 2 from about 160x120 on: thumbnails have no detail to spare."""
    if n_pixels >= 100_000:
        return 3
    return 2 if n_pixels >= 20_000 else 1


FAST = "fast"
TIERS = {tier.name: tier for tier in (Tier("quality", lambda _: 1), Tier(FAST, _fast_reduce))}


def tier_named(name: str) -> Tier:
    """Look up a tier."""
    if name not in TIERS:
        raise UsageError(f"no supervoxel tier '{name}'; choose from {', '.join(TIERS)}")
    return TIERS[name]
