"""Where the real videos are, and what happens when they are not there."""

import os
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
