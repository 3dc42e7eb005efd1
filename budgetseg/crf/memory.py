"""What inference keeps between runs: the graph, arrays, and flow that is nearly right for the next run."""

import numpy as np

from budgetseg.crf.arcs import Arcs, Incidence, breadth_first, find_incidence, make_arcs
from budgetseg.crf.maxflow import Search, make_search
from budgetseg.crf.moves import Moves, make_moves, revise
from budgetseg.crf.problem import Problem
from budgetseg.crf.terms import Terms, changed_edges, make_terms, reaches, spreads, whole_unary
from budgetseg.types import Bool, Float64, Int32

__all__ = ["Memory"]

_MANY = 0.1  # share of changed edges from which new graphs of the moves take less time than revised ones


class Memory:
    """Working memory for problems on one graph at a time, and for one thread at a time.

    It makes later runs faster and never changes their results. For a problem on another graph it starts anew.

    Attributes
    ----------
    incidence : the edges at each node
    order : (N,) int32, all nodes in breadth-first order
    search : of the max-flow; exists after `take`
    moves : graphs of the moves, as the last run has left them; exists after `take`
    """

    incidence: Incidence
    order: Int32
    search: Search
    moves: Moves

    def __init__(self) -> None:
        self._edges = np.zeros((0, 2), np.int32)
        self._size = (0, 0)
        self._scale = 0.0
        self._arcs: Arcs | None = None
        self._terms: Terms | None = None
        self._messages: Float64 | None = None

    def fit(self, problem: Problem) -> "Memory":
        """Make the memory ready for the graph of a problem. Returns the memory."""
        size = (problem.n_nodes, problem.n_labels)
        if self._size != size or not np.array_equal(self._edges, problem.edges):
            self._edges = problem.edges.copy()
            self._size = size
            self.incidence = find_incidence(problem.n_nodes, problem.edges)
            self.order = breadth_first(self.incidence)
            self._arcs = self._terms = self._messages = None
        return self

    @property
    def arcs(self) -> Arcs:
        """The graph, renumbered; it is made on first use."""
        if self._arcs is None:
            self._arcs = make_arcs(self._edges, self.incidence, self.order)
        return self._arcs

    def take(self, problem: Problem, free: Bool, scale: float) -> Terms:
        """The terms of a problem, in the order of the arcs. Graphs of the moves are made for it, or revised.

        Parameters
        ----------
        problem : on the graph of this memory
        free : (N,) bool, nodes that may change their label
        scale : of energies, see `scale_of`
        """
        nodes = whole_unary(problem, scale), reaches(problem, spreads(problem, scale)), free
        terms = make_terms(problem, nodes, self.arcs, scale)
        old = self._terms
        changed = None if old is None or scale != self._scale else changed_edges(old, terms, self.arcs)
        if old is None or changed is None or len(changed) > _MANY * len(problem.edges):
            self.moves = make_moves(problem.n_labels, problem.n_nodes, len(problem.edges))
            self.search = make_search(problem.n_nodes)
        else:
            revise(self.arcs, old, terms, changed, self.moves)
        # A copy of the factors, since the caller may write to them before the next run.
        self._scale = scale
        self._terms = terms._replace(factors=terms.factors.copy())
        return terms

    def messages(self) -> Float64:
        """Messages of belief propagation, (2E, L), all zero."""
        if self._messages is None:
            self._messages = np.empty((len(self.arcs.head), self._size[1]))
        self._messages.fill(0)
        return self._messages
