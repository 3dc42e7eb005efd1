"""Cards are read as written, and what is wrong with one is told in a line."""

from pathlib import Path

import pytest

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card, card_for, card_text, read_card

WHOLE = """
file = "model.onnx"
size = [512, 256]
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]
colours = "bgr"
output = "scores"
classes = ["road", "road", "", "car"]
longest = 768
multiple = 8
layout = "nhwc"
scale = 255
output_name = "masks"
output_layout = "nchw"
order = ["way", "car"]

[map]
road = "way"
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
    assert (card.size, card.mean, card.std, card.output, card.classes) == (None,) * 5
    assert (card.colours, card.scale, card.longest, card.multiple) == ("rgb", 1, 1024, 32)


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
        longest=768,
        multiple=8,
        layout="nhwc",
        scale=255,
        output_name="masks",
        output_layout="nchw",
        order=("way", "car"),
        map=(("road", "way"),),
    )


def test_a_card_that_is_written_says_the_same(tmp_path: Path) -> None:
    card = read_card(written(tmp_path, WHOLE))
    assert read_card(written(tmp_path, card_text(card, "model.onnx"))) == card
    assert card_text(Card(tmp_path / "net.onnx"), "net.onnx") == 'file = "net.onnx"\n'


def test_the_card_beside_a_network_is_read_with_it(tmp_path: Path) -> None:
    assert card_for(tmp_path / "net.onnx") == Card(tmp_path / "net.onnx")
    path = written(tmp_path, 'file = "other.onnx"')
    assert card_for(tmp_path / "net.onnx") == card_for(path) == Card(tmp_path / "other.onnx")


def test_a_file_of_another_kind_is_no_network(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no ONNX file and no TOML card; export the network to NAME\.onnx"):
        card_for(tmp_path / "net.pt")


def test_a_folder_is_refused_with_a_network_in_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is a folder; give an ONNX file or its TOML card; there is none in it"):
        card_for(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").touch()
    with pytest.raises(ModelError, match=r"its TOML card, such as '.*/onnx/model\.onnx'"):
        card_for(tmp_path)


def test_whole_numbers_are_numbers_too(tmp_path: Path) -> None:
    card = read_card(written(tmp_path, "mean = [0, 0, 0]\nstd = [1, 1, 1]"))
    assert (card.mean, card.std) == ((0, 0, 0), (1, 1, 1))


@pytest.mark.parametrize("key", ["sizes", '"a\\nb"'])
def test_an_unknown_key_is_refused_with_the_known_ones(tmp_path: Path, key: str) -> None:
    line = refusal(written(tmp_path, f"{key} = 1"))
    assert "unknown key" in line
    assert line.endswith("output_layout, classes, map, order")


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
        ("output", '"logits"', "'scores', 'probabilities', 'independent' or 'index'"),
        ("classes", "0", "a list of names, at least one of them not empty, or the number of classes"),
        ("longest", "0", "a whole number of pixels above 0"),
        ("multiple", "1.5", "a whole number of pixels above 0"),
        ("layout", '"chw"', "'nchw' or 'nhwc'"),
        ("output_layout", '"chw"', "'nchw' or 'nhwc'"),
        ("scale", "0", "a number above 0"),
        ("output_name", '""', "the name of an output"),
        ("map", '["a"]', "a table of names and new names"),
        ("map", "{ a = 1 }", "a table of names and new names"),
        ("order", '["road", ""]', "a list of names, none of them empty"),
        ("classes", '"road"', "a list of names, at least one of them not empty, or the number of classes"),
        ("classes", "[]", "a list of names, at least one of them not empty, or the number of classes"),
        ("classes", '["", ""]', "a list of names, at least one of them not empty, or the number of classes"),
        ("classes", '["road", 3]', "a list of names, at least one of them not empty, or the number of classes"),
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
