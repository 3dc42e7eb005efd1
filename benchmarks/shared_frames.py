"""How many frames must be looked at until supervoxels can be described, if they agree on frames and if they do not.

Usage: python benchmarks/shared_frames.py DATA, where DATA holds camvid/ and suny/.

Supervoxels by the first, middle and last frame of each, frames bought evenly over the video; and by frames that powers
of two divide, the most divided first. Printed: the share of pixels in supervoxels of which all frames were seen.
"""

import sys
from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.agreed_frames import agreed_frames
from budgetseg.supervoxels import segment
from budgetseg.types import Bool, Float64, Graph, Int32, UInt8

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)


def main(data: Path) -> None:
    """Print a table."""
    print(f"| video | frames by | {' | '.join(f'{share:.0%}' for share in SHARES)} |\n|---|---|{'---|' * len(SHARES)}")
    (dense,) = open_dataset("camvid", data / "camvid").videos("val")
    _show("CamVid, dense run", dense.video().frames, 3500)
    for video in open_dataset("suny", data / "suny").videos("train"):
        _show(f"SUNY, {video.name}", video.video().frames, 1000)


def _show(name: str, frames: UInt8, n: int) -> None:
    graph, n_frames = segment(frames, n).graph, len(frames)
    bought = [np.linspace(0, n_frames - 1, round(share * n_frames)).round().astype(int) for share in SHARES]
    rows = {"first, middle, last": [_complete(graph, graph.key_frames, _seen(n_frames, own)) for own in bought]}
    in_order = sorted(range(n_frames), key=lambda t: -(t & -t) if t else -n_frames)
    for least in (1, 2, 3):
        keys = agreed_frames(graph.boxes[:, 0], graph.boxes[:, 1], least)
        bought = [np.array(in_order[: round(share * n_frames)]) for share in SHARES]
        rows[f"powers of two, at least {least}"] = [_complete(graph, keys, _seen(n_frames, own)) for own in bought]
    for how, complete in rows.items():
        print(f"| {name} | {how} | {' | '.join(f'{100 * share:.0f} %' for share in complete)} |")


def _seen(n_frames: int, bought: Int32) -> Bool:
    seen = np.zeros(n_frames, np.bool_)
    seen[bought] = True
    return seen


def _complete(graph: Graph, keys: Int32, seen: Bool) -> float:
    shares: Float64 = graph.sizes / graph.sizes.sum()
    return float(shares[seen[keys].all(axis=1)].sum())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
