"""What is told and kept of learning."""

import sys
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.learning.capi import Round
from budgetseg.learning.journal import Journal, plot_rounds
from budgetseg.learning.judge import Player
from budgetseg.policy.episode import Selection
from budgetseg.policy.linear import plan_policy

PLAYER = Player(plan_policy([0], 1, 2), Selection())
ROUND = Round(PLAYER, 0.625, 0.5, True, 12, 30, np.array([0.25, 0.75]))


@pytest.fixture
def journal() -> Journal:
    """Two rounds."""
    journal = Journal("mine", lambda _: None)
    journal.round(ROUND)
    journal.round(replace(ROUND, score=0.7))
    return journal


def test_there_is_a_line_a_round() -> None:
    lines = list[str]()
    journal = Journal("budget-wanted-colour+hog-shared", lines.append)
    journal.round(ROUND)
    assert lines == [
        "budget-wanted-colour+hog-shared: CAPI 62.50, in training 50.00, 12 states, 30 rollouts, best actions 25 75 %"
    ]


def test_rows_have_the_figures(journal: Journal) -> None:
    first, second = journal.rows
    assert first == {
        "learner": "capi",
        "score": 0.625,
        "train_score": 0.5,
        "gained": True,
        "n_states": 12,
        "n_rollouts": 30,
        "actions": [0.25, 0.75],
    }
    assert second == first | {"score": 0.7}


def test_the_learning_curve_is_a_picture(journal: Journal, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot_rounds(journal.rows, tmp_path / "rounds.png")
    plot_rounds([], tmp_path / "nothing.png")
    picture, nothing = (cv2.imread(str(tmp_path / name)) for name in ("rounds.png", "nothing.png"))
    assert picture is not None
    assert nothing is not None
    assert (picture != nothing).any()


def test_without_matplotlib_there_is_none(journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    plot_rounds(journal.rows, tmp_path / "rounds.png")
    assert not list(tmp_path.iterdir())
