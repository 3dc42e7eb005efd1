"""What carrying predictions loses, by key frames and by frames read: the figures behind what plans believe.

Usage: python -m benchmarks.carrying DATA [SEEDS]

DATA holds camvid/, suny/, clips/ and film/. Videos are those of `benchmarks.key_frames`, none of them reported. One
network is asked about even key frames; its predictions are carried along flow between even frames that were read.
Printed: mean IoU lost against that network on every frame, plainly and along edges, and by copying.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.key_frames import Table, film_tables, labelled_tables, miou, opened, painted, predictions_of
from budgetseg.propagate.order import medians
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.state import FrameState
from budgetseg.types import UInt8

PER_HUNDRED = (2, 4, 8, 16, 32, 64, 100)
STRIDES = (1, 2, 3, 4, 6, 8)
WAYS = ((FLOW, False), (FLOW, True), (COPY, False))


def lost(table: Table, state: FrameState, keys: Sequence[int], every: UInt8) -> list[float]:
    """Points of mean IoU lost in each way of `WAYS`."""
    state.predictions = [predictions_of(table, keys)]
    out: UInt8 = np.empty(table.truth.shape, np.uint8)
    found = []
    for carry, edges in WAYS:
        state.plan = replace(state.plan, carry=carry, edges=edges)
        state.finish(np.inf, out)
        found.append(miou(table, every) - miou(table, out))
    return found


def main(data: Path, seeds: Sequence[int]) -> None:
    """Print a row for each video, number of frames read and number of key frames."""
    print("| video | frames apart when read | distance | plainly | key frames of 100 | flow | along edges | copied |")
    print("|---|---|---|---|---|---|---|---|")
    for table in (*labelled_tables(data, "suny"), *film_tables(data, seeds), *labelled_tables(data, "camvid")):
        every = painted(table.answers[list(table.answers)[-1]], table.truth.shape[1:])
        for stride in STRIDES:
            state, numbers = opened(table, stride)
            timeline = state.timeline()
            state.footage.look(np.inf)
            plain = state.footage.timeline(COPY)
            for share in PER_HUNDRED:
                n_keys = max(1, round(share * len(table.frames) / 100))
                if n_keys <= len(numbers):
                    keys = [numbers[k] for k in medians(timeline.positions[numbers], n_keys)]
                    figures = " | ".join(f"{points:.1f}" for points in lost(table, state, keys, every))
                    distances = f"{stride * timeline.step:.1f} | {stride * plain.step:.1f}"
                    print(f"| {table.name} | {stride} | {distances} | {share} | {figures} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), range(int(sys.argv[2]) if len(sys.argv) > 2 else 3))
