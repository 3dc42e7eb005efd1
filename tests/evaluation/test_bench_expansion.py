"""The problems are those that other libraries were measured on, and the peer is a fair one."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.crf import energy, expand
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.errors import ModelError, UsageError
from budgetseg.evaluation import bench_expansion as bench
from budgetseg.evaluation.bench_expansion import CASES, Case, expand_with_scipy, random_potts
from budgetseg.evaluation.clips import Street
from budgetseg.models.bundle import save_model
from tests.models.made import random_model

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


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budgetseg.evaluation.bench_stages.Street", lambda: Street((96, 64), 4))
    monkeypatch.setattr("budgetseg.cli.bench._usual_place", lambda *_: None)
    cases = (Case(200, 500, 4, with_scipy=True), Case(300, 800, 4))
    monkeypatch.setattr(bench, "CASES", cases)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)


@pytest.mark.usefixtures("_quick")
def test_the_command_prints_the_agreed_rows() -> None:
    report = json.loads(CliRunner().invoke(app, ["bench", "expansion", "--json", "--repeats", "1"]).stdout)
    assert report["bench"] == "expansion"
    keys = ["problem", "seconds", "energy", "peer", "peer_seconds", "peer_energy", "model"]
    assert all(list(row) == keys for row in report["rows"])
    assert [row["peer"] for row in report["rows"]] == ["SciPy", "cold start", None, "cold start", *5 * [None]]
    assert [row["model"] for row in report["rows"]] == [*4 * [None], *5 * ["drawn"]]
    assert all(row["seconds"] > 0 for row in report["rows"])
    assert [row["problem"] for row in report["rows"][4:]] == [
        f"stage: {stage}, per 1,000 supervoxels"
        for stage in ("interpolation", "potentials", "expansion", "expansion with used memory", "pixel labels")
    ]


@pytest.mark.usefixtures("_quick")
def test_a_trained_model_can_be_measured_instead(tmp_path: Path) -> None:
    (colour,) = open_descriptors(["colour"])
    save_model(random_model({"colour": colour.length}), tmp_path / "model")
    words = ["bench", "expansion", "--json", "--repeats", "1", "--model", str(tmp_path / "model")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.exception
    assert [row["model"] for row in json.loads(result.stdout)["rows"]] == [*4 * [None], *5 * ["made"]]


def test_a_model_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "expansion", "--model", str(tmp_path)])
    assert isinstance(result.exception, ModelError)


def test_a_folder_without_camvid_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "expansion", "--data", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "no camvid/ in" in str(result.exception)
