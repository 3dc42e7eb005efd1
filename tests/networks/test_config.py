"""JSON files beside an ONNX file, as of the Hugging Face hub, name classes and say how frames enter."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card, card_for
from budgetseg.networks.config import CONFIG, PREPROCESSOR, Config, config_of
from budgetseg.networks.inspect import facts
from budgetseg.networks.run import OnnxNetwork
from tests.networks.models import noise, save_mixer, save_model, save_operator, tensor

MIX = np.array([[1, 2, 3], [0, 0, -1], [4, 0, 0]], np.float32)
NAMES = {"0": "road", "1": "sky", "2": "car"}
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def write(folder: Path, name: str, **values: Any) -> None:
    (folder / name).write_text(json.dumps(values))


@pytest.mark.parametrize("inner", ["", "onnx"])
def test_classes_and_values_come_from_files_beside_the_network(tmp_path: Path, inner: str) -> None:
    write(tmp_path, CONFIG, id2label=NAMES, num_channels=3)
    write(tmp_path, PREPROCESSOR, do_normalize=True, image_mean=MEAN, image_std=STD)
    (tmp_path / inner).mkdir(exist_ok=True)
    network = OnnxNetwork(card_for(save_mixer(tmp_path / inner / "model.onnx", MIX)))
    assert network.names == ("road", "sky", "car")
    frame = noise(6, 8)
    wanted = (frame / 255 - np.array(MEAN)) / STD
    assert np.abs(network.tensor(frame)[0].transpose(1, 2, 0) - wanted).max() < 1e-4
    sources = {fact.what: fact.source for fact in facts(network)}
    assert (sources["classes"], sources["values"]) == (CONFIG, PREPROCESSOR)


def test_a_card_counts_more_than_these_files(tmp_path: Path) -> None:
    write(tmp_path, CONFIG, id2label=NAMES)
    write(tmp_path, PREPROCESSOR, image_mean=MEAN, image_std=STD)
    card = Card(save_mixer(tmp_path / "model.onnx", MIX), mean=(0.5,) * 3, classes=("a", "b", "c"))
    network = OnnxNetwork(card)
    assert (network.card, network.names) == (card, ("a", "b", "c"))


def test_names_of_classes_are_part_of_what_a_network_is_known_by(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "model.onnx", MIX)
    before = OnnxNetwork(Card(path)).digest
    write(tmp_path, CONFIG, id2label=NAMES)
    assert OnnxNetwork(Card(path)).digest != before


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"image_mean": [0.5] * 3, "image_std": [0.25] * 3}, (1.0, (0.5,) * 3, (0.25,) * 3)),
        ({"do_rescale": False, "image_mean": [99] * 3, "image_std": [50] * 3}, (255.0, (99.0,) * 3, (50.0,) * 3)),
        ({"do_normalize": False}, (1.0, (0.0,) * 3, (1.0,) * 3)),
        ({"do_normalize": False, "do_rescale": False}, (255.0, (0.0,) * 3, (1.0,) * 3)),
        ({"image_mean": [0.5], "image_std": [0.25]}, (None, None, None)),
        ({"image_mean": [0.5] * 3, "image_std": [0, 1, 1]}, (None, None, None)),
        ({}, (None, None, None)),
    ],
)
def test_values_are_read_as_they_are_meant(tmp_path: Path, values: dict[str, Any], found: tuple[Any, ...]) -> None:
    write(tmp_path, PREPROCESSOR, **values)
    config = config_of(tmp_path / "model.onnx")
    assert (config.scale, config.mean, config.std) == found


def test_without_such_files_nothing_is_said(tmp_path: Path) -> None:
    assert config_of(tmp_path / "model.onnx") == Config()
    for text in ("[1, 2]", "{ // of another program", '{"name": "another"}'):
        (tmp_path / CONFIG).write_text(text)
        assert config_of(tmp_path / "model.onnx") == Config()
    (tmp_path / CONFIG).write_bytes(b"\xff\xfe")
    assert config_of(tmp_path / "model.onnx") == Config()


def test_bytes_enter_as_they_are_whatever_these_files_say(tmp_path: Path) -> None:
    write(tmp_path, PREPROCESSOR, image_mean=MEAN, image_std=STD)
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)]
    path = save_model(
        tmp_path / "model.onnx", nodes, [tensor("x", TensorProto.UINT8, (1, 6, 8, 3))], [tensor("y", shape=None)]
    )
    assert OnnxNetwork(Card(path)).tensor(noise(6, 8)).dtype == np.uint8


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"id2label": {"0": "a", "1": "b"}}', "gives 3 classes, but config.json beside it names 2; name all of them"),
        ('{"id2label": {"0": "a", "7": "b"}}', "'id2label' of config.json beside it is no list of names"),
        ('{"id2label": {"0": "a", "1": "b", "2": "a"}}', "'id2label' of config.json beside it has the name 'a' more"),
    ],
)
def test_files_that_make_no_sense_are_one_line(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(ModelError) as caught:
        OnnxNetwork(Card(save_operator(tmp_path / "model.onnx", "Identity")))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
