"""α-expansion against all labellings, SciPy's max-flow, and itself from other starts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from budgetseg.crf import INFERENCE, Memory, Problem, energy, expand, expansion, make_problem
from budgetseg.timing.clock import thread_s
from budgetseg.types import Int32
from tests.crf.problems import KINDS, REGULAR, few, least_energy, potts, problems, random_labels, random_problem

CLOSE = 1e-9


def best_move(problem: Problem, labels: Int32, alpha: int) -> float:
    """Least energy of all subsets of nodes taking a label."""
    n = problem.n_nodes
    return min(
        energy(problem, np.where([subset >> i & 1 for i in range(n)], alpha, labels).astype(np.int32))
        for subset in range(2**n)
    )


def peer_energy(problem: Problem) -> float:
    """Least energy of two labels by SciPy's max-flow, for whole numbers and Potts edges."""
    n = problem.n_nodes
    rise = (problem.unary[:, 1] - problem.unary[:, 0]).astype(np.int64)
    first, second = problem.edges.T
    rows = np.concatenate([first, second, np.where(rise > 0, n, np.arange(n))])
    columns = np.concatenate([second, first, np.where(rise > 0, np.arange(n), n + 1)])
    values = np.concatenate([problem.weight, problem.weight, np.abs(rise)]).astype(np.int32)
    flow = maximum_flow(coo_array((values, (rows, columns)), shape=(n + 2, n + 2)).tocsr(), n, n + 1)
    return float(problem.unary[:, 0].sum(dtype=np.float64) + np.minimum(rise, 0).sum() + flow.flow_value)


@given(st.integers(1, 9), st.sampled_from(REGULAR), st.integers(0, 2**32))
@few
def test_two_labels_and_regular_edges_give_the_best_of_all_labellings(n: int, kind: str, seed: int) -> None:
    problem = random_problem(n, 2, 2 * n, kind, seed)
    assert energy(problem, expand(problem)) == pytest.approx(least_energy(problem), rel=CLOSE, abs=CLOSE)


