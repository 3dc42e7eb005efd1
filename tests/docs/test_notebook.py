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


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebook")
    shutil.copy(NOTEBOOK, folder)  # it writes beside itself
    words = [sys.executable, "-m", "jupyter", "execute", NOTEBOOK.name, "--output", "executed"]
    environment = os.environ | {"BUDGETSEG_CACHE": str(folder / "cache")}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "executed.ipynb"


def test_it_goes_from_a_clip_to_the_plot(executed: Path) -> None:
    text = "".join(line for cell in cells(executed) for output in cell["outputs"] for line in output.get("text", ()))
    for scope in ("total", "descriptors"):
        right = [float(share) for share in re.findall(rf"{scope} .* ([\d.]+)% of the pixels right", text)]
        assert len(right) == 4
        assert right[-1] > max(right[0], 60)
    assert sum(kind == "image/jpeg" for cell in cells(executed) for kind in kinds(cell)) == 3


def test_what_is_kept_is_the_notebook_as_it_was_executed(executed: Path) -> None:
    kept = cells(NOTEBOOK)
    assert [cell["execution_count"] for cell in kept] == list(range(1, len(kept) + 1))
    assert [set(kinds(cell)) for cell in kept] == [set(kinds(cell)) for cell in cells(executed)]
    assert NOTEBOOK.stat().st_size < 300_000
    assert str(Path.home()) not in NOTEBOOK.read_text()
