"""Where the time of the supervoxels goes, and the least that any method would take.

Usage: python benchmarks/profile_supervoxels.py DATA, where DATA holds camvid/. CPU milliseconds a frame on one thread,
the best of three runs, on CamVid's dense run. The floor is a copy of as many bytes as must be touched: every pixel read
once (3 bytes) and its id written once (4 bytes).
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.supervoxels import warm_up
from budgetseg.supervoxels.features import feature_planes
from budgetseg.supervoxels.graph import GraphBuilder
from budgetseg.supervoxels.hierarchy import merge_regions
from budgetseg.supervoxels.leaves import MAX_SIZE, MIN_SIZE, SCALE, edge_weights, merge_voxels
from budgetseg.supervoxels.regions import describe, faces
from budgetseg.supervoxels.tiers import TIERS
from budgetseg.supervoxels.window import BLOCK, enlarge, segment_window
from budgetseg.timing.clock import process_s
from budgetseg.types import Graph, UInt8

T = TypeVar("T")


def timed(name: str, n_frames: float, call: Callable[[], T]) -> T:
    """Run three times, print the best, return the result."""
    seconds = []
    for _ in range(3):
        began_s = process_s()
        result = call()
        seconds.append(process_s() - began_s)
    print(f"  {name:30s} {1e3 * min(seconds) / n_frames:6.2f}")
    return result


def profile(frames: UInt8, tier: str, n: int = 3500) -> None:
    """Print a line per stage."""
    t, height, width = frames.shape[:3]
    reduce = TIERS[tier].reduce(height * width)
    print(f"{tier}, blocks of {reduce}x{reduce} pixels, {n} supervoxels")
    planes = timed("features", t, lambda: feature_planes(frames, reduce))
    block = np.ascontiguousarray(planes[: BLOCK[0], :, : BLOCK[1], : BLOCK[2]])
    colours = np.ascontiguousarray(block[:, :3])
    share = block[:, 0].size / planes[0, 0].size  # of a frame, in frames
    weights = timed("edge weights", share, lambda: edge_weights(colours))
    leaves, n_leaves = timed("leaves", share, lambda: merge_voxels(weights, SCALE, MIN_SIZE, MAX_SIZE))
    timed("sizes and sums", share, lambda: describe(leaves, block, n_leaves))
    ones = np.ones(BLOCK[1], np.int64), np.ones(BLOCK[2], np.int64)
    timed("region graph", share, lambda: faces(leaves, *ones))
    window = segment_window(frames, reduce)
    tree = timed("merges", t, lambda: merge_regions(window.regions))
    small = timed("cut", t, lambda: tree.cut(n)[window.leaf_ids])

    def graph() -> Graph:
        builder = GraphBuilder((height, width), reduce)
        builder.add(small)
        return builder.build()

    timed("neighbourhood graph", t, graph)
    timed("full-size ids", t, lambda: enlarge(small, reduce, (height, width)))
    timed("features to merges, together", t, lambda: segment_window(frames, reduce))


def main(data: Path) -> None:
    """Profile both tiers and the floor."""
    cv2.setNumThreads(1)
    warm_up()
    (dense,) = open_dataset("camvid", data / "camvid").videos("val")
    frames = dense.video().frames
    for tier in TIERS:
        profile(frames, tier)
    source, target = np.ones(7 * frames[..., 0].size // 2, np.uint8), np.ones(7 * frames[..., 0].size // 2, np.uint8)
    print("floor")
    timed("7 bytes a pixel", len(frames), lambda: np.copyto(target, source))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
