"""The public face."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from budgetseg.app.loaded import LoadedModel

import budgetseg
from budgetseg.app import loaded as loaded_module
from budgetseg.errors import BudgetsegError
from budgetseg.video import open_video
from tests.app.streets import N_FRAMES, SIZE

SHAPE = (N_FRAMES, SIZE[1], SIZE[0])


def test_a_video_gets_labels_confidence_and_a_ledger(loaded: LoadedModel, street: Path) -> None:
    result = loaded.label(street, budget_s=5)
    assert result.labels.shape == result.confidence.shape == SHAPE
    assert result.labels.dtype == np.uint8
    assert result.confidence.dtype == np.float32
    assert result.labels.max() < len(loaded.classes) == len(result.classes)
    assert 1 / len(loaded.classes) < result.confidence.min() < result.confidence.max() <= 1
    assert result.ledger.budget_s == 5
    assert 0 < result.ledger.spent_s < 5
    assert set(result.ledger.descriptors) == {"colour", "hog"}


def test_no_bound_computes_everything_and_is_the_same_every_time(loaded: LoadedModel, street: Path) -> None:
    first = loaded.label(street, budget_s=math.inf)
    again = loaded.label(open_video(street), budget_s=math.inf, seed=1, scope="descriptors")
    assert not first.ledger.work_left
    assert {entry.count for entry in first.ledger.descriptors.values()} == {25 * N_FRAMES}
    assert np.array_equal(first.labels, again.labels)
    assert np.array_equal(first.confidence, again.confidence)


def test_who_is_stopped_at_once_still_has_labels_for_all_pixels(loaded: LoadedModel, street: Path) -> None:
    result = loaded.label(street, budget_s=math.inf, stopped=lambda: True)
    assert result.labels.shape == SHAPE
    assert not result.ledger.descriptors


def test_the_package_loads_models_by_their_folder(
    model_folder: Path, loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def labeller(_: object, *options: object) -> object:
        asked.extend(options)
        return loaded.labeller

    monkeypatch.setattr(loaded_module, "Labeller", labeller)
    model = budgetseg.load(model_folder, threads=2, select="large")
    budgetseg.load(model_folder, engine="frames")
    threads, policy, selection, engine = asked[:4]
    assert (threads, policy, selection.order, engine, asked[-1]) == (2, None, "large", "supervoxels", "frames")
    assert model.classes.names == loaded.classes.names
    assert model.mark == loaded.mark
    assert model.loading_s > 0


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"policy": "wise"}, "no policy 'wise'; choose from learned, static, random"),
        ({"select": "small"}, "no order of selection 'small'; choose from random, sure, unsure, large, doubt, wanted"),
        ({"name": "moon"}, "no model 'moon'"),
    ],
)
def test_names_that_are_none_get_a_list_of_those_that_are(
    model_folder: Path, options: dict[str, str], line: str
) -> None:
    with pytest.raises(BudgetsegError, match=line):
        budgetseg.load(**{"name": str(model_folder), **options})  # type: ignore[arg-type]
