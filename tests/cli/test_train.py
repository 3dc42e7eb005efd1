"""`budgetseg train`, as a user meets it."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.learning.networks import with_networks
from budgetseg.models.bundle import load_model
from budgetseg.networks import fit
from budgetseg.networks.training import train_networks
from tests.learning.scenes import NAMES, write_scenes


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenes(tmp_path_factory.mktemp("scenes"))


def test_the_help_teaches_the_command() -> None:
    result = CliRunner().invoke(app, ["train", "--help"], env={"COLUMNS": "200"})
    text = " ".join(result.stdout.split())
    assert result.exit_code == 0
    options = "--root --output --networks --network-steps --device --split --descriptors --per-frame --tier --balance"
    options += " --policies --no-policies --policy-methods --policy-costs --policy-limit --seed --work --threads"
    assert all(option in text for option in options.split())
    assert "Without --networks, two networks are trained first" in text
    assert "With --descriptors colour,hog,hof,mbh no network is trained" in text
    assert "the same command continues where it was" in text


def test_a_model_is_trained_from_end_to_end_and_again_in_no_time(root: Path, tmp_path: Path) -> None:
    words = ["train", "folder", "--root", str(root), "-o", str(tmp_path / "streets"), "--descriptors", "hog, hof"]
    words += ["--per-frame", "8", "--tier", "fast", "--threads", "2", "--balance", "0.3"]
    words += ["--policy-limit", "1", "--seed", "3", "--policy-methods", "budget-wanted, budget-rndrnk"]
    words += ["--policy-costs", "shared"]
    said, told, models = [], [], []
    for _ in range(2):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        said.append(result.stdout)
        told.append([line for line in result.stderr.splitlines() if line.startswith("budget-wanted-hog+hof-shared: ")])
        models.append(load_model(tmp_path / "streets"))
    model = models[0]
    assert told[0][0].split(": ")[1].startswith("CAPI ")
    assert not told[1]
    assert [(own.method, own.costs) for own in model.policies] == [
        (method, "shared") for method in ("budget-wanted", "budget-rndrnk")
    ]
    for one, other in zip(model.policies, models[1].policies, strict=True):
        assert np.array_equal(one.policy.weights, other.policy.weights)
    first, last = said[0].splitlines()
    assert first.startswith("Calibration error of H on held-out folds: ")
    assert 0 < float(first.split()[-2]) < 50
    assert last == f"The model is in {tmp_path / 'streets'}"
    assert said[1] == said[0]
    assert (model.name, model.classes.names, model.classifiers.names) == ("streets", NAMES, ("hog", "hof"))
    assert model.settings["tier"] == "fast"
    assert np.isfinite(model.crf.pair).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["streets", "streets-work"]
    assert json.loads((tmp_path / "streets" / "manifest.json").read_text())["format"] == 2


def test_networks_that_are_not_given_are_trained_first_and_only_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["train", "folder", "--root", str(root), "-o", str(tmp_path / "streets"), "--descriptors", "colour,dcnn"]
    words += ["--network-steps", "1", "--per-frame", "8", "--tier", "fast", "--threads", "1", "--rounds", "1"]
    words += ["--no-plans", "--no-policies"]
    monkeypatch.setattr("budgetseg.learning.train.with_networks", partial(with_networks, n_folds=2))
    said = []
    for train in (train_networks, None):
        monkeypatch.setattr(fit, "train_networks", train)
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.exception
        said.append(result.stdout)
    assert said[1] == said[0]
    model = load_model(tmp_path / "streets")
    assert model.classifiers.names == ("colour", "dcnn")
    assert model.networks is not None
    trained = tmp_path / "streets-work" / "networks"
    assert sorted(path.name for path in model.networks.iterdir()) == ["dcnn.onnx", "networks.json"]
    assert model.policies == ()
    assert (model.networks / "dcnn.onnx").read_bytes() == (trained / "dcnn.onnx").read_bytes()
    assert json.loads((trained / "networks.json").read_text())["recipe"]["n_steps"] == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--descriptors", "colour,hoof"], "no descriptor 'hoof'; choose from colour, hog, hof, mbh"),
        (["--device", "abacus"], "PyTorch has no device 'abacus' here; use 'cpu'"),
        (["--network-steps", "0"], "see budgetseg train --help"),
        (["--networks", "nowhere"], "no folder 'nowhere' of networks; 'budgetseg train-network' makes one"),
        (["--split", "holidays"], "no split 'holidays'"),
        (["--tier", "best"], "no supervoxel tier 'best'; choose from"),
        (["--balance", "2"], "see budgetseg train --help"),
        (["--per-frame", "0"], "see budgetseg train --help"),
        (["--threads", "0"], "see budgetseg train --help"),
        (["--policy-limit", "0"], "see budgetseg train --help"),
        (["--seed", "-1"], "see budgetseg train --help"),
        (["--policy-methods", "best"], "no policies for 'best'; choose from budget-rndrnk, budget-nhbrnk"),
        (["--policy-costs", "free"], "no policies for 'free'; choose from shared, unshared"),
        (["--root", "nowhere"], "nowhere"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_leaves_nothing(
    root: Path, tmp_path: Path, refused: Callable[..., str], words: list[str], line: str
) -> None:
    found = refused("train", "folder", "--root", root, "-o", tmp_path / "out", *words)
    assert found.startswith("budgetseg: ")
    assert line in found
    assert not list(tmp_path.iterdir())


def test_a_dataset_must_be_named(refused: Callable[..., str]) -> None:
    assert "missing argument 'dataset'" in refused("train").lower()
    assert "no dataset 'kitti'; choose from" in refused("train", "kitti")


def test_a_place_that_cannot_be_written_is_told_before_the_work(
    root: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    (tmp_path / "mine").write_text("mine")
    assert "cannot write" in refused("train", "folder", "--root", root, "-o", tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
