"""Names of classes come from the card, the metadata, or numbers; the card merges, leaves out and orders them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card
from budgetseg.networks.names import channel_names, class_map

FILE = Path("net.onnx")
ABC = json.dumps(["a", "b", "c"])


def names_of(text: str, key: str = "names", n: int | None = 3, **card: Any) -> tuple[str, ...]:
    return channel_names(Card(FILE, **card), {key: text}, n).names


def refusal(text: str = ABC, n: int | None = 3, **card: Any) -> str:
    own = Card(FILE, **card)
    with pytest.raises(ModelError) as caught:
        class_map(own, channel_names(own, {"names": text} if text else {}, n))
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("net.onnx: ")
    return line


@pytest.mark.parametrize("key", ["classes", "names", "labels", "class_names", "id2label"])
@pytest.mark.parametrize(
    "text",
    [
        '["a", "b", "c"]',
        "['a', 'b', 'c']",
        "{0: 'a', 1: 'b', 2: 'c'}",
        '{"2": "c", "0": "a", "1": "b"}',
        "a, b, c",
        "a\nb\nc\n",
    ],
)
def test_metadata_may_hold_names_in_any_usual_form(key: str, text: str) -> None:
    assert names_of(text, key) == ("a", "b", "c")


def test_whole_numbers_are_names_too() -> None:
    assert names_of("[7, 8, 11]") == names_of("{0: 7, 1: 8, 2: 11}") == ("7", "8", "11")


def test_the_card_counts_more_than_metadata_and_metadata_more_than_numbers() -> None:
    card = Card(FILE, classes=("x", "y", "z"))
    assert channel_names(card, {"names": ABC}, 3) == (("x", "y", "z"), "card")
    assert channel_names(Card(FILE), {"names": ABC}, 3) == (("a", "b", "c"), "metadata")
    assert channel_names(Card(FILE), {"author": "me"}, 3) == (("0", "1", "2"), "numbers")
    assert channel_names(Card(FILE, classes=3), {"names": '["a"]'}, 3) == (("0", "1", "2"), "numbers")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('["a", "b", "a"]', "'names' of its metadata has the name 'a' more than once; name the classes by 'classes'"),
        ('["a", "b"]', "gives 3 classes, but its metadata names 2; name all of them by 'classes' in a TOML file"),
        ("[0.1, 0.2, 0.3]", "'names' of its metadata is no list of names"),
        ('["a", "b", ["c"]]', "'names' of its metadata is no list of names"),
        ('{"a": 0, "b": 1}', "'names' of its metadata is no list of names"),
        ("{0: 'a', 2: 'b'}", "'names' of its metadata is no list of names"),
    ],
)
def test_metadata_that_cannot_be_meant_is_refused(text: str, line: str) -> None:
    assert line in refusal(text)


def test_names_that_repeat_in_a_card_are_added_up() -> None:
    card = Card(FILE, classes=("a", "", "a"))
    found = class_map(card, channel_names(card, {}, 3))
    assert found.names == ("a",)
    assert found.groups.tolist() == [[1, 0, 1]]


def test_a_map_renames_merges_and_leaves_out_by_name() -> None:
    card = Card(FILE, map=(("a", "way"), ("b", "way"), ("c", "")))
    found = class_map(card, channel_names(card, {"names": json.dumps(["a", "b", "c", "d"])}, 4))
    assert found.names == ("way", "d")
    assert found.channels.tolist() == [0, 0, -1, 1]
    assert not found.is_plain


def test_an_order_puts_classes_in_order() -> None:
    card = Card(FILE, order=("c", "a", "b"))
    found = class_map(card, channel_names(card, {"names": ABC}, 3))
    assert found.names == ("c", "a", "b")
    assert found.channels.tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("card", "line"),
    [
        ({"map": (("d", "a"),)}, "'map' names the class 'd'; choose from a, b, c"),
        ({"map": (("a", ""), ("b", ""), ("c", ""))}, "'map' leaves no class; keep one"),
        ({"order": ("a", "b", "d")}, "'order' names the class 'd'; choose from a, b, c"),
        ({"order": ("a", "b")}, "'order' lacks c; give each class once"),
        ({"order": ("a", "b", "c", "a")}, "'order' has a name twice; give each class once"),
        ({"classes": ("a", "b")}, "gives 3 classes, but 'classes' of its TOML file names 2; correct it"),
        ({"classes": 4}, "gives 3 classes, but 'classes' of its TOML file names 4; correct it"),
    ],
)
def test_a_card_that_names_what_is_not_there_is_refused(card: dict[str, Any], line: str) -> None:
    assert line in refusal(**card)


def test_more_classes_than_labels_can_tell_apart_are_refused_unless_merged() -> None:
    assert "has 256 classes, and labels can tell 255 apart; merge some by 'map'" in refusal("", n=256)
    card = Card(FILE, map=(("255", "254"),))
    assert len(class_map(card, channel_names(card, {}, 256)).names) == 255


def test_classes_are_put_in_another_order_by_name_and_numbers_take_any_names() -> None:
    card = Card(FILE)
    named = class_map(card, channel_names(card, {"names": ABC}, 3)).among(("c", "a", "b"))
    assert (named.names, named.channels.tolist()) == (("c", "a", "b"), [1, 2, 0])
    numbered = class_map(card, channel_names(card, {}, 3)).among(("x", "y", "z"))
    assert (numbered.names, numbered.channels.tolist()) == (("x", "y", "z"), [0, 1, 2])
    unknown = class_map(card, channel_names(card, {}, None)).among(("x", "y"))
    assert unknown.channels[:3].tolist() == [0, 1, -1]
    assert np.array_equal(unknown.groups.sum(axis=1), [1, 1])
