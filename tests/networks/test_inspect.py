"""What was understood of a network is told in words, with where it comes from."""

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from budgetseg.networks.card import Card, read_card
from budgetseg.networks.inspect import card_to_edit, facts, summary
from budgetseg.networks.run import OnnxNetwork
from tests.networks.models import save_mixer, save_model, tensor

MIX = np.array([[1, 2, 3], [0, 0, -1], [4, 0, 0]], np.float32)


def test_facts_say_where_they_come_from(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", MIX, (1, 3, "h", "w"), stride=2)
    plain = {fact.what: fact for fact in facts(OnnxNetwork(Card(path)))}
    assert (plain["frames"].source, plain["values"].source, plain["holds"].source) == ("default", "default", "tried")
    card = Card(path, size=(8, 6), mean=(0.5,) * 3, output="scores", classes=("a", "b", "c"))
    told = {fact.what: fact for fact in facts(OnnxNetwork(card))}
    assert {told[what].source for what in ("frames", "values", "holds", "classes")} == {"card"}
    assert told["frames"].value == "8x6"
    assert told["cells"].value == "4x3, one for 2 pixels of the width"
    assert told["classes"].value == "3: a, b, c"


def test_a_summary_is_a_line(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", MIX)))
    assert summary(network) == (
        "frames of 8x6, float32 nchw; mean and std are guessed, a card can say them; scores, which get a softmax; "
        "3 classes (tried)"
    )
    known = OnnxNetwork(Card(network.card.file, mean=(0.5,) * 3, classes=("a", "b", "c")))
    assert summary(known) == "frames of 8x6, float32 nchw; scores, which get a softmax; 3 classes (card)"


@pytest.mark.parametrize(
    ("operators", "meaning"),
    [
        ((), "a score of one class against the rest, which gets a sigmoid"),
        (("Sigmoid",), "the probability of one class against the rest"),
        (("Sigmoid", "Squeeze"), "the probability of one class against the rest"),
    ],
)
def test_one_channel_is_a_class_and_the_rest(tmp_path: Path, operators: tuple[str, ...], meaning: str) -> None:
    nodes = [helper.make_node("Conv", ["x", "weights"], ["y0"])]
    nodes += [helper.make_node(own, [f"y{k}"], [f"y{k + 1}"]) for k, own in enumerate(operators)]
    outputs = [tensor(f"y{len(operators)}", shape=None)]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x")], outputs, MIX[:1, :, None, None])
    found = {fact.what: fact.value for fact in facts(OnnxNetwork(Card(path)))}
    assert found["holds"] == meaning
    assert found["classes"] == "2 numbers: 0 is the rest, 1 the class"
    assert found["cells"] == "8x6, one for 1 pixel of the width"


def test_outputs_that_are_not_used_are_named(tmp_path: Path) -> None:
    nodes = [helper.make_node("Conv", ["x", "weights"], ["main"]), helper.make_node("Identity", ["x"], ["aux"])]
    outputs = [tensor("aux", shape=None), tensor("main", shape=None)]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x")], outputs, MIX[:2, :, None, None])
    for card, others in ((Card(path), "'main'"), (Card(path, classes=("a", "b")), "'aux'")):
        found = {fact.what: fact.value for fact in facts(OnnxNetwork(card))}
        assert found["not used"] == f"{others}; 'output_name' in the card chooses another"


def test_a_card_to_edit_keeps_what_a_card_said(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", MIX, (1, 3, "h", "w"))
    card = Card(
        path,
        size=(8, 6),
        colours="bgr",
        scale=255,
        mean=(100, 110, 120),
        std=(50, 60, 70),
        output="scores",
        classes=("a", "b", "c"),
        map=(("a", 'the "first"'),),
        order=("c", 'the "first"', "b"),
    )
    (tmp_path / "net.toml").write_text(card_to_edit(OnnxNetwork(card), "net.onnx"))
    again = read_card(tmp_path / "net.toml")
    for name in ("size", "colours", "scale", "mean", "std", "output", "classes", "map", "order"):
        assert getattr(again, name) == getattr(card, name), name
    assert (again.layout, again.output_name, again.output_layout) == ("nchw", "y", "nchw")
