"""Where the real videos are, what happens when they are not there, and a few of them to be broken."""

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder with the real labelled videos; skips, or fails where data is required (in CI)."""
    root = Path(os.environ.get("BUDGETSEG_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if root.is_dir():
        return root
    reason = f"no data at {root}; set BUDGETSEG_DATA"
    if os.environ.get("BUDGETSEG_REQUIRE_DATA"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def suny_copy(tmp_path: Path, data_root: Path) -> Path:
    """Eight frames of one SUNY video, to be broken."""
    root = tmp_path / "suny"
    for folder in ("dataset/Chen_png/bus", "groundtruth/Chen_gt/bus"):
        (root / folder).mkdir(parents=True)
        for file in sorted((data_root / "suny" / folder).iterdir())[:8]:
            shutil.copy(file, root / folder / file.name)
    return root
