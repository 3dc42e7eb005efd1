"""Runs of strangers, read back."""

import json
from pathlib import Path

import pytest

from budgetseg.app.export.run import FinishedRun
from budgetseg.app.marks import ModelMark, VideoMark
from budgetseg.app.trace import Trace
from budgetseg.engine.plan import Plan
from budgetseg.errors import UsageError


@pytest.mark.parametrize("shares", [{"road": "much"}, {"road": 7.0}, {"moon": 0.5}, 3])
def test_a_ledger_of_strangers_has_shares_of_its_classes(tmp_path: Path, shares: object) -> None:
    video = VideoMark("v", 1, 2, 3, "")
    model = ModelMark("m", "m", "", ("road",), ((1, 2, 3),), ())
    run = FinishedRun(tmp_path, Trace(video, model, {"budgets": ["2s"]}, "frames", (), Plan(1, (3, 2)), []))
    (tmp_path / "ledger.json").write_text(json.dumps({"class_shares": {"road": 1.0}}))
    assert run.ledger("2s") == {"class_shares": {"road": 1.0}}
    (tmp_path / "ledger.json").write_text(json.dumps({"class_shares": shares}))
    with pytest.raises(UsageError, match=r"ledger.json' cannot be read"):
        run.ledger("2s")
