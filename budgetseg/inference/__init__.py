"""From what was computed for some supervoxels to what is believed about all of them."""

from budgetseg.inference.interpolation import interpolate
from budgetseg.inference.neighbours import Neighbours, neighbours_of

__all__ = ["Neighbours", "interpolate", "neighbours_of"]
