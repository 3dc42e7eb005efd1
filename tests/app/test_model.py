"""The public face: a model that is loaded, and the space that it labels in."""

import math
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import budgetseg
from budgetseg.app import model as module
from budgetseg.app.model import LoadedModel
from budgetseg.datasets.synthetic import CLASSES
from budgetseg.engine.request import Request
from budgetseg.errors import BudgetsegError, UsageError
from budgetseg.models.bundle import load_model, save_model
from budgetseg.timing.clock import CostClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget
from budgetseg.video import open_video
from tests.app.simulated import frozen_prices, load_simulated
from tests.app.streets import N_FRAMES, SIZE, write_networks
from tests.models.made import random_model

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
    assert set(result.ledger.sources) == {"colour", "hog"}
    assert result.space == "regions"


def test_no_bound_computes_everything_and_is_the_same_every_time(loaded: LoadedModel, street: Path) -> None:
    first = loaded.label(street, budget_s=math.inf)
    again = loaded.label(open_video(street), budget_s=math.inf, seed=1, scope="descriptors")
    assert not first.ledger.work_left
    assert {entry.count for entry in first.ledger.sources.values()} == {25 * N_FRAMES}
    assert np.array_equal(first.labels, again.labels)
    assert np.array_equal(first.confidence, again.confidence)


def test_a_run_that_is_stopped_at_once_still_has_labels_for_all_pixels(loaded: LoadedModel, street: Path) -> None:
    result = loaded.label(street, budget_s=math.inf, stopped=lambda: True)
    assert result.labels.shape == SHAPE
    assert [entry.count for entry in result.ledger.sources.values()] == [1]


def test_a_clock_may_be_given(loaded: LoadedModel, street: Path) -> None:
    clock = CostClock()
    clock.charge(3.0)
    (result,) = loaded.run(street, Request((Budget(5.0),)), clock=clock)
    assert 3 < result.ledger.spent_s == clock.now_s() < 5


