"""What stages cost is learned within a few runs, and kept."""

from pathlib import Path

import pytest

from budgetseg.inference.stages import StageCosts


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path))


def test_a_stage_that_was_seen_once_is_foretold_in_proportion_to_its_work() -> None:
    costs = StageCosts()
    assert costs.predict("decode", 100) == 0
    costs.observe("decode", 100, 0.5)
    assert costs.predict("decode", 300) == pytest.approx(1.5)


def test_a_changed_machine_is_known_after_five_runs() -> None:
    costs = StageCosts()
    costs.observe("decode", 100, 1.0)
    for _ in range(5):
        costs.observe("decode", 100, 4.0)
    assert 3.2 < costs.predict("decode", 100) < 4.0
    costs.observe("paint", 100, 1.0)
    costs.observe("paint", 100, 0.25)
    assert 0.6 < costs.predict("paint", 100) < 0.7


def test_what_was_learned_of_decoding_on_a_busy_machine_is_forgotten_at_once() -> None:
    costs = StageCosts()
    costs.observe("decode", 100, 1.0)
    costs.observe("decode", 100, 0.25)
    assert 0.25 < costs.predict("decode", 100) < 0.4
    costs.observe("decode", 100, 0.25)
    assert 0.25 < costs.predict("decode", 100) < 0.32


def test_what_was_learned_is_kept() -> None:
    costs = StageCosts()
    costs.observe("decode", 100, 1.0)
    costs.save()
    assert StageCosts.load().predict("decode", 100) == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 0}', '{"format": 1, "cpu": "", "rates": {"decode": -1}}'])
def test_a_damaged_file_is_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "stages.json").write_text(text)
    assert "decode" not in StageCosts.load()
