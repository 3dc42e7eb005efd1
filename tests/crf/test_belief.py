"""Belief propagation: exact on trees, sound with loops."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.crf import Memory, Problem, energy, expand, make_problem, propagate
from tests.crf.problems import KINDS, few, least_energy, problems, random_labels, random_problem, random_tables


@st.composite
def forests(draw: st.DrawFn) -> Problem:
    """Trees, with ties between labellings if numbers are whole."""
    n, n_labels, kind = draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.sampled_from(KINDS))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    edges = [(i, int(rng.integers(i)))[:: rng.choice([1, -1])] for i in range(1, n) if rng.random() < 0.9]
    unary = rng.integers(-2, 3, (n, n_labels)) if kind == "whole" else rng.normal(size=(n, n_labels))
    names = rng.permutation(n)
    return make_problem(
        unary, names[np.array(edges, int).reshape(-1, 2)], random_tables(kind, (max(1, len(edges)), n_labels), rng)
    )


@given(forests())
@few
def test_trees_get_the_best_of_all_labellings(problem: Problem) -> None:
    assert energy(problem, propagate(problem)) == pytest.approx(least_energy(problem), rel=1e-9, abs=1e-9)


@given(problems(), st.integers(0, 2**32))
@few
def test_the_result_is_never_worse_than_the_start(problem: Problem, seed: int) -> None:
    start = random_labels(problem, seed)
    assert energy(problem, propagate(problem, start)) <= energy(problem, start)


@given(problems())
@few
def test_memory_changes_nothing(problem: Problem) -> None:
    memory = Memory()
    propagate(problem, None, memory)
    expand(problem, None, memory)
    assert np.array_equal(propagate(problem, None, memory), propagate(problem))


def test_two_threads_find_what_one_finds() -> None:
    cases = [random_problem(200, 5, 500, kind, seed) for kind in KINDS for seed in range(2)]
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(propagate, cases))
    assert all(np.array_equal(a, propagate(problem)) for a, problem in zip(both, cases, strict=True))


def test_it_comes_near_expansion_on_loops() -> None:
    for seed in range(5):
        problem = random_problem(300, 5, 900, "potts", seed)
        expanded = energy(problem, expand(problem))
        by_unary = energy(problem, np.argmin(problem.unary, axis=1).astype(np.int32))
        assert energy(problem, propagate(problem)) <= expanded + 0.2 * (by_unary - expanded) + 1e-6


def test_more_rounds_are_never_worse() -> None:
    problem = random_problem(100, 4, 300, "any", 3)
    energies = [energy(problem, propagate(problem, rounds=rounds)) for rounds in (1, 5, 25)]
    assert energies == sorted(energies, reverse=True)
