"""`budgetseg live`, as a user meets it. Latencies are long, so that no machine is too slow."""

import json
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli import live as command
from budgetseg.cli.app import app
from budgetseg.video import open_video
from tests.app.streets import N_FRAMES, write_seeing_model, write_street

pytest.importorskip("onnx")


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_seeing_model(tmp_path_factory.mktemp("models") / "seeing")


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_street(tmp_path_factory.mktemp("videos") / "street.mp4")


@pytest.fixture
def run(model: Path, street: Path) -> Callable[..., tuple[int, str, str]]:
    """Exit code, standard output and standard error."""

    def run(*words: object) -> tuple[int, str, str]:
        usual = ["live", str(street), "--as-if-live", "--latency", "60s", "--model", str(model)]
        result = CliRunner().invoke(app, [*usual, *map(str, words)])
        return result.exit_code, result.stdout, result.stderr

    return run


def test_a_stream_is_counted_kept_and_told(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, out, _ = run("-o", tmp_path / "out", "--every", 5)
    assert code == 0
    assert out.startswith(f"street: {N_FRAMES} of {N_FRAMES} frames labelled, 0.0 % dropped, age p50 ")
    ledger = json.loads((tmp_path / "out" / "ledger.json").read_text())
    assert ledger["state"] == "done"
    assert ledger["sources"][0]["labelled"] == N_FRAMES
    assert open_video(tmp_path / "out" / "overlay-0000.mp4").count() == N_FRAMES - ledger["left_out_of_overlay"]
    assert len(list((tmp_path / "out" / "labels").glob("*.png"))) == 3


def test_with_json_every_line_is_json_and_the_last_is_the_ledger(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("--json")
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert lines[-1]["state"] == "done"
    assert all("at_s" in line for line in lines[:-1])


def test_the_page_is_said_and_opened(run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    code, _, err = run("--show")
    assert code == 0
    assert f"the page is at {opened[0]}" in err
    assert opened[0].startswith("http://127.0.0.1:")


def test_ctrl_c_ends_with_the_ledger(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @contextmanager
    def pressed(_: str) -> Iterator[Callable[[], bool]]:
        n_asked = 0

        def is_pressed() -> bool:
            nonlocal n_asked
            n_asked += 1
            return n_asked > 3

        yield is_pressed

    monkeypatch.setattr(command, "ended_by_ctrl_c", pressed)
    code, out, _ = run("-o", tmp_path / "out")
    assert code == command.INTERRUPTED
    assert "frames labelled" in out
    assert json.loads((tmp_path / "out" / "ledger.json").read_text())["state"] == "done"


def test_bad_input_is_a_line_and_leaves_nothing(
    refused: Callable[..., str], model: Path, street: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    usual = ("--model", model, "-o", out)
    assert "is a file; add --as-if-live" in refused("live", street, *usual)
    assert "no camera, stream or file" in refused("live", "nowhere.mp4", *usual)
    assert "no camera at '/dev/video971'" in refused("live", "971", *usual)
    refusal = refused("live", "tcp://me:hunter2@127.0.0.1:9/", *usual)
    assert "cannot be opened" in refusal
    assert "hunter2" not in refusal
    assert "--latency must be a time with its unit" in refused("live", street, "--latency", "5", *usual)
    assert "fps must be more than 0" in refused("live", street, "--fps", "0", *usual)
    assert "cannot be combined" in refused("live", street, "--network", "a.onnx", *usual)
    assert not out.exists()


def test_a_latency_that_cannot_be_kept_is_refused_with_the_least_that_can(
    refused: Callable[..., str], model: Path, street: Path, tmp_path: Path
) -> None:
    line = refused("live", street, "--as-if-live", "--latency", "0.01ms", "--model", model, "-o", tmp_path / "out")
    assert "a latency of 0.01 ms is too short: frames of 96x64 need" in line
    assert not (tmp_path / "out").exists()
