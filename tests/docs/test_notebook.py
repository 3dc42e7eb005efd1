"""The notebook runs as it is, and shows what came of it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT

NOTEBOOK = ROOT / "docs" / "examples" / "accuracy_against_budget.ipynb"


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def kinds(cell: dict[str, Any]) -> list[str]:
    """What a cell shows."""
    return [kind for output in cell["outputs"] for kind in output.get("data", {output["output_type"]: ""})]


@pytest.fixture(scope="module", params=["rendered", "real"])
def executed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notebook, executed on a rendered street, and on the real video where that is there."""
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copy(NOTEBOOK, folder)
    data = request.getfixturevalue("data_root") if request.param == "real" else folder / "none"
    words = [sys.executable, "-m", "jupyter", "execute", NOTEBOOK.name, "--output", request.param]
    environment = os.environ | {"BUDGETSEG_CACHE": str(folder / "cache"), "BUDGETSEG_DATA": str(data)}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / f"{request.param}.ipynb"


def test_it_goes_from_a_video_to_the_plot_and_the_player(executed: Path) -> None:
    text = "".join(line for cell in cells(executed) for output in cell["outputs"] for line in output.get("text", ()))
    assert ("camvid" if executed.stem == "real" else "synthetic") in text
    right = [float(share) for share in re.findall(r"s spent: ([\d.]+)% of the pixels right", text)]
    assert len(right) == 4
    assert right[-1] > 60
    shown = [kind for cell in cells(executed) for kind in kinds(cell)]
    assert shown.count("image/jpeg") == 2
    assert shown.count("text/html") == 2
    assert "<iframe" in executed.read_text()


def test_what_is_kept_is_the_notebook_as_it_was_executed(executed: Path) -> None:
    kept = cells(NOTEBOOK)
    assert [cell["execution_count"] for cell in kept] == list(range(1, len(kept) + 1))
    assert [set(kinds(cell)) for cell in kept] == [set(kinds(cell)) for cell in cells(executed)]
    assert NOTEBOOK.stat().st_size < 500_000
    assert str(Path.home()) not in NOTEBOOK.read_text()
