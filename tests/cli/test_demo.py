"""`budgetseg demo` runs on nothing but itself, and on a clip if it gets one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.app import model as model_module
from budgetseg.cli.app import app
from budgetseg.datasets import synthetic
from tests.app.streets import write_street


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A street that is quickly done."""
    whole = synthetic.render
    monkeypatch.setattr(synthetic, "render", lambda seed: whole(seed, n_frames=8, size=(160, 120)))
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))


def test_the_demo_says_how_right_it_was_and_where_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_module.load("synthetic", threads=1)  # of real clips, too: to get networks ready takes seconds
    monkeypatch.setattr(model_module, "load", lambda _: model)
    clip, out = write_street(tmp_path / "clip.mp4"), tmp_path / "demo"
    result = CliRunner().invoke(app, ["demo", "-o", str(out), "--clip", str(clip)])
    assert result.exit_code == 0
    for words in ("pixels right", "class average", "colour", "supervoxels", "clip: 12 real frames of 96×64"):
        assert words in result.stdout
    last = result.stdout.splitlines()
    assert last[-2].endswith(f"{out / 'truth.mp4'}")
    assert last[-1] == f"Open  {out / 'report.html'}"
    page = (out / "report.html").read_text()
    assert '"name":"street"' in page
    assert '"name":"clip"' in page
    for file in ("street.mp4", "truth.mp4", "street/why.png", "your-clip/overlay.mp4"):
        assert (out / file).stat().st_size > 0


def test_a_clip_that_is_none_is_refused_before_the_work(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "moon.mp4" in refused("demo", "-o", tmp_path / "demo", "--clip", tmp_path / "moon.mp4")
    assert not (tmp_path / "demo").exists()
