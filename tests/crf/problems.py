"""Random problems, small enough to try all labellings."""

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from budgetseg.crf import Problem, energy, make_problem
from budgetseg.types import Float32, Float64, Int32

few = settings(deadline=None, max_examples=60)

REGULAR = ("potts", "metric")
"""Of tables, for all moves."""
KINDS = (*REGULAR, "any", "negative", "whole")


def random_edges(n: int, n_edges: int, rng: np.random.Generator) -> Int32:
    """Edges (E, 2) between different nodes, in either direction, some of them double."""
    if n < 2:
        return np.zeros((0, 2), np.int32)
    first = rng.integers(0, n, n_edges)
    return np.stack([first, (first + rng.integers(1, n, n_edges)) % n], axis=1).astype(np.int32)


def random_tables(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> Float64:
    """Tables (K, L, L)."""
    n_tables, n_labels = shape
    if kind == "potts":
        return np.broadcast_to(1 - np.eye(n_labels), (n_tables, n_labels, n_labels)).copy()
    if kind == "metric":
        places = rng.normal(size=(n_tables, n_labels, 2))
        distances: Float64 = np.abs(places[:, :, None] - places[:, None]).sum(axis=-1)
        return distances
    if kind == "whole":
        return rng.integers(-3, 4, (n_tables, n_labels, n_labels)).astype(np.float64)
    tables = rng.exponential(size=(n_tables, n_labels, n_labels))
    return tables if kind == "any" else tables - 2


def random_problem(n: int, n_labels: int, n_edges: int, kind: str, seed: int) -> Problem:
    """Unaries of about the strength of the edges; one table for all of them or one for each."""
    rng = np.random.default_rng(seed)
    edges = random_edges(n, n_edges, rng)
    one = rng.random() < 0.5 or not len(edges)
    tables = random_tables(kind, (1 if one else len(edges), n_labels), rng)
    unary = rng.normal(size=(n, n_labels)) * rng.choice([0.3, 1, 4])
    if kind == "whole":
        return make_problem(np.rint(unary), edges, tables)
    problem = make_problem(unary, edges, tables, weight=rng.random(len(edges)) * rng.choice([0.5, 2]))
    return problem if kind in REGULAR else with_factors(problem, rng)


def with_factors(problem: Problem, rng: np.random.Generator) -> Problem:
    """Some ends of edges have factors."""
    factors = np.concatenate([np.ones((1, problem.n_labels)), rng.random((3, problem.n_labels))])
    factor_of = rng.integers(0, 4, (len(problem.edges), 2)) * rng.integers(0, 2, (len(problem.edges), 2))
    return replace(problem, factors=factors.astype(np.float32), factor_of=factor_of.astype(np.int32))


@st.composite
def problems(draw: st.DrawFn, kinds: tuple[str, ...] = KINDS, largest: int = 40) -> Problem:
    """Any graph, connected or not."""
    n, n_labels = draw(st.integers(1, largest)), draw(st.integers(1, 5))
    n_edges = draw(st.integers(0, 3 * n))
    return random_problem(n, n_labels, n_edges, draw(st.sampled_from(kinds)), draw(st.integers(0, 2**32)))


def random_labels(problem: Problem, seed: int) -> Int32:
    return np.random.default_rng(seed).integers(0, problem.n_labels, problem.n_nodes).astype(np.int32)


def plain_energy(problem: Problem, labels: Int32) -> float:
    """The formula in the docstring of `Problem`."""
    total = sum(float(problem.unary[i, label]) for i, label in enumerate(labels))
    for e, (i, j) in enumerate(problem.edges):
        a, b, (rows, columns) = labels[i], labels[j], problem.factor_of[e]
        factor = float(problem.factors[rows, a]) * float(problem.factors[columns, b])
        total += float(problem.weight[e]) * float(problem.tables[problem.table_of[e], a, b]) * factor
    return total


def least_energy(problem: Problem) -> float:
    """Of all labellings."""
    every = product(range(problem.n_labels), repeat=problem.n_nodes)
    return min(energy(problem, np.array(labels, np.int32)) for labels in every)


def potts(n_labels: int) -> Float32:
    return (1 - np.eye(n_labels)).astype(np.float32)
