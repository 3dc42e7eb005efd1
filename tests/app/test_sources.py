"""What `model.label` takes as a video."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.app.model import LoadedModel
from budgetseg.app.sources import source_of
from budgetseg.errors import BudgetsegError, UsageError
from budgetseg.types import UInt8
from budgetseg.video import open_video
from tests.app.streets import N_FRAMES


@pytest.fixture(scope="module")
def frames(street: Path) -> UInt8:
    return open_video(street).read().frames


@pytest.mark.parametrize("how", ["array", "list", "generator", "strided"])
def test_frames_in_memory_are_a_video(frames: UInt8, how: str) -> None:
    given: dict[str, Any] = {
        "array": frames,
        "list": list(frames),
        "generator": (frame for frame in frames),
        "strided": np.asfortranarray(frames),
    }
    source = source_of(given[how], rate=12.5)
    assert source.n_frames == source.count() == N_FRAMES
    assert source.rate == 12.5
    assert np.array_equal(source.read().frames, frames)
    assert source.read().times_s == pytest.approx(np.arange(N_FRAMES) / 12.5)


def test_files_and_opened_videos_stay_what_they_are(street: Path) -> None:
    opened = open_video(street, stride=2)
    assert source_of(opened) is opened
    assert source_of(str(street)).n_frames == N_FRAMES
    with pytest.raises(BudgetsegError, match="rate is for frames in memory"):
        source_of(street, rate=25)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (7, "a video cannot be an object of type int; give a path"),
        (np.zeros((2, 4, 4), np.uint8), r"of shape \(2, 4, 4\) and type uint8 is no video"),
        (np.zeros((2, 4, 4, 3)), "type float64 is no video"),
        (np.zeros((0, 4, 4, 3), np.uint8), "has no pixel"),
        ([], "there is no frame"),
        ([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 5, 3), np.uint8)], r"frame 1 has shape \(4, 5, 3\)"),
        (iter([np.zeros((4, 4), np.uint8)]), r"frame 0 has shape \(4, 4\)"),
    ],
)
def test_what_is_no_video_is_one_line(given: Any, line: str) -> None:
    with pytest.raises(BudgetsegError, match=line) as error:
        source_of(given)
    assert "\n" not in str(error.value)


def test_frames_in_memory_get_the_labels_of_the_file(seeing: LoadedModel, street: Path, frames: UInt8) -> None:
    truth = seeing.label(street, budget_s=1e9).labels
    for given in (frames, iter(frames)):
        assert np.array_equal(seeing.label(given, budget_s=1e9).labels, truth)


def test_several_budgets_give_a_result_each(seeing: LoadedModel, street: Path) -> None:
    few, more = seeing.label(street, budget_s=[0.05, 1e9])
    assert (few.ledger.budget_s, more.ledger.budget_s) == (0.05, 1e9)
    assert few.ledger.sources["dcnn"].count < more.ledger.sources["dcnn"].count == N_FRAMES
    (only,) = seeing.label(street, budget_s=[1e9])
    assert np.array_equal(only.labels, more.labels)


def test_an_accuracy_and_a_budget_exclude_each_other(seeing: LoadedModel, street: Path) -> None:
    with pytest.raises(UsageError, match="target_accuracy takes no budget_s"):
        seeing.label(street, 1.0, target_accuracy=0.5)
    with pytest.raises(UsageError, match="no calibration to predict its accuracy"):
        seeing.label(street, target_accuracy=0.5)
