"""What inference keeps between runs: arrays of the right size, and flow that is nearly right for the next problem."""

import numpy as np

from budgetseg.crf.arcs import Arcs, make_arcs
from budgetseg.crf.maxflow import Search, make_search
from budgetseg.crf.moves import Moves, make_moves, revise
from budgetseg.crf.problem import Problem
from budgetseg.crf.terms import Terms, changed_edges, make_terms, scale_of
from budgetseg.types import Float64, Int32

__all__ = ["Memory"]


class Memory:
    """Working memory for problems on one graph at a time, and for one thread at a time.

    It makes later runs faster and never changes what they find. Given a problem on another graph, it starts anew.

    Attributes
    ----------
    arcs : the graph, renumbered
    search : of the max-flow
    moves : graphs of the moves, as the last run has left them
    """

    arcs: Arcs
    search: Search
    moves: Moves

    def __init__(self) -> None:
        self._edges: Int32 | None = None
        self._size = (0, 0)
        self._scale = 0.0
        self._terms: Terms | None = None
        self._messages: Float64 | None = None

    def fit(self, problem: Problem) -> "Memory":
        """Itself, ready for the graph of a problem."""
        size = (problem.n_nodes, problem.n_labels)
        if self._edges is None or self._size != size or not np.array_equal(self._edges, problem.edges):
            self._edges, self._size = problem.edges.copy(), size
            self.arcs = make_arcs(problem.n_nodes, problem.edges)
            self.search = make_search(problem.n_nodes)
            self._terms = self._messages = None
        return self

    def take(self, problem: Problem) -> Terms:
        """A problem in the order of the arcs; the graphs of the moves are made, or revised, to be those of it."""
        scale = scale_of(problem)
        terms = make_terms(problem, self.arcs, scale)
        changed = np.arange(len(problem.edges))
        if self._terms is None or scale != self._scale:
            self.moves = make_moves(problem.n_labels, problem.n_nodes, len(problem.edges))
        else:
            changed = changed_edges(self._terms, terms)
            revise(self.arcs, self._terms, terms, changed, self.moves)
        # A copy of the tables: whoever owns them may write to them before the next run.
        values = terms.values.copy() if self._terms is None or len(changed) else self._terms.values
        self._scale, self._terms = scale, terms._replace(values=values)
        return terms

    def messages(self) -> Float64:
        """Messages of belief propagation, (2E, L), all zero."""
        if self._messages is None:
            self._messages = np.empty((len(self.arcs.head), self._size[1]))
        self._messages.fill(0)
        return self._messages
