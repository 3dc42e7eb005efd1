"""What there is to know of a model before it labels."""

import json
from pathlib import Path

import pytest

from budgetseg.app.card import card_of
from budgetseg.errors import BudgetsegError
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from tests.app.streets import write_model, write_seeing_model


def test_a_card_has_the_facts_of_the_model(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "street")
    card, model = card_of(folder), load_model(folder)
    assert (card.name, card.folder, card.tier) == (model.name, folder, "fast")
    assert tuple(card.classes) == model.classes.names
    assert list(card.descriptors) == ["colour", "hog"]
    assert card.n_bytes == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert (list(card.networks), list(card.expected)) == ([], [])


def test_networks_are_those_that_the_model_brings(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    assert list(card_of(write_seeing_model(tmp_path / "seeing")).networks) == ["dcnn"]


def test_a_card_is_json_and_its_curve_rises_with_the_budget() -> None:
    card = card_of("camvid")
    stored = json.loads(json.dumps(card.as_dict()))
    assert stored["folder"] == str(find_model("camvid"))
    assert list(stored["expected"][0]) == ["budget_fraction", "class_average", "global"]
    fractions = [one["budget_fraction"] for one in stored["expected"]]
    assert fractions == sorted(fractions)


def test_a_model_that_is_damaged_has_no_card(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "street")
    (folder / "manifest.json").write_text("{}")
    with pytest.raises(BudgetsegError):
        card_of(folder)
