"""Cards are read as written, and what is wrong with one is told in a line."""

from pathlib import Path

import pytest

from budgetseg.errors import ModelError
from budgetseg.networks import MEAN, STD
from budgetseg.networks.card import Card, read_card

WHOLE = """
file = "model.onnx"
size = [512, 256]
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]
colours = "bgr"
output = "scores"
classes = ["road", "road", "", "car"]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "net.toml"
    path.write_text(text)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        read_card(path)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line


def test_an_onnx_file_alone_is_a_network_of_our_own(tmp_path: Path) -> None:
    card = read_card(tmp_path / "net.onnx")
    assert card == Card(tmp_path / "net.onnx")
    assert (card.mean, card.std) == ((MEAN,) * 3, (STD,) * 3)
    assert (card.size, card.colours, card.output, card.classes) == (None, "rgb", "probabilities", None)


def test_an_empty_card_says_the_same_as_none(tmp_path: Path) -> None:
    assert read_card(written(tmp_path, "")) == read_card(tmp_path / "net.onnx")


def test_every_key_is_taken_as_written(tmp_path: Path) -> None:
    assert read_card(written(tmp_path, WHOLE)) == Card(
        file=tmp_path / "model.onnx",
        size=(512, 256),
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
        colours="bgr",
        output="scores",
        classes=("road", "road", "", "car"),
    )


def test_whole_numbers_are_numbers_too(tmp_path: Path) -> None:
    card = read_card(written(tmp_path, "mean = [0, 0, 0]\nstd = [1, 1, 1]"))
    assert (card.mean, card.std) == ((0, 0, 0), (1, 1, 1))


@pytest.mark.parametrize("key", ["sizes", '"a\\nb"'])
def test_an_unknown_key_is_refused_with_the_known_ones(tmp_path: Path, key: str) -> None:
    line = refusal(written(tmp_path, f"{key} = 1"))
    assert "unknown key" in line
    assert line.endswith("choose from file, size, mean, std, colours, output, classes")


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [
        ("file", '""', "the name of an ONNX file"),
        ("file", "3", "the name of an ONNX file"),
        ("size", "512", "width and height, two whole numbers above 0"),
        ("size", "[512]", "width and height, two whole numbers above 0"),
        ("size", "[512, 0]", "width and height, two whole numbers above 0"),
        ("size", "[512.0, 256.0]", "width and height, two whole numbers above 0"),
        ("size", "[true, true]", "width and height, two whole numbers above 0"),
        ("mean", "0.5", "three numbers"),
        ("mean", "[0.5, 0.5]", "three numbers"),
        ("mean", '["a", "b", "c"]', "three numbers"),
        ("mean", "[0.5, nan, 0.5]", "three numbers"),
        ("std", "[1, 1, 0]", "three numbers above 0"),
        ("std", "[1, nan, 1]", "three numbers above 0"),
        ("std", "[1, inf, 1]", "three numbers above 0"),
        ("colours", '"RGB"', "'rgb' or 'bgr'"),
        ("colours", "[]", "'rgb' or 'bgr'"),
        ("output", '"logits"', "'scores' or 'probabilities'"),
        ("classes", '"road"', "a list of names, at least one of them not empty"),
        ("classes", "[]", "a list of names, at least one of them not empty"),
        ("classes", '["", ""]', "a list of names, at least one of them not empty"),
        ("classes", '["road", 3]', "a list of names, at least one of them not empty"),
    ],
)
def test_a_wrong_value_is_refused_with_its_rule(tmp_path: Path, key: str, value: str, rule: str) -> None:
    assert f"'{key}' must be {rule}. Got " in refusal(written(tmp_path, f"{key} = {value}"))


@pytest.mark.parametrize("text", ["size = [", "size", "size = [1, 2]\nsize = [1, 2]", "size = 'a\nb'"])
def test_broken_toml_is_refused_with_the_place(tmp_path: Path, text: str) -> None:
    line = refusal(written(tmp_path, text))
    assert "not readable as TOML" in line
    assert "(at " in line


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "not readable as TOML" in refusal(path)


def test_a_missing_card_is_told(tmp_path: Path) -> None:
    assert "missing" in refusal(tmp_path / "net.toml")
