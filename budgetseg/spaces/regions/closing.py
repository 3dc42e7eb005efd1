"""The end of a run: what is known of some supervoxels becomes a label for all of them."""

from collections.abc import Callable
from typing import NamedTuple

from budgetseg.crf import Memory, expand
from budgetseg.crf.potentials import Crf, Nodes, make_potentials
from budgetseg.policy.neighbours import neighbours_of
from budgetseg.policy.state import State
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.timing.ledger import Account
from budgetseg.types import Float32, Float64, Graph, Int32, Int64

__all__ = ["STAGES", "Closed", "Closing"]

STAGES = ("interpolation", "potentials", "expansion")


class Closed(NamedTuple):
    """What came of it.

    Attributes
    ----------
    labels : (N,)
    probabilities : (N, L), interpolated where nothing was computed
    n_moves : how often the expansion asked whether it was enough until it was; None if it ended by itself
    """

    labels: Int32
    probabilities: Float32
    n_moves: int | None


class Closing:
    """Labels from a state, as often as asked; later times are faster, since little has changed.

    Parameters
    ----------
    crf : the energies
    prior : (L,) share of each class in training
    starts : columns of the descriptors among the inputs, as in `Nodes`
    graph : of the supervoxels

    Attributes
    ----------
    last : what came of the last time, which the next one begins with; None before the first
    """

    def __init__(self, crf: Crf, prior: Float64, starts: Int64, graph: Graph) -> None:
        self._crf, self._prior, self._starts, self._graph = crf, prior, starts, graph
        self._neighbours = neighbours_of(graph)
        self._memory = Memory()
        self.last: Closed | None = None

    def predict_s(self, account: Account) -> float:
        """Seconds that it takes the next time."""
        return sum(account.predict_s(self._line(stage), self._work) for stage in STAGES)

    def __call__(
        self, state: State, inputs: Float32, account: Account, enough: Callable[[], bool] = lambda: False
    ) -> Closed:
        """Labels of all supervoxels; the expansion stops early, with what it has, when it is enough."""
        with account.stage("interpolation", self._work, self._line("interpolation")):
            probabilities = interpolate(state.probabilities, state.subsets > 0, self._neighbours, self._prior)
        with account.stage("potentials", self._work, self._line("potentials")):
            evidence = Nodes(probabilities, inputs, state.subsets, self._starts)
            problem = make_potentials(self._crf, evidence, self._graph)
        asked, start = _Counted(enough), None if self.last is None else self.last.labels
        with account.stage("expansion", self._work, self._line("expansion")):
            labels = expand(problem, start, self._memory, asked)
        self.last = Closed(labels, probabilities, asked.n if asked.was_enough else None)
        return self.last

    @property
    def _work(self) -> float:
        return float(self._graph.sizes.size)

    def _line(self, stage: str) -> str:
        """What its costs are known by: the first time is another matter than later ones."""
        return stage if self.last is None else f"{stage} again"


class _Counted:
    """Remembers how often it was asked, so that a replay can stop at the same place."""

    def __init__(self, enough: Callable[[], bool]) -> None:
        self.n, self.was_enough, self._enough = 0, False, enough

    def __call__(self) -> bool:
        if not self.was_enough:  # asked again, it stays enough: a replay counts to the first time
            self.n += 1
            self.was_enough = self._enough()
        return self.was_enough