def test_a_run_that_fails_ends_the_spending_of_other_threads(
    loaded: LoadedModel, street: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def fail(*words: Any) -> NoReturn:
        asked.append(words[5])
        assert not asked[0]()
        raise KeyError("gone")

    monkeypatch.setattr(module, "run", fail)
    with pytest.raises(KeyError):
        loaded.label(street)
    assert asked[0]()


# Spaces


def test_a_model_with_a_network_labels_frames_unless_something_asks_for_regions(
    seeing: LoadedModel, street: Path
) -> None:
    result = seeing.label(street, budget_s=math.inf)
    assert result.space == seeing.choose() == "frames"
    assert result.ledger.sources["dcnn"].count == N_FRAMES
    assert set(result.ledger.stages) == {
        "decode",
        "looking",
        "networks",
        "flow",
        "fusing",
        "pixels",
        "edges",
        "release",
    }
    assert seeing.choose("auto", ["--scope descriptors"]) == "regions"
    assert seeing.label(street, budget_s=math.inf, scope="descriptors").space == "regions"


@pytest.mark.parametrize("options", [{"space": "regions"}, {"space": "supervoxels"}, {"engine": "supervoxels"}])
def test_regions_are_there_on_request_also_by_the_name_of_the_first_version(
    seeing: LoadedModel, street: Path, options: dict[str, str]
) -> None:
    result = seeing.label(street, budget_s=2, **options)  # type: ignore[call-overload]
    assert result.space == "regions"
    assert "supervoxels" in result.ledger.stages


def test_a_model_without_a_network_labels_regions_and_refuses_frames(loaded: LoadedModel) -> None:
    assert loaded.choose() == "regions"
    assert loaded.frames is None
    for ask in (loaded.choose, loaded.space):
        with pytest.raises(UsageError, match="no network for its classes; use --space regions"):
            ask("frames")


def test_confidence_of_frames_is_a_probability_at_every_pixel(seeing: LoadedModel, street: Path) -> None:
    result = seeing.label(street, budget_s=math.inf)
    assert result.confidence.shape == result.labels.shape
    assert 1 / len(CLASSES) - 0.01 < result.confidence.min() < result.confidence.max() <= 1
    assert not result.ledger.work_left


def test_networks_of_other_classes_or_cells_do_not_label_frames(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    sizes = {"dcnn": len(CLASSES), "other": 3}
    networks = write_networks(tmp_path / "networks", sizes)
    save_model(random_model(sizes, CLASSES, networks), tmp_path / "model")
    space = load_simulated(tmp_path / "model", rates={"frames other": 0.01}).frames
    assert space is not None
    assert list(space.sources) == ["dcnn"]


def test_networks_come_from_the_cheapest_to_the_dearest(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    sizes = dict.fromkeys(("a", "b", "c"), len(CLASSES))
    networks = write_networks(tmp_path / "networks", sizes)
    save_model(random_model(sizes, CLASSES, networks), tmp_path / "model")
    rates = {"frames a": 0.02, "frames b": 0.03, "frames c": 0.01}
    space = load_simulated(tmp_path / "model", rates=rates).frames
    assert space is not None
    assert list(space.sources) == ["c", "a", "b"]


# Loading


def test_the_package_loads_models_by_their_folder(
    model_folder: Path, loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def record(_: object, *options: object) -> LoadedModel:
        asked.append(options)
        return loaded

    monkeypatch.setattr(module, "LoadedModel", record)
    model = budgetseg.load(model_folder, threads=2, select="large", policy="static", space="regions")
    budgetseg.load(model_folder, threads=1, engine="frames")
    assert asked[0][:5] == (2, "static", "large", "regions", loaded.mark)
    assert asked[1][:5] == (1, None, None, "frames", loaded.mark)
    assert model.classes.names == loaded.classes.names


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"policy": "wise"}, "no policy 'wise'; choose from learned, static, random"),
        ({"select": "small"}, "no order of selection 'small'; choose from random, sure, unsure, large, doubt, wanted"),
        ({"name": "moon"}, "no model 'moon'"),
        ({"space": "pixels"}, "no space 'pixels'; choose from auto, frames, regions"),
        ({"engine": "pixels"}, "no space 'pixels'; choose from auto, frames, regions"),
    ],
)
def test_names_that_are_none_get_a_list_of_those_that_are(
    model_folder: Path, options: dict[str, str], line: str
) -> None:
    with pytest.raises(BudgetsegError, match=line):
        budgetseg.load(**{"name": str(model_folder), **options})  # type: ignore[arg-type]


def test_frames_with_a_policy_are_refused(seeing: LoadedModel) -> None:
    with pytest.raises(UsageError, match=r"^--policy needs regions; leave it out, or use --space regions$"):
        LoadedModel(seeing.model, policy="static", space="frames")


def test_stages_are_remembered_and_prices_of_descriptors_begin_anew(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = frozen_prices()
    monkeypatch.setattr(Prices, "load", lambda *_: prices)
    model = LoadedModel(load_model(model_folder))
    measured = prices.usual("colour", 100.0)
    prices.frozen = False
    for _ in range(50):
        prices.observe_calls("colour", 100.0, 50 * measured)
        prices.observe_stage("pixels", 1e6, 1.0)
    learned = prices.usual("pixels", 1.0)
    assert prices.usual("colour", 100.0) > 2 * measured
    monkeypatch.undo()
    model.remember(tmp_path)
    kept = Prices.load(tmp_path)
    assert kept.usual("colour", 100.0) == pytest.approx(measured)
    assert kept.usual("pixels", 1.0) == pytest.approx(learned)


def test_where_the_cache_is_gone_nothing_is_remembered(loaded: LoadedModel, tmp_path: Path) -> None:
    loaded.remember(tmp_path / "gone")
    assert not list(tmp_path.iterdir())
