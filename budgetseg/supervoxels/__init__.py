"""Supervoxels of a video: hierarchical graph-based segmentation, and the neighbourhood graph."""

import budgetseg.compiling  # noqa: F401 - before anything is compiled
from budgetseg.supervoxels.export import Request, Summary, export_supervoxels
from budgetseg.supervoxels.graph import BINS, neighbourhood_graph
from budgetseg.supervoxels.hierarchy import N_LEVELS
from budgetseg.supervoxels.segment import Hierarchy, Segmenter, build_hierarchy, segment, usual_density, warm_up
from budgetseg.supervoxels.tiers import TIERS

__all__ = [
    "BINS",
    "N_LEVELS",
    "TIERS",
    "Hierarchy",
    "Request",
    "Segmenter",
    "Summary",
    "build_hierarchy",
    "export_supervoxels",
    "neighbourhood_graph",
    "segment",
    "usual_density",
    "warm_up",
]
