"""`budgetseg label` of many videos, as a user meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from budgetseg.app.job import Status
from budgetseg.cli import job as module
from budgetseg.cli.app import app
from budgetseg.timing.clock import ManualClock
from tests.app.streets import write_seeing_model, write_street

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    return write_seeing_model(tmp_path_factory.mktemp("models") / "seeing")


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three streets, one of them in a folder below, and a broken file."""
    folder = tmp_path_factory.mktemp("videos")
    (folder / "sub").mkdir()
    for k, name in enumerate(("a", "b", "sub/c")):
        write_street(folder / f"{name}.mp4", 4 + k, seed=k)
    (folder / "broken.mp4").write_text("no video\n" * 50)
    return folder


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["label", *map(str, words)])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_is_labelled_and_the_same_command_takes_up_the_rest(
    seeing: Path, videos: Path, tmp_path: Path, jobs: int
) -> None:
    words = [videos, "--budget", "2m", "--no-overlay", "--model", seeing, "--jobs", jobs, "-o", tmp_path / "out"]
    result = run(*words)
    assert result.exit_code == 4, result.output
    assert "3 videos are labelled, 0 of them by earlier runs or other machines; 1 were skipped." in result.stdout
    assert "broken" in result.stdout
    assert "cannot be read as a video" in result.stdout
    assert (tmp_path / "out" / "sub" / "c" / "ledger.json").is_file()
    again = run(*words, "--json")
    assert again.exit_code == 4
    rows = json.loads(again.stdout)["videos"]
    assert [(row["name"], row["state"]) for row in rows] == [
        ("a", "done"),
        ("b", "done"),
        ("broken", "skipped"),
        ("sub/c", "done"),
    ]
    assert len({row["run"] for row in rows if row["state"] == "done"}) == 1  # the second run has labelled nothing
    other = run(*words[:1], "--budget", "3m", *words[3:])
    assert str(other.exception).endswith("choose another folder, or add --overwrite to label all videos again")


def test_parts_of_a_job_share_a_folder(seeing: Path, videos: Path, tmp_path: Path) -> None:
    words = [videos / "*.mp4", "--compute-budget", "1m", "--no-overlay", "--model", seeing, "-o", tmp_path / "out"]
    found = [run(*words, "--shard", f"{k}/2", "--json") for k in (1, 2)]
    assert [result.exit_code for result in found] == [2, 0] or [result.exit_code for result in found] == [4, 0]
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {"a", "b"}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--jobs", "2"], "--jobs is for several videos; leave it out, or give a folder, a pattern or a list"),
        (["--shard", "1/2"], "--shard is for several videos"),
        (["--executor", "ray"], "--executor is for several videos"),
        (["--overwrite"], "--overwrite is for several videos"),
        (["--compute-budget", "1h"], "--compute-budget is for several videos"),
    ],
)
def test_options_of_jobs_are_refused_for_one_video(
    refused: Callable[..., str], videos: Path, tmp_path: Path, words: list[str], line: str
) -> None:
    assert line in refused("label", videos / "a.mp4", "--budget", "1s", *words, "-o", tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "a budget is missing; for example --budget 10s"),
        (["--budget", "1s", "--shard", "3/2"], "--shard must be a part and the number of parts. Got '3/2'"),
        (["--budget", "1s", "--compute-budget", "20%"], "--compute-budget must be a time with its unit. Got '20%'"),
        (["--budget", "1s", "--executor", "cloud"], "no executor 'cloud'; choose from auto, local, processes, ray"),
        (["--budget", "1s", "--resume", "nowhere"], "'nowhere' holds no run"),
        (["--budget", "1s", "--gpus", "1"], "--address and --gpus are for Ray"),
        (["--budget", "1s", "--address", "127.0.0.1:1"], "nobody answers at '127.0.0.1:1'"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_leaves_nothing(
    refused: Callable[..., str], seeing: Path, videos: Path, tmp_path: Path, words: list[str], line: str
) -> None:
    assert line in refused("label", videos, *words, "--model", seeing, "-o", tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_folder_without_videos_is_one_line(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    line = refused("label", tmp_path / "empty", "--budget", "1s", "-o", tmp_path / "out")
    assert line.endswith(f"there is no video in '{tmp_path}/empty'; give video files, or folders of them")
    assert not (tmp_path / "out").exists()


def test_in_a_pipe_there_is_a_line_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    clock = ManualClock()
    with module.shown(clock) as show:
        show(Status(12))
        clock.advance(11)
        show(Status(12, 3, 1, running=("a", "b"), left_s=33.4, expected=0.81234))
        clock.advance(5)
        show(Status(12, 4))
    assert capsys.readouterr().err == "12 videos, 3 done, 2 running, 1 skipped, 33 s left, 81.2 % expected right\n"
