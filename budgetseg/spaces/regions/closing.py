"""The end of a run: probabilities of some supervoxels become labels for all of them."""

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
    """Labels of all N supervoxels.

    Attributes
    ----------
    labels : (N,) int32
    probabilities : (N, L) float32, interpolated for supervoxels without descriptors
    n_moves : number of times that the expansion asked whether to stop, if it was stopped; None if it converged
    """

    labels: Int32
    probabilities: Float32
    n_moves: int | None


class Closing:
    """Makes labels from a state, by interpolation, potentials and α-expansion.

    It can be called again when more descriptors were computed; later calls are faster, since they begin with the labels
    of the call before.

    Parameters
    ----------
    crf : the energies
    prior : (L,) share of each class in training
    starts : columns of the descriptors among the inputs, as in `Nodes`
    graph : of the supervoxels

    Attributes
    ----------
    last : result of the last call; None before the first one
    """

    def __init__(self, crf: Crf, prior: Float64, starts: Int64, graph: Graph) -> None:
        self._crf = crf
        self._prior = prior
        self._starts = starts
        self._graph = graph
        self._neighbours = neighbours_of(graph)
        self._memory = Memory()
        self.last: Closed | None = None

    def predict_s(self, account: Account) -> float:
        """Predicted seconds of the next call."""
        return sum(account.predict_s(self._price_key(stage), self._work) for stage in STAGES)

    def __call__(
        self, state: State, inputs: Float32, account: Account, enough: Callable[[], bool] = lambda: False
    ) -> Closed:
        """Label all supervoxels. The expansion stops early, with the labels it has, once `enough` returns True.

        Parameters
        ----------
        state : of the run
        inputs : (N, d) float32, descriptors as H scales them
        account : clock, prices and ledger
        enough : called after each move of the expansion
        """
        with account.stage("interpolation", self._work, self._price_key("interpolation")):
            probabilities = interpolate(state.probabilities, state.subsets > 0, self._neighbours, self._prior)
        with account.stage("potentials", self._work, self._price_key("potentials")):
            evidence = Nodes(probabilities, inputs, state.subsets, self._starts)
            problem = make_potentials(self._crf, evidence, self._graph)
        counted = _Counted(enough)
        start = None if self.last is None else self.last.labels
        with account.stage("expansion", self._work, self._price_key("expansion")):
            labels = expand(problem, start, self._memory, counted)
        self.last = Closed(labels, probabilities, counted.n if counted.was_enough else None)
        return self.last

    @property
    def _work(self) -> float:
        return float(self._graph.sizes.size)

    def _price_key(self, stage: str) -> str:
        """The name under which the price of a stage is kept. The first call costs more than later ones."""
        return stage if self.last is None else f"{stage} again"


class _Counted:
    """Counts the calls of `enough` until it returns True, so that a replay can stop at the same place."""

    def __init__(self, enough: Callable[[], bool]) -> None:
        self.n = 0
        self.was_enough = False
        self._enough = enough

    def __call__(self) -> bool:
        if not self.was_enough:  # later calls return True without counting: a replay stops at the first one
            self.n += 1
            self.was_enough = self._enough()
        return self.was_enough
