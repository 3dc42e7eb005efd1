"""Settled nodes against all labellings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.crf import Problem, energy, expand
from budgetseg.crf.arcs import find_incidence
from budgetseg.crf.settling import settle
from budgetseg.crf.terms import scale_of
from budgetseg.types import Bool, Float64, Int32
from tests.crf.problems import KINDS, few, problems, random_labels, random_problem


def settled(problem: Problem, labels: Int32) -> tuple[Bool, Float64, Float64]:
    """Which nodes are not free, and unary and reach, in the units of the problem."""
    scale = scale_of(problem)
    free, unary, reach = settle(problem, labels, find_incidence(problem.n_nodes, problem.edges), scale)
    return ~free, unary / scale, reach / scale


def with_strong_unaries(kind: str, seed: int) -> Problem:
    problem = random_problem(12, 3, 20, kind, seed)
    problem.unary[:] *= 3
    return problem


@pytest.mark.parametrize("kind", KINDS)
def test_a_settled_node_is_best_off_with_its_label_whatever_the_free_ones_do(kind: str) -> None:
    some = 0
    for seed in range(30):
        problem, rng = with_strong_unaries(kind, seed), np.random.default_rng(seed)
        labels = np.argmin(problem.unary, axis=1).astype(np.int32)
        firm, _, _ = settled(problem, labels)
        some += firm.sum()
        for _ in range(20):
            others = np.where(firm, labels, rng.integers(0, 3, 12)).astype(np.int32)
            for i in np.flatnonzero(firm):
                changed = others.copy()
                changed[i] = rng.integers(0, 3)
                assert energy(problem, others) <= energy(problem, changed) + 1e-6
    assert 30 < some < 30 * 12  # there are both


@pytest.mark.parametrize("kind", KINDS)
def test_free_nodes_are_charged_for_their_edges_to_settled_ones(kind: str) -> None:
    for seed in range(30):
        problem, rng = with_strong_unaries(kind, seed), np.random.default_rng(seed)
        labels = np.argmin(problem.unary, axis=1).astype(np.int32)
        firm, unary, _ = settled(problem, labels)
        free = np.flatnonzero(~firm)
        if len(free) == 0:
            continue
        i = free[0]
        others = np.where(firm, labels, rng.integers(0, 3, 12)).astype(np.int32)
        alone = ~((problem.edges == i).any(axis=1) & ~firm[problem.edges].any(axis=1))  # less edges to free nodes
        part = Problem(
            problem.unary,
            problem.edges[alone],
            problem.tables,
            problem.table_of[alone],
            problem.weight[alone],
            problem.factors,
            problem.factor_of[alone],
        )
        energies = [energy(part, np.where(np.arange(12) == i, label, others)) for label in range(3)]
        assert np.diff(energies) == pytest.approx(np.diff(unary[i]), rel=1e-6, abs=1e-6)


@given(problems(), st.integers(0, 2**32))
@few
def test_no_edge_among_free_nodes_wins_more_than_the_reach(problem: Problem, seed: int) -> None:
    labels = random_labels(problem, seed)
    firm, _, reach = settled(problem, labels)
    kept = ~firm[problem.edges].any(axis=1)
    tables = np.abs(problem.tables).max(axis=(1, 2))[problem.table_of] * problem.weight
    least = np.bincount(problem.edges[kept].ravel(), np.repeat(tables[kept], 2), problem.n_nodes)
    assert (reach[~firm] <= 2 * least[~firm] + 1e-6).all()
    assert (reach[~firm] >= 0).all()


@given(problems(), st.integers(0, 2**32))
@few
def test_settled_nodes_keep_their_label_in_the_result(problem: Problem, seed: int) -> None:
    start = random_labels(problem, seed)
    firm, _, _ = settled(problem, start)
    assert np.array_equal(expand(problem, start)[firm], start[firm])


def test_who_has_no_neighbours_is_settled_on_the_best_label_and_free_on_any_other() -> None:
    problem = random_problem(20, 4, 0, "potts", 0)
    best = np.argmin(problem.unary, axis=1).astype(np.int32)
    assert settled(problem, best)[0].all()
    assert not settled(problem, (best + 1).astype(np.int32) % 4)[0].any()
