"""Confidence of a labelled video, from what its windows were labelled by."""

import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from budgetseg.engine.plan import Plan
from budgetseg.engine.result import Result, Results
from budgetseg.engine.space import Evidence
from budgetseg.engine.trace import WindowTrace
from budgetseg.errors import UsageError
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


def colourful() -> Result:
    result = result_of([2], [Even(2, 0.5)], 2)
    result.labels[1, :, 2] = 1
    return result


def test_supervision_gets_a_mask_a_box_and_a_confidence_for_each_class() -> None:
    pytest.importorskip("supervision")
    found = colourful().to_supervision(1)
    assert found.class_id is not None
    assert isinstance(found.mask, np.ndarray)
    assert found.class_id.tolist() == [0, 1]
    assert list(found.data["class_name"]) == ["sky", "road"]
    assert found.mask.tolist() == [[[True, True, False]] * 2, [[False, False, True]] * 2]
    assert found.xyxy.tolist() == [[0, 0, 1, 1], [2, 0, 2, 1]]
    assert found.confidence is not None
    assert found.confidence.tolist() == [0.5, 0.5]


def test_a_frame_without_any_class_has_no_detections() -> None:
    pytest.importorskip("supervision")
    result = colourful()
    result.labels[:] = 255
    assert len(result.to_supervision(0)) == 0


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("supervision", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"supervision is not installed; pip install 'budgetseg\[notebook\]'"):
        colourful().to_supervision(0)
    with pytest.raises(UsageError, match="pandas is not installed"):
        colourful().ledger.to_pandas()


def test_a_notebook_shows_a_player_with_every_budget() -> None:
    small = replace(colourful(), ledger=Ledger(0.5))
    large = replace(colourful(), ledger=Ledger(2.0))
    shown = Results([small, large])._repr_html_()
    assert "&quot;budgets&quot;:[&quot;0.5 s&quot;,&quot;2 s&quot;]" in shown
    assert large._repr_html_().count("data:image/webp") == 2
    assert replace(colourful(), ledger=Ledger(None)).budget == "no bound"
    assert Results()._repr_html_() == ""


def test_a_result_is_shown_in_a_line() -> None:
    line = repr(result_of([2, 3], [Even(2, 0.5), None], 5))
    assert line == "<Result: 5 frames of 3x2 in 2 classes, labelled by regions, 0.00 s spent of no bound>"
