"""The problems are those that other libraries were measured on, and the peer is a fair one."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.crf import energy, expand
from budgetseg.errors import UsageError
from budgetseg.evaluation import bench_expansion as bench
from budgetseg.evaluation.bench_expansion import CASES, Case, expand_with_scipy, random_potts
from budgetseg.evaluation.clips import Street

BEST_PEER = {CASES[0]: 7_473_870, CASES[1]: 107_953_672}
"""Least energy that gco, PyMaxflow, SciPy, Darwin or OpenGM found on the same problems."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_energy_is_within_a_thousandth_of_the_best_peers(case: Case) -> None:
    problem = random_potts(case)
    assert (problem.n_nodes, len(problem.edges), problem.n_labels) == (case.n_nodes, case.n_edges, case.n_labels)
    assert energy(problem, expand(problem)) == pytest.approx(BEST_PEER[case], rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_from_the_same_start_the_labels_are_those_of_the_peer(seed: int) -> None:
    problem = random_potts(Case(400, 1200, 5), seed)
    start = problem.unary.argmin(axis=1)
    assert np.array_equal(expand(problem, start), expand_with_scipy(problem))


def test_the_command_prints_the_agreed_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budgetseg.evaluation.bench_stages.Street", lambda: Street((96, 64), 4))
    monkeypatch.setattr("budgetseg.cli.bench._usual_place", lambda *_: None)
    cases = (Case(200, 500, 4, with_scipy=True), Case(300, 800, 4))
    monkeypatch.setattr(bench, "CASES", cases)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    report = json.loads(CliRunner().invoke(app, ["bench", "expansion", "--json", "--repeats", "1"]).stdout)
    assert report["bench"] == "expansion"
    keys = ["problem", "seconds", "energy", "peer", "peer_seconds", "peer_energy"]
    assert all(list(row) == keys for row in report["rows"])
    assert [row["peer"] for row in report["rows"]] == ["SciPy", "cold start", None, "cold start", *5 * [None]]
    assert all(row["seconds"] > 0 for row in report["rows"])
    assert [row["problem"] for row in report["rows"][4:]] == [
        f"stage: {stage}, per 1,000 supervoxels"
        for stage in ("interpolation", "potentials", "expansion", "expansion with used memory", "pixel labels")
    ]


def test_a_folder_without_camvid_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "expansion", "--data", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "no camvid/ in" in str(result.exception)
