"""`budgetseg report` as a user calls it."""

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import CliRunner

from budgetseg.cli.app import app
from tests.report.worlds import result_rows


def test_the_page_lies_beside_the_results(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"environment": {}, "rows": result_rows()}))
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout.endswith(f"open {tmp_path / 'report.html'}\n")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_a_folder_without_results_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "holds no results; run 'budgetseg label'" in refused("report", tmp_path)
    assert not list(tmp_path.iterdir())
