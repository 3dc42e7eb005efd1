"""Video to supervoxels: hierarchical graph-based segmentation and the neighbourhood graph."""

from budgetseg.supervoxels.graph import BINS, neighbourhood_graph
from budgetseg.supervoxels.hierarchy import N_LEVELS
from budgetseg.supervoxels.segment import Hierarchy, Segmenter, build_hierarchy, segment, warm_up
from budgetseg.supervoxels.tiers import TIERS

__all__ = [
    "BINS",
    "N_LEVELS",
    "TIERS",
    "Hierarchy",
    "Segmenter",
    "build_hierarchy",
    "neighbourhood_graph",
    "segment",
    "warm_up",
]
