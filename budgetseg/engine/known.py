"""What a run computed of a window, and what it knows by it."""

from dataclasses import dataclass
from typing import NamedTuple

from budgetseg.types import Float32, Int32, Supervoxels

__all__ = ["Known", "Step"]


class Step(NamedTuple):
    """A descriptor that was computed, for the trace.

    Attributes
    ----------
    region, descriptor : of which supervoxel, and which
    at_s : seconds since the clock started, when it was chosen
    spent_s : what it took
    shared_s : the part of it for what others can use, too, or that was spent waiting for it
    """

    region: int
    descriptor: int
    at_s: float
    spent_s: float
    shared_s: float = 0.0


@dataclass(frozen=True, eq=False)
class Known:
    """What a run knows of a window, to go on from another time.

    Attributes
    ----------
    supervoxels : of the window
    subsets : (N,) int32, descriptors computed, as bits
    said : (N, L) float32, H's probabilities
    inputs : (N, d) float32, what was computed, as H scales it
    """

    supervoxels: Supervoxels
    subsets: Int32
    said: Float32
    inputs: Float32
