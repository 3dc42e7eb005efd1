"""A model on disk: the same when it comes back, or refused in one line."""

import json
import os
import pickle
from collections.abc import Callable
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from budgetseg.classifiers.samples import place_of
from budgetseg.errors import ModelError
from budgetseg.models.bundle import (
    CRF_ARRAYS,
    H_ARRAYS,
    Model,
    NetworkModel,
    load_any,
    load_model,
    save_model,
    with_calibration,
)
from budgetseg.networks.card import Card, read_card
from budgetseg.policy.baseline3 import N_LEVELS, Baseline3Policy
from budgetseg.policy.features import n_features
from budgetseg.policy.learned import SELECTIONS, Expected, LearnedPolicy, Uses
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.static import StaticPlan
from budgetseg.types import Classes
from tests.models.made import HAND_MADE, random_model, random_table
from tests.spaces.frames.calibrations import calibration

LENGTHS = {**HAND_MADE, "dcnn": 3}


@pytest.fixture
def networks(tmp_path: Path) -> Path:
    """A network of the model, its card and its past, and a network of another model."""
    folder = tmp_path / "networks"
    folder.mkdir()
    for name in ("dcnn.onnx", "networks.json", "large.onnx", "dcnn_0.onnx"):
        (folder / name).write_text(f"content of {name}")
    (folder / "dcnn.toml").write_text('output = "scores"\n')
    return folder


@pytest.fixture
def model(networks: Path) -> Model:
    return random_model(LENGTHS, networks=networks)


@pytest.fixture
def folder(model: Model, tmp_path: Path) -> Path:
    """A model on disk."""
    save_model(model, tmp_path / "model")
    return tmp_path / "model"


def refused(folder: Path) -> str:
    """The line that reading a model ends with."""
    with pytest.raises(ModelError) as error:
        load_model(folder)
    assert len(str(error.value).splitlines()) == 1
    assert str(folder) in str(error.value)
    return str(error.value)


def edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    sizes = {} if "files" in changes else manifest["sizes"]  # older models state none
    path.write_text(json.dumps(manifest | {"sizes": sizes} | changes))