@given(st.integers(2, 200), st.integers(0, 2**32))
@few
def test_two_labels_give_scipys_minimum(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rough = random_problem(n, 2, 3 * n, "potts", seed)
    problem = make_problem(
        rng.integers(0, 1000, (n, 2)), rough.edges, potts(2), weight=rng.integers(0, 400, len(rough.edges))
    )
    assert energy(problem, expand(problem)) == peer_energy(problem)


@given(problems(), st.integers(0, 2**32))
@few
def test_the_energy_never_rises_from_any_start_with_any_tables(problem: Problem, seed: int) -> None:
    start = random_labels(problem, seed)
    found = expand(problem, start)
    assert energy(problem, found) <= energy(problem, start)
    assert energy(problem, expand(problem, found)) <= energy(problem, found)


@given(problems())
@few
def test_the_result_is_no_worse_than_the_labels_of_the_unaries(problem: Problem) -> None:
    by_unary = np.argmin(problem.unary, axis=1).astype(np.int32)
    assert energy(problem, expand(problem)) <= energy(problem, by_unary) + CLOSE


@given(problems())
@few
def test_the_result_is_no_worse_than_one_label_for_all(problem: Problem) -> None:
    found = energy(problem, expand(problem))
    for label in range(problem.n_labels):
        assert found <= energy(problem, np.full(problem.n_nodes, label, np.int32)) + CLOSE


@given(problems(REGULAR, largest=8))
@few
def test_no_move_improves_the_result(problem: Problem) -> None:
    labels = expand(problem)
    for alpha in range(problem.n_labels):
        assert best_move(problem, labels, alpha) == pytest.approx(energy(problem, labels), rel=CLOSE, abs=CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_no_node_alone_improves_the_result(kind: str) -> None:
    for seed in range(60):
        problem = random_problem(30, 4, 90, kind, seed)
        labels = expand(problem, random_labels(problem, seed))
        for i, label in np.ndindex(30, 4):
            changed = labels.copy()
            changed[i] = label
            assert energy(problem, changed) >= energy(problem, labels) - CLOSE


@given(problems(), st.integers(0, 2**32))
@few
def test_memory_of_other_problems_changes_nothing(problem: Problem, seed: int) -> None:
    memory, rng = Memory(), np.random.default_rng(seed)
    for size in (1, 100, 1e-3):
        noise = size * rng.normal(size=problem.unary.shape)
        expand(replace(problem, unary=(problem.unary + noise).astype(np.float32)), None, memory)
    expand(random_problem(5, 3, 7, "any", seed), None, memory)
    assert np.array_equal(expand(problem, None, memory), expand(problem))
    start = random_labels(problem, seed)
    assert np.array_equal(expand(problem, start, memory), expand(problem, start))


@given(problems(), st.integers(0, 2**32), st.floats(0, 1))
@few
def test_memory_notices_edges_that_have_changed_in_place(problem: Problem, seed: int, share: float) -> None:
    memory, rng = Memory(), np.random.default_rng(seed)
    expand(problem, None, memory)
    for values in (problem.tables, problem.weight, problem.unary):
        values[rng.random(len(values)) < share] *= np.float32(1.5)
        problem.table_of[:] = rng.permutation(problem.table_of)
        assert np.array_equal(expand(problem, None, memory), expand(problem))


def test_memory_of_another_number_of_tables_changes_nothing() -> None:
    one, memory = random_problem(50, 4, 100, "any", 0), Memory()
    more = replace(one, tables=np.concatenate([one.tables, one.tables + 1])[: len(one.tables) + 1])
    for problem in (one, more, one):
        assert np.array_equal(expand(problem, None, memory), expand(problem))


@given(problems(), st.integers(0, 2**32))
@few
def test_a_result_is_where_a_run_from_it_ends(problem: Problem, seed: int) -> None:
    found = expand(problem, random_labels(problem, seed))
    assert np.array_equal(expand(problem, found), found)


def street(n: int = 3000, n_labels: int = 8) -> Problem:
    """A problem of real size on a lattice."""
    rng, width = np.random.default_rng(0), 50
    here = np.arange(n)
    right, below = here[here % width < width - 1], here[:-width]
    edges = np.concatenate([np.stack([right, right + 1], axis=1), np.stack([below, below + width], axis=1)])
    return make_problem(rng.exponential(size=(n, n_labels)), edges, potts(n_labels), weight=rng.random(len(edges)))


def test_the_same_problem_has_the_same_result() -> None:
    assert all(np.array_equal(expand(street()), expand(street())) for _ in range(2))


def test_two_threads_find_what_one_finds() -> None:
    cases = [random_problem(400, 6, 1200, kind, seed) for kind in KINDS for seed in range(3)]
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(expand, cases))
    assert all(np.array_equal(a, expand(problem)) for a, problem in zip(both, cases, strict=True))


def test_a_run_from_the_result_of_the_last_is_cheap() -> None:
    problem, memory = street(), Memory()
    found = expand(problem, None, memory)
    cold = _seconds(lambda: expand(problem))
    again = _seconds(lambda: expand(problem, found, memory))
    assert np.array_equal(expand(problem, found, memory), found)
    assert again < cold / 2


def _seconds(run: Callable[[], Int32]) -> float:
    times = []
    for _ in range(5):
        began_s = thread_s()
        run()
        times.append(thread_s() - began_s)
    return min(times)


class Patience:
    """Is enough when it was asked often enough."""

    def __init__(self, limit: float) -> None:
        self.limit, self.n_asked = limit, 0

    def __call__(self) -> bool:
        self.n_asked += 1
        return self.n_asked > self.limit


@pytest.mark.parametrize("with_memory", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_later_it_is_enough_the_lower_the_energy(
    kind: str, with_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansion, "_UNASKED", 0)  # asked after every move
    for seed in range(10):
        problem = random_problem(60, 5, 180, kind, seed)
        begin, endless = random_labels(problem, seed) if seed % 2 else None, Patience(np.inf)
        best, memory = expand(problem, begin), Memory() if with_memory else None
        assert np.array_equal(expand(problem, begin, None, endless), best)
        by_unary = np.argmin(problem.unary, axis=1).astype(np.int32)
        before = energy(problem, by_unary if begin is None else begin)
        for limit in range(endless.n_asked + 1):
            now = energy(problem, expand(problem, begin, memory, Patience(limit)))
            assert now <= before + CLOSE
            before = now
        assert before == energy(problem, best)
        assert endless.n_asked > problem.n_labels


def test_a_start_that_is_out_of_date_is_not_kept_where_it_is_enough_at_once() -> None:
    problem = street()
    stale, likely = np.zeros(problem.n_nodes, np.int32), np.argmin(problem.unary, axis=1)
    assert energy(problem, likely.astype(np.int32)) < energy(problem, stale)
    for limit in range(3):
        assert energy(problem, expand(problem, stale, None, Patience(limit))) <= energy(problem, likely)


def test_once_it_was_enough_nobody_asks_again() -> None:
    for begin in (None, random_labels(street(), 0)):
        for limit in range(4):
            patience = Patience(limit)
            expand(street(), begin, None, patience)
            assert patience.n_asked == limit + 1


def test_it_is_asked_as_often_for_the_same_problem_whatever_is_remembered() -> None:
    problem, memory = street(), Memory()
    for begin in (None, random_labels(problem, 0)):
        patiences = [Patience(np.inf) for _ in range(3)]
        for patience, of in zip(patiences, (Memory(), memory, memory), strict=True):
            expand(problem, begin, of, patience)
        assert len({patience.n_asked for patience in patiences}) == 1


@pytest.mark.parametrize("name", INFERENCE)
class TestEveryWayOfInference:
    def test_what_is_enough_at_once_costs_nothing_and_is_not_worse_than_the_start(self, name: str) -> None:
        for seed, kind in enumerate(KINDS):
            problem = random_problem(30, 4, 60, kind, seed)
            start = random_labels(problem, seed)
            by_unary = np.argmin(problem.unary, axis=1)
            assert np.array_equal(INFERENCE[name](problem, None, None, lambda: True), by_unary)
            assert energy(problem, INFERENCE[name](problem, start, None, lambda: True)) <= energy(problem, start)

    def test_what_is_enough_soon_is_a_labelling_that_is_not_worse_than_the_start(self, name: str) -> None:
        for seed, kind in enumerate(KINDS):
            problem = random_problem(30, 4, 60, kind, seed)
            start = random_labels(problem, seed)
            for limit in range(4):
                labels = INFERENCE[name](problem, start, None, Patience(limit))
                assert energy(problem, labels) <= energy(problem, start)

    def test_a_single_node_takes_its_best_label(self, name: str) -> None:
        assert INFERENCE[name](make_problem([[3, 1, 2]], [], potts(3))).tolist() == [1]

    def test_nodes_without_edges_take_their_best_labels(self, name: str) -> None:
        unary = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
        labels = INFERENCE[name](make_problem(unary, [[3, 4]], potts(4), weight=[0.0]))
        assert np.array_equal(labels, unary.argmin(axis=1))

    def test_an_isolated_node_beside_others_takes_its_best_label(self, name: str) -> None:
        problem = make_problem(np.array([[0, 1], [0.2, 0], [9, 3]]), [[0, 1]], potts(2))
        assert INFERENCE[name](problem).tolist() == [0, 0, 1]

    def test_one_label_is_taken_by_all(self, name: str) -> None:
        assert not INFERENCE[name](random_problem(20, 1, 40, "any", 0)).any()

    def test_energies_of_any_size_are_told_apart(self, name: str) -> None:
        for size in (1e-20, 1e20):
            problem = make_problem(size * np.array([[0, 1], [0.9, 0]]), [[0, 1]], potts(2), weight=[size])
            assert (
                INFERENCE[name](problem).tolist() == [1, 1] or energy(problem, INFERENCE[name](problem)) <= 0.9 * size
            )

    def test_labels_are_int32_and_the_start_stays_as_it_is(self, name: str) -> None:
        problem = random_problem(30, 4, 60, "any", 1)
        start = random_labels(problem, 0)
        before = start.copy()
        labels = INFERENCE[name](problem, start, Memory())
        assert labels.dtype == np.int32
        assert labels is not start
        assert np.array_equal(start, before)

    def test_no_start_is_made_worse(self, name: str) -> None:
        for seed in range(20):
            problem = random_problem(30, 4, 60, KINDS[seed % len(KINDS)], seed)
            start = random_labels(problem, seed)
            assert energy(problem, INFERENCE[name](problem, start)) <= energy(problem, start)
