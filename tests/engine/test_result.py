"""Confidence of a labelled video, from what its windows were labelled by."""

from dataclasses import dataclass

import numpy as np

from budgetseg.engine.plan import Plan
from budgetseg.engine.result import Result
from budgetseg.engine.space import Evidence
from budgetseg.engine.trace import WindowTrace
from budgetseg.timing.ledger import Ledger
from budgetseg.types import Classes, Float32

CLASSES = Classes(("sky", "road"), np.zeros((2, 3), np.uint8))


@dataclass(frozen=True)
class Even:
    """Evidence by which all pixels of a window are equally certain."""

    n_frames: int
    value: float

    def confidence(self, size: tuple[int, int]) -> Float32:
        return np.full((self.n_frames, *size), self.value, np.float32)


def result_of(lengths: list[int], evidence: list[Evidence | None], n_frames: int) -> Result:
    windows = [WindowTrace(length, (), (2, 3), 0, [], []) for length in lengths]
    labels = np.zeros((n_frames, 2, 3), np.uint8)
    return Result(
        labels, Ledger(None), CLASSES, "regions", Plan(n_frames, (2, 3)), windows, evidence, [None] * len(lengths), 0.25
    )


def by_frame(result: Result) -> list[float]:
    assert result.confidence.shape == result.labels.shape
    assert result.confidence.dtype == np.float32
    return [float(frame.max()) for frame in result.confidence]


def test_confidence_is_that_of_every_window_in_turn() -> None:
    assert by_frame(result_of([2, 3], [Even(2, 0.5), Even(3, 0.75)], 5)) == [0.5, 0.5, 0.75, 0.75, 0.75]


def test_frames_without_evidence_are_as_certain_as_the_most_frequent_class_is_frequent() -> None:
    assert by_frame(result_of([2, 1], [None, Even(1, 0.5)], 4)) == [0.25, 0.25, 0.5, 0.25]


def test_frames_that_the_video_does_not_have_do_not_count() -> None:
    assert by_frame(result_of([2, 3], [Even(2, 0.5), Even(3, 0.75)], 3)) == [0.5, 0.5, 0.75]


def test_a_result_is_shown_in_a_line() -> None:
    line = repr(result_of([2, 3], [Even(2, 0.5), None], 5))
    assert line == "<Result: 5 frames of 3x2 in 2 classes, labelled by regions, 0.00 s spent of no bound>"
