"""The end of a run: what is known of some supervoxels becomes a label for all of them."""

from collections.abc import Callable

import numpy as np

from budgetseg.crf import Memory, expand
from budgetseg.crf.potentials import Crf, Evidence, make_potentials
from budgetseg.inference.interpolation import interpolate
from budgetseg.inference.ledger import Books
from budgetseg.inference.neighbours import neighbours_of
from budgetseg.inference.state import State
from budgetseg.types import Float32, Float64, Graph, Int32, Int64

__all__ = ["STAGES", "Closing"]

STAGES = ("interpolation", "potentials", "expansion")


class Closing:
    """Labels from a state, as often as asked; later times are faster, since little has changed.

    Parameters
    ----------
    crf : the energies
    prior : (L,) share of each class in training
    starts : columns of the descriptors among the inputs, as in `Evidence`
    graph : of the supervoxels

    Attributes
    ----------
    probabilities : (N, L), of the last time
    labels : (N,), of the last time; None before the first
    n_moves : how often the last expansion asked whether it was enough until it was; None if it ended by itself
    """

    def __init__(self, crf: Crf, prior: Float64, starts: Int64, graph: Graph) -> None:
        self._crf, self._prior, self._starts, self._graph = crf, prior, starts, graph
        self._neighbours = neighbours_of(graph)
        self._memory = Memory()
        self.probabilities: Float32 = np.empty((len(graph), len(prior)), np.float32)
        self.labels: Int32 | None = None
        self.n_moves: int | None = None

    def foretold_s(self, books: Books) -> float:
        """Seconds that it takes the next time."""
        return sum(books.foretold_s(self._line(stage), self._work) for stage in STAGES)

    def __call__(
        self, state: State, inputs: Float32, books: Books, enough: Callable[[], bool] = lambda: False
    ) -> Int32:
        """Label of every supervoxel, (N,); the expansion stops early, with what it has, when it is enough."""
        with books.stage("interpolation", self._work, self._line("interpolation")):
            self.probabilities = interpolate(state.said, state.subsets > 0, self._neighbours, self._prior)
        with books.stage("potentials", self._work, self._line("potentials")):
            evidence = Evidence(self.probabilities, inputs, state.subsets, self._starts)
            problem = make_potentials(self._crf, evidence, self._graph)
        asked = _Counted(enough)
        with books.stage("expansion", self._work, self._line("expansion")):
            self.labels = expand(problem, self.labels, self._memory, asked)
        self.n_moves = asked.n if asked.was_enough else None
        return self.labels

    @property
    def _work(self) -> float:
        return float(self._graph.sizes.size)

    def _line(self, stage: str) -> str:
        """What its costs are known by: the first time is another matter than later ones."""
        return stage if self.labels is None else f"{stage} again"


class _Counted:
    """Remembers how often it was asked, so that a replay can stop at the same place."""

    def __init__(self, enough: Callable[[], bool]) -> None:
        self.n, self.was_enough, self._enough = 0, False, enough

    def __call__(self) -> bool:
        if not self.was_enough:  # asked again, it stays enough: a replay counts to the first time
            self.n += 1
            self.was_enough = self._enough()
        return self.was_enough
