"""Boundary recall of the `quality` tier on CamVid's dense run at the boundary densities of LIBSVX.

Usage: python benchmarks/boundary_recall.py DATA, where DATA holds camvid/.
"""

import sys
from pathlib import Path

from budgetseg.datasets import open_dataset
from budgetseg.supervoxels import build_hierarchy
from budgetseg.supervoxels.metrics import measure

if __name__ == "__main__":
    (dense,) = open_dataset("camvid", Path(sys.argv[1]) / "camvid").videos("val")
    frames, labels = dense.video().frames, dense.labels()
    hierarchy = build_hierarchy(frames)
    for n in (6_500, 14_000, 20_000):
        row = measure(hierarchy.cut(n).ids, labels, frames)
        print(f"n {n}  BR3D {row['BR3D']:.4f}  bd {row['bd']:.3f}")
