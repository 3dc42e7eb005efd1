"""`budgetseg demo` runs on nothing but itself."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app


def test_the_demo_says_what_it_did_and_where_to_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from budgetseg.datasets import synthetic

    whole = synthetic.render
    monkeypatch.setattr(synthetic, "render", lambda seed: whole(seed, n_frames=6, size=(160, 120)))
    result = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "demo")])
    assert result.exit_code == 0
    assert "reachable" in result.stdout
    for name in ("street.mp4", "truth.mp4", "quality-1000.mp4"):
        assert str(tmp_path / "demo" / name) in result.stdout
        assert (tmp_path / "demo" / name).stat().st_size > 0
