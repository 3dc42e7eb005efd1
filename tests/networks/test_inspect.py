"""What was understood of a network is told in words, with where it comes from."""

from pathlib import Path

import numpy as np

from budgetseg.networks.card import Card, read_card
from budgetseg.networks.inspect import card_to_edit, facts, summary
from budgetseg.networks.run import OnnxNetwork
from tests.networks.models import save_mixer

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
    assert summary(network) == "frames of 8x6, float32 nchw; scores, which get a softmax; 3 classes (tried)"


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
