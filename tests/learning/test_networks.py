"""Networks are trained where a training asks for them, once, and never where it does not."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from budgetseg.descriptors.describe import Description
from budgetseg.errors import UsageError
from budgetseg.learning.networks import with_networks
from budgetseg.networks import fit
from budgetseg.networks.recipe import NetworkRecipe
from budgetseg.networks.training import train_networks
from tests.learning.scenes import N_FRAMES, NAMES, write_scenes

RECIPE = NetworkRecipe(n_steps=2, batch=2)
N_FOLDS = 4  # as `with_networks` trains them


def silent(*_: object) -> Callable[[int], None]:
    return lambda _: None


def no_training(*_: object) -> None:
    raise AssertionError("trained, and should not have been")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Description:
    return Description("folder", write_scenes(tmp_path_factory.mktemp("scenes")))


def test_networks_are_trained_with_folds_and_only_once(
    plan: Description, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, reported = tmp_path / "networks", []

    def stage(what: str, total: int | None, unit: str) -> Callable[[int], None]:
        reported.append((what, total, unit))
        return steps.append

    for train in (train_networks, no_training):
        monkeypatch.setattr(fit, "train_networks", train)
        steps: list[int] = []
        found = with_networks(plan, folder, RECIPE, 1, stage)
        assert found == replace(plan, networks=folder)
        assert found.names[-2:] == ("dcnn", "dcnn_large")
        assert sum(steps) == (1 + N_FOLDS) * RECIPE.n_steps
    assert reported == 2 * [("networks", (1 + N_FOLDS) * RECIPE.n_steps, "steps")]
    card = json.loads((folder / "networks.json").read_text())
    assert card["classes"] == list(NAMES)
    assert len(card["seen"]) == sum(N_FRAMES[name] for name in "abcd")
    assert set(card["seen"].values()) == set(range(N_FOLDS))


@pytest.mark.parametrize("other", [{"descriptors": ("colour", "hog")}, {"networks": Path("mine")}])
def test_nothing_is_trained_that_is_not_asked_for_or_already_there(
    plan: Description, tmp_path: Path, other: dict[str, object]
) -> None:
    asked = replace(plan, **other)  # type: ignore[arg-type]
    assert with_networks(asked, tmp_path / "networks", RECIPE, 1, silent) == asked
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("other", "recipe", "line"),
    [
        ({"descriptors": ("dcnn", "hoof")}, RECIPE, "no descriptor 'hoof'"),
        ({"splits": ("blank",)}, RECIPE, "no frame of this split has labels"),
        ({"splits": ("test",)}, RECIPE, "labelled frames are all in one fold"),
        ({"splits": ("holidays",)}, RECIPE, "no split 'holidays'"),
        ({}, replace(RECIPE, device="abacus"), "no device 'abacus'"),
    ],
)
def test_what_makes_no_sense_is_told_before_any_training(
    plan: Description,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: dict[str, object],
    recipe: NetworkRecipe,
    line: str,
) -> None:
    monkeypatch.setattr(fit, "train_networks", no_training)
    with pytest.raises(UsageError, match=line):
        with_networks(replace(plan, **other), tmp_path / "networks", recipe, 1, silent)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_without_pytorch_the_ways_out_are_told_in_one_line(
    plan: Description, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("architecture", "augment", "export", "fit", "training"):
        monkeypatch.delitem(sys.modules, f"budgetseg.networks.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError) as error:
        with_networks(plan, tmp_path / "networks", RECIPE, 1, silent)
    assert str(error.value) == (
        "training networks needs torch; pip install 'budgetseg[train]', or give --networks, "
        "or use no network: --descriptors colour,hog,hof,mbh"
    )
    assert not list(tmp_path.iterdir())
