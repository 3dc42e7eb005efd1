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

from benchmarks.key_frames import Recorded, Table, film_tables, labelled_tables, painted
from budgetseg.engine.plan import Plan
from budgetseg.engine.trace import WindowTrace
from budgetseg.engine.window import Reader, Window
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.propagate.order import medians
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.timing.clock import ManualClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

PER_HUNDRED = (2, 4, 8, 16, 32, 64, 100)
STRIDES = (1, 2, 3, 4, 6, 8)
WAYS = ((FLOW, False), (FLOW, True), (COPY, False))


def opened(table: Table, stride: int) -> tuple[FrameState, Sequence[int]]:
    """The state of a whole video of which some frames were read, with flow between them, and their numbers."""
    n_frames = len(table.frames)
    network = Recorded(table.frames, table.answers[list(table.answers)[-1]])
    shares: Float32 = np.full(table.n_labels, 1 / table.n_labels, np.float32)
    space = Frames({"network": network}, shares, Prices(frozen=True), 2, settings=FrameSettings(rehearsals=0))
    clip = ArrayClip(table.frames, table.rate)
    video = VideoSource(clip, Span(), clip.size)
    window = Window(0, range(n_frames), Reader(video, 1), is_last=True)
    plan = Plan(n_frames, clip.size[::-1])
    state = FrameState(space, window, table.rate, plan, Account(ManualClock(), space.prices, Ledger(None)))
    numbers = sorted({*range(0, n_frames, stride), n_frames - 1})
    state.prepare_again(WindowTrace(n_frames, numbers, (1, 1), n_frames, (), ()), len(numbers))
    state.plan = replace(plan, carry=FLOW)
    state.footage.find_flow(np.inf)
    return state, numbers


def lost(table: Table, state: FrameState, keys: Sequence[int], every: UInt8) -> list[float]:
    """Points of mean IoU lost in each way of `WAYS`."""
    answers = table.answers[list(table.answers)[-1]]
    predictions = {key: Prediction.of(np.ascontiguousarray(answers[key], np.float32)) for key in keys}
    state.predictions = [predictions]
    out: UInt8 = np.empty(table.truth.shape, np.uint8)
    found = []
    for carry, edges in WAYS:
        state.plan = replace(state.plan, carry=carry, edges=edges)
        state.finish(np.inf, out)
        found.append(100 * (_miou(table, every) - _miou(table, out)))
    return found


def _miou(table: Table, labels: UInt8) -> float:
    return accuracy_of(confusion_of_pixels(table.truth, labels, table.n_labels)).miou


def main(data: Path, seeds: Sequence[int]) -> None:
    """Print a row for each video, number of frames read and number of key frames."""
    print("| video | frames apart when read | distance | key frames of 100 | flow | along edges | copied |")
    print("|---|---|---|---|---|---|---|")
    for table in (*labelled_tables(data, "suny"), *film_tables(data, seeds), *labelled_tables(data, "camvid")):
        every = painted(table.answers[list(table.answers)[-1]], table.truth.shape[1:])
        for stride in STRIDES:
            state, numbers = opened(table, stride)
            timeline = state.timeline()
            for share in PER_HUNDRED:
                n_keys = max(1, round(share * len(table.frames) / 100))
                if n_keys <= len(numbers):
                    keys = [numbers[k] for k in medians(timeline.positions[numbers], n_keys)]
                    figures = " | ".join(f"{points:.1f}" for points in lost(table, state, keys, every))
                    print(
                        f"| {table.name} | {stride} | {stride * timeline.step:.1f} | {share} | {figures} |", flush=True
                    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), range(int(sys.argv[2]) if len(sys.argv) > 2 else 3))
