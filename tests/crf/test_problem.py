import numpy as np
import pytest
from hypothesis import given

from budgetseg.crf import Problem, energy, make_problem
from budgetseg.crf.problem import check_labels, without_factors
from budgetseg.errors import UsageError
from tests.crf.problems import few, plain_energy, potts, problems, random_labels

UNARY = np.zeros((3, 2), np.float32)
EDGES = np.array([[0, 1], [1, 2]], np.int32)


@given(problems())
@few
def test_the_energy_is_the_sum_that_the_docstring_says(problem: Problem) -> None:
    labels = random_labels(problem, 0)
    assert energy(problem, labels) == pytest.approx(plain_energy(problem, labels), rel=1e-12, abs=1e-12)


@given(problems())
@few
def test_without_factors_the_energy_is_the_same(problem: Problem) -> None:
    labels, plain = random_labels(problem, 0), without_factors(problem)
    assert not plain.factor_of.any()
    assert energy(plain, labels) == pytest.approx(energy(problem, labels), rel=1e-5, abs=1e-5)


def test_the_energy_is_summed_in_double_precision() -> None:
    unary = np.array([[2**24], [1], [1]], np.float32)
    assert energy(make_problem(unary, [], np.zeros((1, 1))), np.zeros(3, np.int32)) == 2**24 + 2


def test_rows_of_a_table_are_labels_of_the_first_end() -> None:
    table = np.array([[0, 5], [7, 0]])
    problem = make_problem(UNARY[:2], [[1, 0]], table)
    assert energy(problem, np.array([1, 0], np.int32)) == 5
    assert energy(problem, np.array([0, 1], np.int32)) == 7


def test_right_arrays_are_not_copied() -> None:
    tables, table_of, weight = potts(2)[None], np.zeros(2, np.int32), np.ones(2, np.float32)
    problem = make_problem(UNARY, EDGES, tables, table_of, weight)
    assert problem.unary is UNARY
    assert np.shares_memory(problem.edges, EDGES)
    assert problem.tables is tables


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((np.zeros(3), EDGES, potts(2)), r"unary must be \(N, L\)"),
        ((np.zeros((0, 2)), [], potts(2)), "at least one node"),
        ((UNARY, EDGES, potts(3)), r"tables must be \(K, 2, 2\)"),
        ((UNARY, [[0, 3]], potts(2)), "edges must join nodes 0 to 2. Got 0 to 3"),
        ((UNARY, [[0, -1]], potts(2)), "edges must join nodes 0 to 2"),
        ((UNARY, [[1, 1]], potts(2)), "two different nodes"),
        ((UNARY, EDGES, potts(2), [0]), "table_of must have one value for each of 2 edges"),
        ((UNARY, EDGES, potts(2), [0, 1]), "table_of must point at tables 0 to 0"),
        ((UNARY, EDGES, potts(2), None, [1.0]), "weight must have one value for each of 2 edges"),
        ((np.full((3, 2), np.nan), EDGES, potts(2)), "unary must be finite"),
        ((UNARY, EDGES, potts(2) + np.inf), "tables must be finite"),
        ((UNARY, EDGES, potts(2), None, [1, -np.inf]), "weight must be finite. Got -inf"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(arguments: tuple[object, ...], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as caught:
        make_problem(*arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2], [0, -1, 0]])
def test_labels_of_another_problem_are_refused(labels: list[int]) -> None:
    with pytest.raises(UsageError, match="label"):
        check_labels(make_problem(UNARY, EDGES, potts(2)), labels)
