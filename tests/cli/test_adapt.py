"""`budgetseg adapt`, as a user meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.app.model import load
from budgetseg.cli.app import app
from tests.app.streets import SIZE, write_street
from tests.networks.models import save_mixer

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_street(tmp_path_factory.mktemp("videos") / "street.mp4")


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options that name two networks."""
    folder = tmp_path_factory.mktemp("networks")
    words = []
    for seed, (name, stride) in enumerate((("small", 8), ("large", 2))):
        weights = np.random.default_rng(seed).normal(size=(3, 3)).astype(np.float32)
        path = save_mixer(folder / f"{name}.onnx", weights, (1, 3, SIZE[1], SIZE[0]), stride)
        path.with_suffix(".toml").write_text('output = "scores"\n')
        words += ["--network", str(path)]
    return words


def run(*words: object) -> str:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_help_teaches_the_command() -> None:
    result = CliRunner().invoke(app, ["adapt", "--help"], env={"COLUMNS": "200"})
    text = " ".join(result.stdout.split())
    assert all(option in text for option in ["--output", "--model", "--network", "--time", "--threads", "--json"])
    assert "The truth is what the dearest network predicts" in text
    assert "budgetseg label drive3.mp4 --model mine" in text


def test_networks_are_adapted_and_the_model_labels_with_what_was_measured(
    street: Path, networks: list[str], tmp_path: Path
) -> None:
    model = tmp_path / "mine"
    shown = run("adapt", street, *networks, "-o", model)
    assert "points over the cheapest" in shown
    assert f"The model is in {model}" in shown
    stored = json.loads((model / "manifest.json").read_text())["frames"]["gains"]
    space = load(model).frames
    assert space is not None
    assert space.settings.losses.gains == stored
    (ledger,) = json.loads(run("label", street, "--model", model, "--budget", "1s", "-o", tmp_path / "out", "--json"))[
        "ledgers"
    ]
    assert set(ledger["sources"]) <= {"small", "large"}


def test_real_clips_adapt_the_bundled_networks(data_root: Path, tmp_path: Path) -> None:
    clip = data_root / "clips" / "carphone_pristine.mp4"
    found = json.loads(run("adapt", clip, "--time", "1ms", "-o", tmp_path / "mine", "--json"))
    assert list(found["network_s"]) == ["dcnn", "dcnn_large"]
    assert found["gains"]["dcnn_large"] > found["gains"]["dcnn"] == 0
    assert (found["n_asked"], found["n_frames"]) == (4, 120)


def test_bad_input_is_refused_in_a_line_and_nothing_is_left(
    refused: Callable[..., str], street: Path, networks: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (tmp_path / "broken.mp4").write_text("no video")
    there = tmp_path / "there"
    there.mkdir()
    short = write_street(tmp_path / "short.mp4", 2)
    assert "there is no video at" in refused("adapt", tmp_path / "gone.mp4", "-o", out)
    assert "broken.mp4" in refused("adapt", tmp_path / "broken.mp4", "-o", out)
    assert "there is only 'small'; give two or more" in refused("adapt", street, *networks[:2], "-o", out)
    assert "there is none; give two or more" in refused("adapt", street, "--model", "synthetic", "-o", out)
    assert "has 2 frames; give videos of 4 or more" in refused("adapt", short, *networks, "-o", out)
    assert "is there already; give another folder with -o" in refused("adapt", street, *networks, "-o", there)
    assert "cannot be combined" in refused("adapt", street, *networks, "--model", "camvid", "-o", out)
    assert "--time must be a time" in refused("adapt", street, *networks, "--time", "20%", "-o", out)
    assert "no model 'moon'" in refused("adapt", street, "--model", "moon", "-o", out)
    assert not out.exists()
