"""In these worlds all frames are as busy: painting one takes what `SECONDS` says."""

import pytest

from budgetseg.spaces.frames import state
from budgetseg.spaces.frames.costs import FrameCosts


@pytest.fixture(autouse=True)
def busy_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes meet in the same share of every frame."""
    monkeypatch.setattr(state, "mixed_share", lambda _: FrameCosts.mixed)
