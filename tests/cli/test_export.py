"""`budgetseg export` as a user calls it."""

from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner

from budgetseg.app.export.formats import FORMATS
from budgetseg.cli.app import app


def test_a_folder_without_labels_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "holds no labelled video" in refused("export", tmp_path, "--to", "coco", "-o", tmp_path / "out")
    assert not list(tmp_path.iterdir())
    assert "no format 'gif'" in refused("export", tmp_path, "--format", "gif")


def test_without_a_folder_the_formats_are_listed() -> None:
    done = CliRunner().invoke(app, ["export"])
    assert done.exit_code == 0
    for name, own in FORMATS.items():
        assert any(line.startswith(name) and own.purpose in line for line in done.stdout.splitlines())
    assert "overlay.mp4" in done.stdout


def test_a_video_for_several_runs_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trace.json").touch()
    assert "--video is for one run" in refused("export", tmp_path, "--to", "coco", "--video", "a.mp4")
