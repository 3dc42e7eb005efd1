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
from budgetseg.models.bundle import NetworkModel, load_model, save_model
from budgetseg.networks.card import Card
from budgetseg.timing.clock import CostClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes
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
        "rehearsal",
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


def test_networks_of_other_classes_do_not_label_frames(tmp_path: Path) -> None:
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


def test_the_order_of_networks_may_be_that_of_an_earlier_run(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    sizes = dict.fromkeys(("a", "b"), len(CLASSES))
    save_model(random_model(sizes, CLASSES, write_networks(tmp_path / "networks", sizes)), tmp_path / "model")
    space = load_simulated(tmp_path / "model", rates={"frames a": 0.02, "frames b": 0.03}).frames
    assert space is not None
    assert list(space.in_order(["b", "a"]).sources) == ["b", "a"]
    assert list(space.in_order(["b", "a"]).in_order().sources) == ["a", "b"]
    with pytest.raises(UsageError, match="the networks are a, b, not a, c; give those"):
        space.in_order(["a", "c"])


# Networks alone


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """Networks of one size and of any size, with as many classes."""
    from tests.networks.models import save_mixer

    weights = np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32)
    save_mixer(tmp_path / "fixed.onnx", weights, (1, 3, SIZE[1], SIZE[0]), stride=4)
    save_mixer(tmp_path / "open.onnx", 2 * weights, ("n", 3, "h", "w"), stride=8)
    return tmp_path


def test_networks_alone_label_without_a_model(alone: Path, street: Path) -> None:
    model = budgetseg.load(networks=[alone / "fixed.onnx", str(alone / "open.onnx")], threads=1)
    assert model.classes.names == ("0", "1", "2")
    result = model.label(street, budget_s=math.inf)
    assert result.space == "frames"
    assert result.labels.shape == SHAPE
    with pytest.raises(UsageError, match=r"'fixed\+open' has networks alone, and labels by frames"):
        model.label(street, scope="descriptors")


def test_a_single_network_needs_no_list(alone: Path) -> None:
    assert set(budgetseg.load(networks=alone / "fixed.onnx", threads=1).networks) == {"fixed"}
    model = budgetseg.load(networks=str(alone / "fixed.onnx"), threads=1)
    assert set(model.networks) == {"fixed"}
    assert repr(model) == "<LoadedModel: fixed, 3 classes, on 1 of the cores>"


@pytest.mark.parametrize("budget_s", [math.nan, None, "ten", [1, None], [[1, 3]]])
def test_a_budget_that_is_no_time_is_refused(alone: Path, street: Path, budget_s: Any) -> None:
    model = budgetseg.load(networks=alone / "fixed.onnx", threads=1)
    with pytest.raises(UsageError, match="budget_s must be seconds, or a list of them"):
        model.label(street, budget_s=budget_s)


@pytest.mark.parametrize("accuracy", [80, -0.1, 1.01, math.nan])
def test_an_accuracy_that_labels_cannot_have_is_refused(alone: Path, street: Path, accuracy: float) -> None:
    model = budgetseg.load(networks=alone / "fixed.onnx", threads=1)
    with pytest.raises(UsageError, match="the accuracy to aim at must be a share of the pixels, 0 to 1"):
        model.label(street, target_accuracy=accuracy)


def test_what_files_beside_a_network_say_goes_into_a_model_of_it(alone: Path, tmp_path: Path) -> None:
    (alone / "config.json").write_text('{"id2label": {"0": "sea", "1": "land", "2": "sky"}}')
    (alone / "preprocessor_config.json").write_text('{"image_mean": [0.5, 0.5, 0.5], "image_std": [0.2, 0.2, 0.2]}')
    given = budgetseg.load(networks=alone / "fixed.onnx", threads=1)
    save_model(given.model, tmp_path / "model")
    again = budgetseg.load(tmp_path / "model", threads=1)
    assert again.classes.names == given.classes.names == ("sea", "land", "sky")
    assert again.networks["fixed"].card.mean == (0.5,) * 3
    assert again.networks["fixed"].digest == given.networks["fixed"].digest


def test_networks_of_any_size_are_made_ready_for_each_size_of_video_once(alone: Path) -> None:
    model = budgetseg.load(networks=[alone / "open.onnx"], threads=1)
    small, large = model.frames_for((96, 64)), model.frames_for((192, 128))
    assert small is model.frames_for((100, 70))
    assert small is not None
    assert large is not None
    assert [space.cells for space in (small, large)] == [(8, 12), (16, 24)]
    keys = {space.costs(1).key("open") for space in (small, large)}
    assert len(keys) == 2
    assert all(key in model.prices for key in keys)


def test_getting_ready_for_a_video_is_no_part_of_its_budget(alone: Path, street: Path) -> None:
    model = budgetseg.load(networks=[alone / "open.onnx"], threads=1)
    before_s = model.loading_s
    result = model.label(street, budget_s=math.inf)
    assert model.loading_s > before_s
    assert result.ledger.sources["open"].count == N_FRAMES


def test_a_bundle_of_networks_alone_is_loaded_like_any_model(alone: Path, street: Path) -> None:
    classes = Classes.of(("sea", "land", "sky"))
    cards = {name: Card(alone / f"{name}.onnx") for name in ("fixed", "open")}
    save_model(NetworkModel("coast", classes, cards), alone / "model")
    model = budgetseg.load(alone / "model", threads=1)
    assert model.classes.names == classes.names
    result = model.label(street, budget_s=math.inf)
    assert result.classes.names == classes.names
    assert set(result.ledger.sources) <= {"fixed", "open"}
    with pytest.raises(UsageError, match="'coast' has networks alone"):
        budgetseg.load(alone / "model", space="regions")
    with pytest.raises(UsageError, match="'coast' has networks alone"):
        budgetseg.load(alone / "model", policy="static")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"name": "camvid"}, "a model and networks cannot be combined; give one of them"),
        ({"policy": "static"}, "--policy needs a model that 'budgetseg train' made"),
        ({"space": "regions"}, "--space regions needs a model that 'budgetseg train' made"),
        ({"engine": "supervoxels"}, "--space regions needs a model that 'budgetseg train' made"),
    ],
)
def test_networks_alone_take_no_options_of_a_trained_model(alone: Path, options: dict[str, Any], line: str) -> None:
    with pytest.raises(UsageError, match=line):
        budgetseg.load(networks=[alone / "fixed.onnx"], **options)


def test_neither_a_model_nor_networks_is_refused() -> None:
    with pytest.raises(UsageError, match="a model is missing; give the name of one, its folder, or networks"):
        budgetseg.load()


# Loading


def test_the_package_loads_models_by_their_folder(
    model_folder: Path, loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def record(_: object, *options: object, **__: object) -> LoadedModel:
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
        ({"backend": "abacus"}, "no back end 'abacus'; choose from auto, onnxruntime, openvino, cuda, tensorrt"),
        ({"precision": "f8"}, "no precision 'f8'; choose from auto, f32, bf16, int8"),
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
