"""Rollouts are measured on what a rollout of training does."""

import json
from functools import cache, partial

import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.evaluation import bench_rollouts as bench
from budgetseg.evaluation.clips import Street
from tests.models.made import random_model

SHARES = ("share_simulation", "share_potentials", "share_expansion")
KEYS = ["n_supervoxels", "n_labels", "threads", "rollouts_per_s", "n_descriptors", "n_decisions", "model"]
KEYS += ["cpu_ms", *SHARES]
MODEL = random_model({descriptor.name: descriptor.length for descriptor in open_descriptors(["colour", "hog"])})


arena_of = cache(bench._arena)  # a model is fitted to the street once


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_arena", arena_of)
    monkeypatch.setattr(bench, "Street", lambda: Street((96, 64), 8))
    monkeypatch.setattr(bench, "RolloutCase", partial(bench.RolloutCase, n_supervoxels=60, n_episodes=2))


def test_there_is_a_row_for_one_thread_and_one_for_all() -> None:
    rows = bench.bench_rollouts(None, 2, 1)
    assert [list(row) for row in rows] == 2 * [KEYS]
    assert [(row["n_supervoxels"], row["n_labels"], row["threads"]) for row in rows] == [(60, 11, 1), (60, 11, 2)]
    figures = np.array([[row[key] for key in ("rollouts_per_s", "cpu_ms", *SHARES)] for row in rows], float)
    assert (figures > 0).all()
    assert figures[:, 2:].sum(axis=1) == pytest.approx(np.ones(2))


def test_rollouts_branch_at_the_first_decision_of_an_episode() -> None:
    arena = arena_of(None, 60, None)
    rollouts = bench._Rollouts(arena, 2)._all
    after = [(int(one.episode.state.subsets.max()), one.episode.n_decisions) for one in rollouts]
    assert after[-1] == (0, 1)  # finished
    assert {subset for subset, _ in after} <= {0, 1, 2, 4, 8}
    assert len(rollouts) >= 4
    assert np.array_equal(rollouts[0].start, rollouts[1].start)


def test_with_a_model_the_arena_is_its_own() -> None:
    (row,) = bench.bench_rollouts(None, 1, 1, MODEL)
    assert (row["model"], row["n_labels"], row["n_descriptors"]) == ("made", 3, 2)


def test_the_command_prints_rows_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budgetseg.cli.bench._usual_place", lambda *_: None)
    result = CliRunner().invoke(app, ["bench", "rollouts", "--json", "--repeats", "1", "--threads", "1"])
    report = json.loads(result.stdout)
    assert report["bench"] == "rollouts"
    assert [list(row) for row in report["rows"]] == [KEYS]
