"""How a policy was found: a row and a line for every round, and the learning curve as a picture."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from budgetseg.learning.capi import Round

__all__ = ["Journal", "plot_rounds"]


class Journal:
    """Collects a row about each round, and reports it as a line; scores are those in held-out videos.

    Parameters
    ----------
    name : of the policy
    tell : called with each line
    """

    def __init__(self, name: str, tell: Callable[[str], None]) -> None:
        self.rows: list[dict[str, Any]] = []
        self._tell: Callable[[str], None] = lambda line: tell(f"{name}: {line}")

    def round(self, found: Round) -> None:
        """Add a round of CAPI."""
        shares = " ".join(f"{100 * share:.0f}" for share in found.actions)
        self._tell(
            f"CAPI {100 * found.score:.2f}, in training {100 * found.train_score:.2f}, {found.n_states} states, "
            f"{found.n_rollouts} rollouts, best actions {shares} %"
        )
        row = {"learner": "capi", "score": found.score, "train_score": found.train_score, "gained": found.gained}
        row |= {"n_states": found.n_states, "n_rollouts": found.n_rollouts, "actions": found.actions.tolist()}
        self.rows.append(row)


def plot_rounds(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write a PNG with the scores of all rounds; nothing if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([100 * row["score"] for row in rows], marker="o", label="CAPI, held out")
    axes.set(xlabel="round", ylabel="score, %")
    axes.legend()
    figure.savefig(path, dpi=100)
