"""`budgetseg models`: what is bundled, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.models.bundle import load_model, save_model
from budgetseg.models.find import bundled_models, find_model
from tests.models.made import HAND_MADE, random_model


def told(*words: str) -> str:
    result = CliRunner().invoke(app, ["models", *words])
    assert result.exit_code == 0
    return result.stdout


def test_every_bundled_model_is_listed_with_what_it_promises() -> None:
    text = told()
    for name in bundled_models():
        assert name in text
    header = next(line for line in text.splitlines() if line.startswith("budget"))
    assert header.split() == ["budget", *bundled_models()]


@pytest.mark.parametrize("name", bundled_models())
def test_the_facts_of_one_are_those_of_its_files(name: str) -> None:
    (card,) = json.loads(told(name, "--json"))
    model = load_model(find_model(name))
    assert (card["name"], card["dataset"]) == (name, name)
    assert card["classes"] == list(model.classes.names)
    assert set(card["networks"]) <= set(card["descriptors"]) == set(model.classifiers.names)
    curve = [(one["budget_fraction"], one["class_average"], one["global"]) for one in card["expected"]]
    assert curve in [list(own.expected) for own in model.policies]
    assert curve == sorted(curve)
    text = told(name)
    assert all(own in text for own in (*model.classes.names, *model.classifiers.names, str(find_model(name))))


def test_a_model_without_a_policy_promises_nothing(tmp_path: Path) -> None:
    save_model(random_model(HAND_MADE), tmp_path / "mine")
    assert "the model has no learned policy" in told(str(tmp_path / "mine"))


def test_a_model_that_is_not_there_is_refused_with_those_that_are(refused: Callable[..., str]) -> None:
    assert f"no model 'moon'; choose from {', '.join(bundled_models())}, or give" in refused("models", "moon")


def test_a_damaged_one_is_refused_in_one_line_by_whoever_loads_it(refused: Callable[..., str], tmp_path: Path) -> None:
    place = tmp_path / "mine"
    save_model(random_model(HAND_MADE), place)
    whole = (place / "arrays.safetensors").read_bytes()
    (place / "arrays.safetensors").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "changed since the model was written" in refused("models", place)
    (place / "manifest.json").write_text('{"format": 99}')
    assert "a model of format 99, not 2" in refused("models", place)
    (place / "manifest.json").write_bytes(b"\x80\x04cos\nsystem\n.")  # a pickle is not read
    assert "damaged model" in refused("models", place)
