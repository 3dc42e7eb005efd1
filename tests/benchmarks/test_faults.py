"""The campaign of faults, reduced: no try comes to a bad end. And it would notice one that does."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.faults import campaign
from benchmarks.faults.campaign import TRIES, Worker, run
from benchmarks.faults.core import BAD, Case, Journal, Outcome, table
from benchmarks.faults.damage import damaged
from benchmarks.faults.programs import PROGRAMS
from benchmarks.faults.worker import KINDS

QUICK = {"container": 40, "image": 20, "special": 12, "bundle": 12, "trace, replayed": 8, "trace, resumed": 4}
PROGRAM = {"kill at a change": 1, "term at a change": 1, "signal at random": 1}


def test_every_kind_of_try_has_its_number() -> None:
    assert set(TRIES) == set(KINDS) | set(PROGRAMS)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kinds", [QUICK, PROGRAM], ids=["files", "programs"])
def test_no_fault_comes_to_a_bad_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kinds: dict[str, int]) -> None:
    monkeypatch.setenv("FAULTS_WORK", str(tmp_path))
    cases = [Case(kind, k) for kind, n in kinds.items() for k in range(n)]
    outcomes = run(tmp_path / "out", cases, n_workers=1, limit_s=60)
    assert len(outcomes) == len(cases)
    assert not [outcome for outcome in outcomes if outcome.end in BAD], table(outcomes)


SCRIPT = {
    "hang": "import sys, time\nsys.stdin.readline()\ntime.sleep(1000)",
    "crash": "import sys, os\nsys.stdin.readline()\nos.abort()",
}


@pytest.mark.parametrize("end", list(SCRIPT))
def test_a_try_that_hangs_or_crashes_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    (tmp_path / "bad.py").write_text(SCRIPT[end])
    monkeypatch.setenv("FAULTS_WORK", str(tmp_path))
    monkeypatch.setattr(campaign, "WORKER", [str(tmp_path / "bad.py")])
    worker = Worker(limit_s=0.2)
    try:
        outcome = worker.attempt(Case("container", 0))
    finally:
        worker.close()
    assert outcome.end == end


def test_a_campaign_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "outcomes.jsonl")
    cases = [Case("image", k) for k in range(3)]
    journal.add(Outcome(cases[1], "done"))
    again = Journal(tmp_path / "outcomes.jsonl")
    assert again.missing(cases) == [cases[0], cases[2]]
    assert "image  1" in table(again.outcomes)


def test_damage_is_the_same_for_the_same_seed_and_is_damage() -> None:
    data = bytes(range(256)) * 4
    made = [damaged(data, np.random.default_rng(seed)) for seed in range(50)]
    assert made == [damaged(data, np.random.default_rng(seed)) for seed in range(50)]
    assert sum(one != data for one in made) > 45
