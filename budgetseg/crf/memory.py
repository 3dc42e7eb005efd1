"""What inference keeps between runs: arrays of the right size, and flow that is nearly right for the next problem."""

import numpy as np

from budgetseg.crf.arcs import Arcs, make_arcs
from budgetseg.crf.maxflow import Search, make_search
from budgetseg.crf.problem import Problem
from budgetseg.types import Float64, Int32, Int64

__all__ = ["Memory"]


class Memory:
    """Working memory for problems on one graph at a time; for one thread at a time.

    It makes later runs faster and never changes what they find. Given a problem on another graph, it starts anew.

    Attributes
    ----------
    arcs : the graph, renumbered
    search : of the max-flow
    room, excess : (2E,) and (N,) int64, capacities of one move
    flows : (L, E) int64, flow of the last move of each label
    scale : the whole number that an energy of 1 has in `flows`
    messages : (2E, L) float64, of belief propagation
    """

    arcs: Arcs
    search: Search
    room: Int64
    excess: Int64
    flows: Int64
    scale: float
    messages: Float64

    def __init__(self) -> None:
        self._edges: Int32 | None = None
        self._size = (0, 0)

    def fit(self, problem: Problem) -> "Memory":
        """Itself, ready for a problem."""
        size = problem.unary.shape
        if self._edges is None or self._size != size or not np.array_equal(self._edges, problem.edges):
            self._edges, self._size = problem.edges.copy(), (problem.n_nodes, problem.n_labels)
            self._allocate(problem)
        return self

    def _allocate(self, problem: Problem) -> None:
        n_edges = len(problem.edges)
        self.arcs = make_arcs(problem.n_nodes, problem.edges)
        self.search = make_search(problem.n_nodes)
        self.room = np.zeros(2 * n_edges, np.int64)
        self.excess = np.zeros(problem.n_nodes, np.int64)
        self.flows = np.zeros((problem.n_labels, n_edges), np.int64)
        self.scale = 1.0
        self.messages = np.zeros((0, problem.n_labels))

    def make_messages(self) -> Float64:
        """Messages of belief propagation, all zero."""
        if len(self.messages) != len(self.room):
            self.messages = np.zeros((len(self.room), self.flows.shape[0]))
        self.messages.fill(0)
        return self.messages

    def rescale(self, scale: float) -> None:
        """Flow in the units of the next problem."""
        if scale != self.scale:
            self.flows = (self.flows * (scale / self.scale)).astype(np.int64)
            self.scale = scale
