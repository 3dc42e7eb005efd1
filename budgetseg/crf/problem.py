"""The problem that inference minimises: an energy for each node and label, and a table for each edge."""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from budgetseg.errors import UsageError
from budgetseg.types import Float32, Float64, Int32

__all__ = ["Problem", "check_labels", "edge_energies", "energy", "make_problem", "without_factors"]


@dataclass(frozen=True, eq=False)
class Problem:
    """A pairwise energy.

    It is the sum of the unaries of all labels and, for every edge e with labels a and b at its ends, of

        weight[e] · tables[table_of[e], a, b] · factors[factor_of[e, 0], a] · factors[factor_of[e, 1], b]

    A Potts model has a single table; with a table for every edge, K = E and weights are 1. Factors make many tables
    from few numbers. Letters: N nodes, L labels, E edges, K tables, F rows of factors.

    Attributes
    ----------
    unary : (N, L) float32, lower is better
    edges : (E, 2) int32, two different nodes each
    tables : (K, L, L) float32, rows are labels of the first end, columns of the second
    table_of : (E,) int32, the table of each edge
    weight : (E,) float32, factor on the table of each edge
    factors : (F, L) float32, not negative; factors on rows or columns of a table; the first row is all one
    factor_of : (E, 2) int32, the factors of the rows and of the columns of each edge's table
    """

    unary: Float32
    edges: Int32
    tables: Float32
    table_of: Int32
    weight: Float32
    factors: Float32
    factor_of: Int32

    @property
    def n_nodes(self) -> int:
        """Number of nodes, N."""
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return int(self.unary.shape[1])


def make_problem(
    unary: ArrayLike,
    edges: ArrayLike,
    tables: ArrayLike,
    table_of: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> Problem:
    """A checked problem from array-likes. Arrays of the right type and layout are not copied.

    Without `table_of` there must be one table for all edges, or one for each; without `weight` all weights are 1.
    """
    ends = np.ascontiguousarray(np.asarray(edges).reshape(-1, 2), dtype=np.int32)
    stack = np.ascontiguousarray(tables, dtype=np.float32)
    if stack.ndim == 2:
        stack = stack[None]
    if table_of is None:
        table_of = np.zeros(len(ends)) if len(stack) == 1 else np.arange(len(ends))
    problem = Problem(
        np.ascontiguousarray(unary, dtype=np.float32),
        ends,
        stack,
        np.ascontiguousarray(table_of, dtype=np.int32),
        np.ones(len(ends), np.float32) if weight is None else np.ascontiguousarray(weight, dtype=np.float32),
        np.ones((1, stack.shape[-1]), np.float32),
        np.zeros((len(ends), 2), np.int32),
    )
    _check(problem)
    return problem


def _check(problem: Problem) -> None:
    unary = problem.unary
    edges = problem.edges
    tables = problem.tables
    if unary.ndim != 2 or 0 in unary.shape:
        raise UsageError(f"unary must be (N, L) with at least one node and one label. Got {unary.shape}")
    n_nodes, n_labels = unary.shape
    if tables.ndim != 3 or tables.shape[1:] != (n_labels, n_labels):
        raise UsageError(
            f"tables must be (K, {n_labels}, {n_labels}) as unary has {n_labels} labels. Got {tables.shape}"
        )
    for name, values in (("table_of", problem.table_of), ("weight", problem.weight)):
        if values.shape != (len(edges),):
            raise UsageError(f"{name} must have one value for each of {len(edges)} edges. Got {values.shape}")
    if len(edges) and not (edges.min() >= 0 and edges.max() < n_nodes):
        raise UsageError(f"edges must join nodes 0 to {n_nodes - 1}. Got {edges.min()} to {edges.max()}")
    if (edges[:, 0] == edges[:, 1]).any():
        raise UsageError(f"edges must join two different nodes. Got {edges[edges[:, 0] == edges[:, 1]][0].tolist()}")
    if len(edges) and not (problem.table_of.min() >= 0 and problem.table_of.max() < len(tables)):
        raise UsageError(f"table_of must point at tables 0 to {len(tables) - 1}. Got {problem.table_of.max()}")
    for name, values in (("unary", unary), ("tables", tables), ("weight", problem.weight)):
        if not np.isfinite(values).all():
            raise UsageError(
                f"{name} must be finite. Got {values[~np.isfinite(values)][0]}; use a large number instead"
            )


def check_labels(problem: Problem, labels: ArrayLike) -> Int32:
    """A copy of a labelling, (N,) int32; UsageError if it does not fit the problem."""
    checked = np.array(labels, dtype=np.int32)
    if checked.shape != (problem.n_nodes,):
        raise UsageError(f"a labelling must have one label for each of {problem.n_nodes} nodes. Got {checked.shape}")
    if not (checked.min() >= 0 and checked.max() < problem.n_labels):
        raise UsageError(f"labels must be 0 to {problem.n_labels - 1}. Got {checked.min()} to {checked.max()}")
    return checked


def energy(problem: Problem, labels: Int32) -> float:
    """Energy of a labelling (N,), summed in double precision."""
    return float(_unaries(problem.unary, np.asarray(labels)) + edge_energies(problem, labels).sum())


def edge_energies(problem: Problem, labels: Int32) -> Float64:
    """Energy of every edge, (E,) float64, for a labelling (N,)."""
    pairs = problem.tables, problem.table_of, problem.factors, problem.factor_of
    found: Float64 = _edge_energies(problem.edges, problem.weight, *pairs, np.asarray(labels))
    return found


def without_factors(problem: Problem) -> Problem:
    """The same problem, with a table of its own for every edge that has factors."""
    factored = np.flatnonzero(problem.factor_of.any(axis=1))
    rows, columns = problem.factors[problem.factor_of[factored]].transpose(1, 0, 2)
    new_tables = problem.tables[problem.table_of[factored]] * rows[:, :, None] * columns[:, None, :]
    table_of = problem.table_of.copy()
    table_of[factored] = len(problem.tables) + np.arange(len(factored))
    tables = np.concatenate([problem.tables, new_tables])
    return replace(
        problem,
        tables=tables,
        table_of=table_of,
        factors=problem.factors[:1],
        factor_of=np.zeros_like(problem.factor_of),
    )


@njit(cache=True, nogil=True)
def _unaries(unary, labels):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(unary)):
        total += np.float64(unary[i, labels[i]])
    return total


@njit(cache=True, nogil=True)
def _edge_energies(edges, weight, tables, table_of, factors, factor_of, labels):  # type: ignore[no-untyped-def]
    found = np.empty(len(edges))
    for e in range(len(edges)):
        a = labels[edges[e, 0]]
        b = labels[edges[e, 1]]
        both = np.float64(factors[factor_of[e, 0], a]) * np.float64(factors[factor_of[e, 1], b])
        found[e] = np.float64(weight[e]) * np.float64(tables[table_of[e], a, b]) * both
    return found
