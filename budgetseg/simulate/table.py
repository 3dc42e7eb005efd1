"""Algorithm 1 over a table of results: predictions for every supervoxel and subset are known, and nothing is computed.

`simulate` does the same in one compiled call; tests hold it to this plain form.
"""

from collections.abc import Sequence

import numpy as np

from budgetseg.engine.loop import Outcome, spend
from budgetseg.policy.episode import Chooser, Episode
from budgetseg.timing.clock import CostClock
from budgetseg.timing.deadline import Cuttable
from budgetseg.types import Action, Batch, Float32

__all__ = ["TableState", "play_plain"]


class TableState:
    """An episode whose outcomes are looked up, and cost what was predicted.

    Parameters
    ----------
    episode : the run
    probabilities : (N, 2^D, L) float32, H's probabilities given every subset of the descriptors
    clock : charged with the predicted seconds
    """

    def __init__(self, episode: Episode, probabilities: Float32, clock: CostClock) -> None:
        self.episode = episode
        self._probabilities = probabilities
        self._clock = clock

    def do(self, batch: Batch) -> Outcome:
        """Look up the outcome of a batch."""
        subsets = self.episode.state.subsets[batch.places] | 1 << batch.sources
        self._clock.charge(float(batch.planned_s.sum()))
        return Outcome(self._probabilities[batch.places, subsets], batch.planned_s, np.zeros(batch.n_actions))

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Add the outcome to the episode, which also reduces what is left of the budget."""
        self.episode.receive_all(batch, outcome.values, outcome.spent_s)

    def cuttable(self) -> Sequence[Cuttable]:
        """Nothing, since looking up takes no time."""
        return ()


def play_plain(episode: Episode, probabilities: Float32, policy: Chooser, n: int = 1) -> list[tuple[Action, float]]:
    """Run an episode to its end, n decisions at a time. Returns the actions that were done, with their seconds."""
    clock = CostClock()
    done = list[tuple[Action, float]]()

    def record(batch: Batch, outcome: Outcome, _: float) -> None:
        done.extend(zip(batch.actions, outcome.spent_s.tolist(), strict=True))

    def choose(state: TableState, _: float) -> Batch:
        return policy(state.episode, n)

    spend(TableState(episode, probabilities, clock), choose, clock, lambda: episode.left_s, record)
    return done