def change_arrays(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Other arrays, with a digest that fits: as a program that writes models badly would leave them."""
    path = folder / "arrays.safetensors"
    arrays = dict(load_file(path))
    change(arrays)
    save_file(arrays, path)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    edit_manifest(folder, files=files | {path.name: sha256(path.read_bytes()).hexdigest()})


def test_what_comes_back_is_what_was_written(model: Model, folder: Path) -> None:
    again = load_model(folder)
    assert (again.name, again.settings) == (model.name, model.settings)
    assert again.classes.names == model.classes.names
    assert np.array_equal(again.classes.colours, model.classes.colours)
    assert (again.classifiers.names, again.classifiers.lengths) == (tuple(LENGTHS), model.classifiers.lengths)
    assert again.crf.contrast == model.crf.contrast
    pairs = [(again.classifiers, model.classifiers, H_ARRAYS), (again.crf, model.crf, CRF_ARRAYS)]
    for one, other, names in pairs:
        for name in names:
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
            assert getattr(one, name).dtype == getattr(other, name).dtype, name


def test_predictions_are_the_same_for_every_subset(model: Model, folder: Path) -> None:
    table = random_table(LENGTHS)
    place = place_of(table.graph)
    one, other = (each.classifiers.predict_all(table.values, place) for each in (model, load_model(folder)))
    assert np.array_equal(one, other)


def test_the_networks_of_its_descriptors_travel_with_it_and_no_others(model: Model, folder: Path) -> None:
    again = load_model(folder)
    assert again.networks == folder / "networks"
    assert sorted(path.name for path in again.networks.iterdir()) == ["dcnn.onnx", "dcnn.toml", "networks.json"]
    assert model.networks is not None
    for name in ("dcnn.onnx", "networks.json"):
        assert (again.networks / name).read_bytes() == (model.networks / name).read_bytes()
    assert read_card(again.networks / "dcnn.toml").output == "scores"


def test_a_network_whose_card_names_another_file_travels_too(networks: Path, model: Model, tmp_path: Path) -> None:
    (networks / "dcnn.toml").write_text('file = "../else/net.onnx"\n')
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "net.onnx").write_text("content of another")
    save_model(model, tmp_path / "model")
    assert (tmp_path / "model" / "networks" / "dcnn.onnx").read_text() == "content of another"
    assert load_model(tmp_path / "model").networks is not None


def test_a_model_without_networks_has_none_even_where_others_lie_around(folder: Path) -> None:
    save_model(random_model(HAND_MADE), folder)
    assert load_model(folder).networks is None


def test_a_model_can_be_written_over_itself(folder: Path) -> None:
    again = load_model(folder)
    save_model(replace(again, name="renamed"), folder)
    renamed = load_model(folder)
    assert renamed.name == "renamed"
    assert renamed.networks == folder / "networks"


def test_a_model_that_could_not_be_finished_leaves_nothing(model: Model, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(TypeError):
        save_model(replace(model, settings={"tier": object()}), tmp_path / "other")
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_is_unpickled(folder: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "sprung",)

    (folder / "arrays.safetensors").write_bytes(pickle.dumps(Trap()))
    digest = sha256(pickle.dumps(Trap())).hexdigest()
    edit_manifest(folder, files={"arrays.safetensors": digest})
    assert "damaged model" in refused(folder)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("file", ["arrays.safetensors", "networks/dcnn.onnx", "networks/networks.json"])
def test_a_changed_byte_is_noticed(folder: Path, file: str) -> None:
    content = bytearray((folder / file).read_bytes())
    content[-1] ^= 1
    (folder / file).write_bytes(content)
    line = refused(folder)
    assert file in line
    assert line.endswith("changed since the model was written; copy it again")


@pytest.mark.parametrize("file", ["manifest.json", "arrays.safetensors", "networks/dcnn.onnx"])
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    line = refused(folder)
    assert f"{file} is missing" in line
    assert "'budgetseg train' makes one" in line


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holidays").mkdir()
    (tmp_path / "holidays" / "photo.jpg").touch()
    assert "no model" in refused(tmp_path / "holidays")
    assert "no model" in refused(tmp_path / "nowhere")
    refused(tmp_path / "holidays" / "photo.jpg")


def test_another_format_is_refused(folder: Path) -> None:
    edit_manifest(folder, format=99)
    assert refused(folder).endswith("a model of format 99, not 2; train it again")


@pytest.mark.parametrize("size", [0, 4, 100, -1])
def test_arrays_that_are_cut_are_refused(folder: Path, size: int) -> None:
    path = folder / "arrays.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    assert "arrays.safetensors: changed" in refused(folder)
    edit_manifest(folder, files={path.name: sha256(path.read_bytes()).hexdigest()})
    assert "damaged model" in refused(folder)


@pytest.mark.parametrize("name", [*(f"h.{name}" for name in H_ARRAYS), *(f"crf.{name}" for name in CRF_ARRAYS)])
def test_an_array_that_is_missing_or_of_another_shape_is_named(folder: Path, name: str) -> None:
    change_arrays(folder, lambda arrays: arrays.update({name: arrays[name][:-1]}))
    assert f"{name} must be (" in refused(folder)
    change_arrays(folder, lambda arrays: arrays.pop(name))
    assert name in refused(folder)


def test_an_array_that_is_not_finite_is_named(folder: Path) -> None:
    change_arrays(folder, lambda arrays: arrays["crf.pair"].fill(np.nan))
    assert "crf.pair must be (3, 3) and finite" in refused(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"format": 2}', "\udcff"], ids=repr)
def test_a_manifest_that_is_none_is_refused(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_bytes(text.encode(errors="surrogateescape"))
    assert "damaged model" in refused(folder)


CHANGES: list[dict[str, object]] = [
    {"files": []},
    {"files": {}},
    {"lengths": []},
    {"lengths": [21, 5, 3, 4, 1, 1, 3]},
    {"lengths": "many"},
    {"descriptors": ["colour"]},
    {"classes": {"names": ["road"], "colours": [[0, 0, 0]]}},
    {"classes": {"names": ["road", "sky", "tree"], "colours": [[0, 0, 300]] * 3}},
    {"classes": {"names": ["road", "sky", "tree"], "colours": [[0, 0, 0]]}},
    {"contrast": None},
    {"contrast": float("nan")},
    {"settings": {}},
    {"settings": {"tier": 3}},
    {"settings": []},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_manifest_that_does_not_fit_the_arrays_is_refused(folder: Path, change: dict[str, object]) -> None:
    edit_manifest(folder, **change)
    refused(folder)


@pytest.mark.parametrize("name", ["/dev/zero", "../outside.onnx", "networks/pipe", "networks/link", "networks", "a\0b"])
def test_a_manifest_names_regular_files_of_its_folder_alone(folder: Path, name: str) -> None:
    (folder.parent / "outside.onnx").write_text("mine")
    os.mkfifo(folder / "networks" / "pipe")
    (folder / "networks" / "link").symlink_to("/dev/zero")
    files = json.loads((folder / "manifest.json").read_text())["files"]
    edit_manifest(folder, files={name: sha256(b"mine").hexdigest(), **files})
    assert "damaged model (ValueError" in refused(folder)


@pytest.mark.parametrize("name", ["hog.toml", "hog.onnx", "dcnn.onnx.data"])
def test_a_file_that_the_manifest_does_not_list_replaces_no_network(folder: Path, name: str) -> None:
    (folder / "networks" / name).write_text('file = "dcnn.onnx"\n')
    assert refused(folder).endswith("is not of the model, whose manifest does not list it; remove it")


@pytest.mark.parametrize("file", ["../../outside.onnx", "/dev/zero", "other.onnx"])
def test_a_card_of_a_model_names_a_network_of_the_model(folder: Path, file: str) -> None:
    card = folder / "networks" / "dcnn.toml"
    card.write_text(f'file = "{file}"\n')
    files = json.loads((folder / "manifest.json").read_text())["files"]
    edit_manifest(folder, files=files | {"networks/dcnn.toml": sha256(card.read_bytes()).hexdigest()})
    assert refused(folder).endswith("which is not of the model; copy the model again")


def test_a_file_of_another_size_is_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = json.loads((folder / "manifest.json").read_text())["sizes"]
    edit_manifest(folder, sizes=sizes | {"arrays.safetensors": 3})
    monkeypatch.setattr("budgetseg.models.bundle.digest_of", lambda _: pytest.fail("it was read"))
    assert "arrays.safetensors: changed" in refused(folder)


@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.float64, np.bool_])
def test_arrays_of_another_type_are_refused(folder: Path, dtype: type) -> None:
    change_arrays(folder, lambda arrays: arrays.update({"h.weights": arrays["h.weights"].astype(dtype)}))
    assert "h.weights" in refused(folder)


@pytest.mark.parametrize("scale", [0.0, -1.0])
def test_inputs_are_divided_by_no_zero(folder: Path, scale: float) -> None:
    change_arrays(folder, lambda arrays: arrays["h.scale"].fill(scale))
    assert "h.scale must be above 0" in refused(folder)


def test_a_model_over_another_keeps_nothing_of_it(model: Model, alone: NetworkModel, tmp_path: Path) -> None:
    save_model(alone, tmp_path / "model")
    (tmp_path / "model" / "notes.txt").write_text("mine")
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").networks is not None
    assert not (tmp_path / "model" / "networks" / "small.onnx").exists()
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"


PLAN = StaticPlan(0.1, ("hog",), "doubt", ("colour", "hog"), "unshared", rest=False)


def test_plans_come_back(model: Model, tmp_path: Path) -> None:
    save_model(replace(model, plans=(PLAN, StaticPlan(0.2, ("dcnn",), "random", tuple(LENGTHS)))), tmp_path / "model")
    first, second = load_model(tmp_path / "model").plans
    assert first == PLAN
    assert (second.among, second.costs) == (tuple(LENGTHS), "shared")


def test_a_model_from_before_there_were_plans_has_none(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["plans"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert load_model(folder).plans == ()


@pytest.mark.parametrize(
    "change",
    [
        {"budget_fraction": -1},
        {"budget_fraction": "much"},
        {"descriptors": []},
        {"descriptors": ["hof"]},
        {"order": "best"},
        {"among": None},
        {"among": ["colour", "hog", "hoof"]},
        {"costs": "free"},
        {"more": 1},
    ],
    ids=str,
)
def test_plans_that_make_no_sense_are_refused(folder: Path, change: dict[str, object]) -> None:
    edit_manifest(folder, plans=[asdict(PLAN) | change])
    assert "damaged model" in refused(folder)


def whole_policy() -> Baseline3Policy:
    values = np.random.default_rng(0).normal(size=(4, N_LEVELS, 3)).astype(np.float32)
    return Baseline3Policy(("hog", "dcnn"), "unshared", values)


def test_baseline3_comes_back(model: Model, tmp_path: Path) -> None:
    save_model(replace(model, baseline3=(whole_policy(),)), tmp_path / "model")
    (again,) = load_model(tmp_path / "model").baseline3
    assert (again.among, again.costs) == (("hog", "dcnn"), "unshared")
    assert np.array_equal(again.values, whole_policy().values)


def test_a_model_from_before_there_was_baseline3_has_none(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["wholes"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert load_model(folder).baseline3 == ()


@pytest.mark.parametrize("change", [{"among": ["hog"]}, {"among": ["hog", "hoof"]}, {"costs": "free"}], ids=str)
def test_policies_that_make_no_sense_are_refused(model: Model, tmp_path: Path, change: dict[str, object]) -> None:
    save_model(replace(model, baseline3=(whole_policy(),)), tmp_path / "other")
    edit_manifest(tmp_path / "other", wholes=[{"among": ["hog", "dcnn"], "costs": "shared"} | change])
    assert "damaged model" in refused(tmp_path / "other")


def learned_policy(method: str, seed: int) -> LearnedPolicy:
    shape = len(LENGTHS) + 1, n_features(len(LENGTHS), 3, True)
    weights = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    expected = Expected(0.02, 0.1, 0.2), Expected(0.5, 1 / 3, 2 / 3)
    policy, uses = LinearPolicy(weights, extended=True), (Uses(0.0, 1 + seed), Uses(0.5, -1))
    return LearnedPolicy(method, ("hog", "dcnn"), "unshared", policy, expected, uses)


@pytest.fixture
def decided(model: Model, tmp_path: Path) -> Path:
    """A model with learned policies, on disk."""
    policies = tuple(learned_policy(method, seed) for seed, method in enumerate(SELECTIONS))
    save_model(replace(model, policies=policies), tmp_path / "decided")
    return tmp_path / "decided"


def test_learned_policies_come_back(decided: Path) -> None:
    again = load_model(decided).policies
    assert [own.method for own in again] == list(SELECTIONS)
    for seed, own in enumerate(again):
        before = learned_policy(own.method, seed)
        assert (own.among, own.costs, own.expected) == (before.among, before.costs, before.expected)
        assert own.uses == before.uses == (Uses(0.0, 1 + seed), Uses(0.5, -1))
        assert isinstance(own.uses[0], Uses)
        assert isinstance(own.expected[0], Expected)
        assert own.policy.extended
        assert own.policy.noise == 0
        assert own.policy.weights.dtype == np.float32
        assert np.array_equal(own.policy.weights, before.policy.weights)
    save_model(load_model(decided), decided)
    assert np.array_equal(load_model(decided).policies[1].policy.weights, again[1].policy.weights)


def test_a_policy_from_before_uses_the_same_at_every_budget_or_all(decided: Path) -> None:
    manifest = json.loads((decided / "manifest.json").read_text())
    del manifest["policies"][0]["uses"]
    manifest["policies"][1]["uses"] = 3
    manifest["policies"][2]["uses"] = [[0.0, 1], [0.5, 2, 4.0]]  # and how eager it is, which is ignored
    (decided / "manifest.json").write_text(json.dumps(manifest))
    uses = [own.uses for own in load_model(decided).policies]
    assert uses == [(Uses(0.0, -1),), (Uses(0.0, 3),), (Uses(0.0, 1), Uses(0.5, 2))]


def test_a_model_from_before_there_were_learned_policies_has_none(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["policies"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert load_model(folder).policies == ()


def test_weights_of_another_shape_or_that_are_not_finite_are_refused(decided: Path) -> None:
    change_arrays(decided, lambda arrays: arrays["policies.1"].fill(np.nan))
    assert "weights of a policy must be finite" in refused(decided)
    change_arrays(decided, lambda arrays: arrays.update({"policies.1": np.zeros((6, 9), np.float32)}))
    assert f"weights of a policy must be (6, {n_features(5, 3, True)}). Got (6, 9)" in refused(decided)
    change_arrays(decided, lambda arrays: arrays.pop("policies.1"))
    assert "policies.1" in refused(decided)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "best"},
        {"method": None},
        {"among": ["hog", "hoof"]},
        {"among": None},
        {"costs": "free"},
        {"extended": False},
        {"expected": [[0.1, 0.2]]},
        {"expected": [["much", 0.2, 0.3]]},
        {"expected": [[0.1, float("nan"), 0.3]]},
        {"expected": [[0.2, 0.2, 0.3], [0.1, 0.2, 0.3]]},
    ],
    ids=str,
)
def test_learned_policies_that_make_no_sense_are_refused(decided: Path, change: dict[str, object]) -> None:
    cards = json.loads((decided / "manifest.json").read_text())["policies"]
    edit_manifest(decided, policies=[cards[0] | change, *cards[1:]])
    assert "damaged model" in refused(decided)


# Networks alone


@pytest.fixture
def alone(tmp_path: Path) -> NetworkModel:
    """Networks of two folders; the weights of one are stored beside it."""
    for name in ("a/big.onnx", "a/big.weights", "b/small.onnx"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"content of {name}")
    (tmp_path / "a/big.onnx").write_bytes(b"\n\x08location\x12\x0bbig.weights")
    cards = {
        "large": Card(tmp_path / "a/big.onnx", output="scores"),
        "small": Card(tmp_path / "b/small.onnx", map=(("lane", "road"),)),
    }
    return NetworkModel("pair", Classes.of(("road", "sky")), cards, {"learned from": ["drive.mp4"]})


def test_networks_alone_come_back_with_their_cards(alone: NetworkModel, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_model(alone, folder)
    again = load_any(folder)
    assert isinstance(again, NetworkModel)
    assert (again.name, again.settings, again.classes.names) == (alone.name, alone.settings, alone.classes.names)
    assert np.array_equal(again.classes.colours, alone.classes.colours)
    assert list(again.cards) == ["large", "small"]
    for name, card in again.cards.items():
        before = alone.cards[name]
        assert replace(card, file=before.file) == before
        assert card.file.read_bytes() == before.file.read_bytes()
    assert again.cards["large"].file.with_name("big.weights").read_text() == "content of a/big.weights"
    save_model(again, folder)
    assert list(load_any(folder).cards) == ["large", "small"]  # type: ignore[union-attr]


def test_networks_whose_weights_have_one_name_are_refused(alone: NetworkModel, tmp_path: Path) -> None:
    (tmp_path / "b/small.onnx").write_bytes(b"\n\x08location\x12\x0bbig.weights")
    (tmp_path / "b/big.weights").write_text("others")
    with pytest.raises(ModelError, match=r"b/big\.weights: another network has a file of this name; rename one"):
        save_model(alone, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_networks_alone_are_no_trained_model(alone: NetworkModel, tmp_path: Path) -> None:
    save_model(alone, tmp_path / "model")
    assert refused(tmp_path / "model").endswith("has networks alone; give a model that 'budgetseg train' made")


def test_a_trained_model_is_any_model(folder: Path) -> None:
    assert isinstance(load_any(folder), Model)


def test_a_changed_network_is_noticed(alone: NetworkModel, tmp_path: Path) -> None:
    save_model(alone, tmp_path / "model")
    (tmp_path / "model" / "networks" / "big.weights").write_text("other weights")
    assert "changed since the model was written" in refused(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    [
        {"networks": []},
        {"networks": ["moon"]},
        {"settings": 3},
        {"name": 3},
        {"classes": {"names": ["road"], "colours": []}},
    ],
    ids=str,
)
def test_a_damaged_model_of_networks_alone_is_refused(
    alone: NetworkModel, tmp_path: Path, change: dict[str, object]
) -> None:
    save_model(alone, tmp_path / "model")
    edit_manifest(tmp_path / "model", **change)
    refused(tmp_path / "model")


def test_what_networks_gain_comes_back_and_models_without_it_have_none(alone: NetworkModel, tmp_path: Path) -> None:
    save_model(alone, tmp_path / "plain")
    assert load_any(tmp_path / "plain").gains == {}
    gains = {"small": 0.0, "large": 2.5}
    save_model(replace(alone, gains=gains), tmp_path / "model")
    assert load_any(tmp_path / "model").gains == gains


def test_a_trained_model_has_what_its_networks_gain(folder: Path, tmp_path: Path) -> None:
    model = replace(load_model(folder), gains={"dcnn": 0.0})
    save_model(model, tmp_path / "again")
    assert load_model(tmp_path / "again").gains == {"dcnn": 0.0}


@pytest.mark.parametrize(
    "frames", [3, {}, {"gains": 3}, {"gains": {"moon": 1.0}}, {"gains": {"large": "much"}}, {"gains": {"large": 1e999}}]
)
def test_gains_that_do_not_fit_the_networks_are_refused(alone: NetworkModel, tmp_path: Path, frames: object) -> None:
    save_model(alone, tmp_path / "model")
    edit_manifest(tmp_path / "model", frames=frames)
    refused(tmp_path / "model")


def test_a_calibration_comes_back_and_can_be_changed_alone(model: Model, folder: Path) -> None:
    assert load_model(folder).calibration is None  # nobody has learned one
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.name != "manifest.json"}
    with_calibration(folder, calibration(len(model.classes)))
    found = load_model(folder).calibration
    assert found is not None
    assert found.weights == calibration().weights
    assert {path: path.read_bytes() for path in before} == before
    save_model(load_model(folder), folder)
    assert load_model(folder).calibration is not None
    with_calibration(folder, None)
    assert load_model(folder).calibration is None


def test_a_model_from_before_there_were_calibrations_has_none(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["calibration"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert load_model(folder).calibration is None


@pytest.mark.parametrize("change", [{"bias": "much"}, {"within": -1.0}, {"layout": [[[1.0]]]}])
def test_a_calibration_that_makes_no_sense_is_refused(model: Model, folder: Path, change: dict[str, object]) -> None:
    edit_manifest(folder, calibration=calibration(len(model.classes)).as_dict() | change)
    with pytest.raises(ModelError, match="damaged model"):
        load_model(folder)


def test_networks_alone_may_have_a_calibration(alone: NetworkModel, tmp_path: Path) -> None:
    known = calibration(len(alone.classes))
    save_model(replace(alone, calibration=known), tmp_path / "adapted")
    found = load_any(tmp_path / "adapted").calibration
    assert found is not None
    assert found.bias == known.bias
