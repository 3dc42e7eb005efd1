"""Networks that the project has never seen label a video, and `budgetseg network inspect` tells what is understood."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from typer.testing import CliRunner

import budgetseg
from budgetseg.cli.app import app
from budgetseg.colours import palette
from budgetseg.networks.card import card_for
from budgetseg.networks.run import OnnxNetwork
from budgetseg.video import open_video, read_label_pngs
from tests.app.streets import write_street
from tests.networks.architectures import CITYSCAPES, IndexMap, Stride8, UNet, save_bytes, save_torch
from tests.networks.models import FLOAT, noise, save_mixer, save_model, save_operator, tensor

SAME = np.eye(3, dtype=np.float32)


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_street(tmp_path_factory.mktemp("videos") / "street.mp4")


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks")
    names = {"classes": json.dumps(CITYSCAPES)}
    save_torch(folder / "unet.onnx", UNet(19), (160, 128), metadata=names)
    save_torch(folder / "open.onnx", Stride8(19), is_open=True, metadata=names)
    save_torch(folder / "index.onnx", IndexMap(19), outputs=("logits", "index"))
    (folder / "index.toml").write_text('output_name = "index"\n')
    save_bytes(folder / "bytes.onnx", 19)
    return folder


def run(*words: object) -> str:
    result = CliRunner().invoke(app, list(map(str, words)))
    said = [line for line in result.stderr.splitlines() if not line.endswith("once on this machine ...")]
    assert (result.exit_code, said) == (0, []), result.output
    return result.stdout


# Labelling


def test_two_networks_label_a_clip_and_a_replay_is_the_same(networks: Path, data_root: Path, tmp_path: Path) -> None:
    clip = data_root / "clips" / "carphone_pristine.mp4"
    given = ["--network", networks / "unet.onnx", "--network", networks / "open.onnx"]
    (ledger,) = json.loads(run("label", clip, *given, "--budget", "1s", "-o", tmp_path / "out", "--json"))["ledgers"]
    assert ledger["space"] == "frames"
    assert ledger["model"]["name"] == "unet+open"
    assert sum(entry["count"] for entry in ledger["sources"].values()) > 0
    run("label", clip, "--replay", tmp_path / "out", "-o", tmp_path / "again")
    run("label", clip, *given, "--replay", tmp_path / "out", "-o", tmp_path / "given")
    first, again, also = (read_label_pngs(tmp_path / name / "labels") for name in ("out", "again", "given"))
    assert first.max() < 19
    assert len(np.unique(first)) > 1
    assert np.array_equal(first, again)
    assert np.array_equal(first, also)
    model = json.loads((tmp_path / "out" / "trace.json").read_text())["model"]
    assert model["classes"] == list(CITYSCAPES)
    assert model["colours"] == palette(CITYSCAPES).tolist()
    assert [network["path"] for network in model["networks"]] == [str(path) for path in given[1::2]]


@pytest.mark.parametrize("names", [("index",), ("bytes",), ("index", "open"), ("bytes", "unet", "open", "index")])
def test_networks_of_any_kind_label_a_video(
    networks: Path, street: Path, tmp_path: Path, names: tuple[str, ...]
) -> None:
    given = [word for name in names for word in ("--network", networks / f"{name}.onnx")]
    (ledger,) = json.loads(run("label", street, *given, "--budget", "inf", "-o", tmp_path / "out", "--json"))["ledgers"]
    assert sum(entry["count"] for entry in ledger["sources"].values()) >= 12
    assert not ledger["work_left"]
    assert read_label_pngs(tmp_path / "out" / "labels").max() < 19


def test_a_single_network_on_every_frame_gives_its_own_labels(networks: Path, street: Path) -> None:
    model = budgetseg.load(networks=[networks / "open.onnx"], threads=1)
    result = model.label(street, budget_s=float("inf"))
    assert result.classes.names == CITYSCAPES
    network = OnnxNetwork(card_for(networks / "open.onnx"))
    frames = [frame.pixels for frame in open_video(street)]
    for labels, frame in zip(result.labels, frames, strict=True):
        own = network(frame).argmax(axis=2)
        rows = (np.arange(labels.shape[0]) + 0.5) * own.shape[0] / labels.shape[0]
        columns = (np.arange(labels.shape[1]) + 0.5) * own.shape[1] / labels.shape[1]
        shown = own[rows.astype(int)[:, None], columns.astype(int)]
        assert (labels == shown).mean() > 0.8


def test_a_run_is_resumed_by_the_networks_of_its_trace(networks: Path, street: Path, tmp_path: Path) -> None:
    given = ["--network", networks / "open.onnx", "--network", networks / "bytes.onnx"]
    run("label", street, *given, "--budget", "0.3s", "-o", tmp_path / "out")
    run("label", street, "--budget", "0.3s", "--resume", tmp_path / "out", "-o", tmp_path / "more")
    traces = [json.loads((tmp_path / name / "trace.json").read_text()) for name in ("out", "more")]
    assert traces[0]["sources"] == traces[1]["sources"]
    assert traces[0]["model"] == traces[1]["model"]


def test_a_network_that_has_changed_is_refused(
    refused: Callable[..., str], networks: Path, street: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(networks / "bytes.onnx", tmp_path / "net.onnx"))
    run("label", street, "--network", path, "--budget", "0.3s", "-o", tmp_path / "out")
    before = path.read_bytes()
    save_bytes(path, 7)
    line = refused("label", street, "--replay", tmp_path / "out", "-o", tmp_path / "again")
    assert f"'{path}' or its card has changed since the earlier run; give the file as it was" in line
    path.write_bytes(before)
    (tmp_path / "net.toml").write_text('colours = "bgr"\n')
    assert "has changed since" in refused("label", street, "--replay", tmp_path / "out", "-o", tmp_path / "again")
    path.unlink()
    line = refused("label", street, "--replay", tmp_path / "out", "-o", tmp_path / "again")
    assert f"'{path}', a network of the earlier run, is not there; give its networks with --network" in line
    other = networks / "unet.onnx"
    line = refused("label", street, "--replay", tmp_path / "out", "--network", other, "-o", tmp_path / "again")
    assert "the earlier run was by the networks net, not unet; give those with --network" in line
    assert not (tmp_path / "again").exists()


def test_people_are_told_what_was_understood(networks: Path, street: Path, tmp_path: Path) -> None:
    given = ["--network", networks / "bytes.onnx", "--network", networks / "index.onnx"]
    lines = run("label", street, *given, "--budget", "0.3s", "-o", tmp_path / "out").splitlines()
    assert lines[0] == "bytes: frames of 64x48, uint8 nhwc; scores, which get a softmax; 19 classes (tried)"
    assert lines[1].startswith(
        "index: frames of 64x48, float32 nchw; mean and std are guessed, a card can say them; the number of the class; "
        "how many classes is not known"
    )


def test_a_card_in_place_of_the_file_is_read(networks: Path, street: Path, tmp_path: Path) -> None:
    names = [f"thing {k // 2}" for k in range(19)]
    card = tmp_path / "card.toml"
    card.write_text(f"file = {json.dumps(str(networks / 'bytes.onnx'))}\nclasses = {json.dumps(names)}\n")
    run("label", street, "--network", card, "--budget", "0.3s", "-o", tmp_path / "out")
    trace = json.loads((tmp_path / "out" / "trace.json").read_text())
    assert trace["model"]["classes"] == [f"thing {k}" for k in range(10)]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--model", "camvid"], "--network and --model cannot be combined; give one of them"),
        (["--space", "regions"], "--space regions needs a model that 'budgetseg train' made"),
        (["--space", "supervoxels"], "--space regions needs a model that 'budgetseg train' made"),
        (["--policy", "static"], "--policy needs a model that 'budgetseg train' made"),
        (["--select", "large"], "--select needs a model that 'budgetseg train' made"),
        (["--scope", "descriptors"], "--scope descriptors needs a model that 'budgetseg train' made"),
    ],
)
def test_options_that_need_a_trained_model_are_refused(
    refused: Callable[..., str], networks: Path, street: Path, tmp_path: Path, options: list[str], line: str
) -> None:
    given = ["--network", networks / "unet.onnx", "-o", tmp_path / "out"]
    assert line in refused("label", street, *given, "--budget", "1s", *options)
    assert not list(tmp_path.iterdir())


def test_a_target_accuracy_needs_a_trained_model(
    refused: Callable[..., str], networks: Path, street: Path, tmp_path: Path
) -> None:
    given = ["--network", networks / "unet.onnx", "-o", tmp_path / "out", "--target-accuracy", "0.8"]
    assert "--target-accuracy needs a model that 'budgetseg train' made" in refused("label", street, *given)
    assert not list(tmp_path.iterdir())


def broken(folder: Path) -> dict[str, tuple[Path, str]]:
    """Files that are no network for frames, and what the line about each says."""
    folder.mkdir()
    whole = save_mixer(folder / "whole.onnx", SAME).read_bytes()
    (folder / "text.onnx").write_text("a text\n")
    (folder / "half.onnx").write_bytes(whole[: len(whole) // 2])
    nodes = [helper.make_node("Add", ["x", "z"], ["y"])]
    two = save_model(folder / "two.onnx", nodes, [tensor("x"), tensor("z")], [tensor("y")])
    nan = save_mixer(folder / "nan.onnx", np.full((3, 3), np.nan, np.float32))
    save_mixer(folder / "missing.onnx", SAME)
    (folder / "missing.toml").write_text('[map]\nlorry = "car"\n')
    return {
        "text": (folder / "text.onnx", "is no ONNX file, or is damaged"),
        "half": (folder / "half.onnx", "is no ONNX file, or is damaged"),
        "gone": (folder / "gone.onnx", "no such file"),
        "weights": (folder / "weights.pt", "no ONNX file and no TOML card"),
        "custom": (save_operator(folder / "custom.onnx", "Frobnicate"), "needs the operator 'Frobnicate'"),
        "two": (two, "must have one input"),
        "sound": (save_mixer(folder / "sound.onnx", np.ones((3, 1), np.float32), (1, 1, 6, 8)), "must have one input"),
        "nan": (nan, "gives NaN"),
        "class": (save_operator(folder / "class.onnx", "GlobalAveragePool", FLOAT), "a value for each pixel"),
        "missing": (folder / "missing.onnx", "'map' names the class 'lorry'; choose from 0, 1, 2"),
        "many": (save_mixer(folder / "many.onnx", np.ones((256, 3), np.float32)), "has 256 classes"),
    }


@pytest.mark.parametrize(
    "name", ["text", "half", "gone", "weights", "custom", "two", "sound", "nan", "class", "missing", "many"]
)
def test_a_file_that_is_no_network_is_one_line_and_leaves_nothing(
    refused: Callable[..., str], street: Path, tmp_path: Path, name: str
) -> None:
    path, what = broken(tmp_path / "networks")[name]
    before = sorted((tmp_path / "networks").iterdir())
    for words in (
        ["label", street, "--budget", "1s", "-o", tmp_path / "out", "--network", path],
        ["network", "inspect", path, "-o", tmp_path / "card.toml"],
    ):
        line = refused(*words)
        assert str(path) in line
        assert what in line
    assert [place.name for place in tmp_path.iterdir()] == ["networks"]
    assert sorted((tmp_path / "networks").iterdir()) == before


# Looking


def test_a_network_is_described_with_where_each_fact_comes_from(networks: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(networks / "open.onnx", tmp_path / "net.onnx"))
    lines = run("network", "inspect", path).splitlines()
    assert lines[0].split() == ["what", "understood", "from"]
    facts = {line.split("  ")[0]: line for line in lines}
    assert facts["frames"].endswith("default")
    assert "multiples of 32" in facts["frames"]
    assert facts["layout"].endswith("file")
    assert facts["holds"].split() == ["holds", "probabilities", "tried"]
    assert "40x32, one for 8 pixels" in facts["cells"]
    assert facts["classes"].split()[1:4] == ["19:", "road,", "sidewalk,"]
    assert facts["classes"].endswith("metadata")
    assert lines[-1] == f"The card is {tmp_path / 'net.toml'}"


@pytest.mark.parametrize("name", ["unet", "open", "bytes", "index"])
def test_the_card_that_is_written_changes_nothing(networks: Path, tmp_path: Path, name: str) -> None:
    for file in networks.glob(f"{name}.*"):
        shutil.copy(file, tmp_path)
    before = OnnxNetwork(card_for(tmp_path / f"{name}.onnx"))
    found = json.loads(run("network", "inspect", tmp_path / f"{name}.onnx", "--overwrite", "--json"))
    assert {fact["what"] for fact in found["facts"]} >= {"frames", "layout", "type", "values", "holds", "classes"}
    assert sum(found["shares"].values()) == pytest.approx(1)
    after = OnnxNetwork(card_for(tmp_path / f"{name}.onnx"))
    assert after.names == before.names
    assert after.card != before.card
    frame = noise(96, 160)
    assert np.allclose(after(frame), before(frame), atol=1e-5)


def test_a_card_that_is_there_is_kept_unless_told_otherwise(
    refused: Callable[..., str], networks: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(networks / "bytes.onnx", tmp_path / "net.onnx"))
    card = tmp_path / "net.toml"
    card.write_text('colours = "bgr"\n')
    lines = run("network", "inspect", path).splitlines()
    assert "colours bgr card" in [" ".join(line.split()) for line in lines]
    assert lines[-1] == f"The card is {card}, as it was"
    assert f"'{card}' is there already" in refused("network", "inspect", path, "-o", card)
    assert card.read_text() == 'colours = "bgr"\n'
    run("network", "inspect", path, "--overwrite")
    assert 'colours = "bgr"' in card.read_text()
    assert "classes = 19" in card.read_text()


def test_a_card_may_lie_elsewhere(networks: Path, tmp_path: Path) -> None:
    run("network", "inspect", networks / "unet.onnx", "-o", tmp_path / "cards" / "town.toml")
    card = card_for(tmp_path / "cards" / "town.toml")
    assert card.file.resolve() == (networks / "unet.onnx").resolve()
    assert OnnxNetwork(card).names == CITYSCAPES
