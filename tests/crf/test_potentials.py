"""Energies against the formula, label by label."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.crf import expand
from budgetseg.crf.potentials import Crf, Nodes, expected_inputs, make_potentials
from budgetseg.crf.problem import Problem, without_factors
from budgetseg.types import Float64, Graph
from tests.crf.problems import few
from tests.graphs import graph_of, graphs, random_graph

STARTS = np.array([0, 2, 5, 6])
N_LABELS = 4
CASES = {"all": (0b111,), "same": (0b101,), "mixed": tuple(range(8)), "neither": (0,)}
"""Descriptors that supervoxels may have."""


def random_crf(seed: int) -> Crf:
    rng = np.random.default_rng(seed)
    pair = np.triu(rng.random((N_LABELS, N_LABELS)), 1)
    weight, bias = rng.uniform(0.5, 2, N_LABELS), rng.normal(size=N_LABELS)
    expected = rng.normal(size=(STARTS[-1], N_LABELS)) * 0.7
    parts = [part.astype(np.float32) for part in (weight, bias, pair + pair.T, expected)]
    return Crf(parts[0], parts[1], parts[2], float(rng.choice([0, 0.5, 2])), parts[3])


def random_evidence(n: int, case: str, seed: int) -> Nodes:
    """Probabilities, some of them zero; inputs are nonsense where they were not computed."""
    rng = np.random.default_rng(seed)
    subsets = rng.choice(CASES[case], n).astype(np.int32)
    inputs = (rng.normal(size=(n, STARTS[-1])) * 0.7).astype(np.float32)
    for d in range(3):
        inputs[subsets >> d & 1 == 0, STARTS[d] : STARTS[d + 1]] = np.nan
    probabilities = rng.dirichlet(np.full(N_LABELS, 0.3), n).astype(np.float32)
    probabilities[0] = np.eye(N_LABELS)[0]
    return Nodes(probabilities, inputs, subsets, STARTS)


def plain_table(crf: Crf, evidence: Nodes, i: int, j: int) -> Float64:
    """Price times similarity, for each pair of labels (L, L)."""
    either = int(evidence.subsets[i] | evidence.subsets[j]) or 0b111

    def seen(node: int, d: int, label: int) -> Float64:
        columns = slice(STARTS[d], STARTS[d + 1])
        own = evidence.inputs[node, columns] if evidence.subsets[node] >> d & 1 else crf.expected[columns, label]
        return own.astype(np.float64)

    table = np.zeros((N_LABELS, N_LABELS))
    for a, b in np.ndindex(N_LABELS, N_LABELS):
        used = [d for d in range(3) if either >> d & 1]
        distance = np.mean([((seen(i, d, a) - seen(j, d, b)) ** 2).sum() / 2 for d in used])
        table[a, b] = crf.pair[a, b] * np.exp(-crf.contrast * distance)
    return table


def edge_tables(problem: Problem) -> Float64:
    """What each edge costs, (E, L, L)."""
    plain = without_factors(problem)
    return plain.weight[:, None, None].astype(np.float64) * plain.tables[plain.table_of]


cases = pytest.mark.parametrize("case", CASES)


@cases
@given(graph=graphs(12), seed=st.integers(0, 2**32))
@few
def test_every_edge_costs_what_the_formula_says(case: str, graph: Graph, seed: int) -> None:
    crf, evidence = random_crf(seed), random_evidence(len(graph), case, seed)
    found = edge_tables(make_potentials(crf, evidence, graph))
    for table, (i, j), contact in zip(found, graph.edges.tolist(), graph.contact, strict=True):
        plain = np.sqrt(contact / graph.contact.mean()) * plain_table(crf, evidence, i, j)
        assert np.allclose(table, plain, rtol=1e-4, atol=1e-6)


@given(graphs(), st.integers(0, 2**32))
@few
def test_every_label_costs_what_the_formula_says(graph: Graph, seed: int) -> None:
    crf, evidence = random_crf(seed), random_evidence(len(graph), "mixed", seed)
    found = make_potentials(crf, evidence, graph).unary
    for i, label in np.ndindex(found.shape):
        log_p = -np.log(max(float(evidence.probabilities[i, label]), 1e-5))
        plain = crf.unary_weight[label] * log_p + crf.unary_bias[label]
        assert found[i, label] == pytest.approx(
            np.sqrt(graph.sizes[i] / graph.sizes.mean()) * plain, rel=1e-4, abs=1e-5
        )


@cases
@given(graph=graphs(), seed=st.integers(0, 2**32))
@few
def test_tables_are_finite_not_negative_and_zero_for_one_label(case: str, graph: Graph, seed: int) -> None:
    problem = make_potentials(random_crf(seed), random_evidence(len(graph), case, seed), graph)
    tables = edge_tables(problem)
    assert np.isfinite(problem.unary).all()
    assert np.isfinite(tables).all()
    assert (tables >= 0).all()
    assert (tables[:, np.arange(N_LABELS), np.arange(N_LABELS)] == 0).all()


@cases
@given(graph=graphs(), seed=st.integers(0, 2**32))
@few
def test_an_edge_turned_around_has_its_table_turned_around(case: str, graph: Graph, seed: int) -> None:
    crf, evidence = random_crf(seed), random_evidence(len(graph), case, seed)
    turned = replace(graph, edges=np.ascontiguousarray(graph.edges[:, ::-1]))
    there, back = (edge_tables(make_potentials(crf, evidence, each)) for each in (graph, turned))
    assert np.allclose(there, back.transpose(0, 2, 1), rtol=1e-5, atol=1e-7)


def test_edges_whose_ends_have_the_same_descriptors_share_a_table() -> None:
    graph = random_graph(30, 60, 0)
    for case in ("all", "same", "neither"):
        problem = make_potentials(random_crf(0), random_evidence(30, case, 0), graph)
        assert len(problem.tables) == 2
        assert len(np.unique(problem.table_of)) == 1


def test_neighbours_without_descriptors_share_their_factors() -> None:
    graph, evidence = graph_of([[0, 1], [0, 2], [0, 3]], np.zeros((4, 3))), random_evidence(4, "all", 0)
    evidence.subsets[1:3], evidence.subsets[3] = 0, 0b001
    problem = make_potentials(random_crf(0), evidence, graph)
    assert len(problem.tables) == 2
    assert (problem.factor_of[:, 0] == 0).all()
    assert problem.factor_of[0, 1] == problem.factor_of[1, 1] != problem.factor_of[2, 1]


def test_supervoxels_that_look_alike_are_dearer_to_part() -> None:
    evidence = random_evidence(3, "all", 0)
    evidence.inputs[1] = evidence.inputs[0] + np.float32(0.1)
    evidence.inputs[2] = evidence.inputs[1] + 1
    graph = replace(graph_of([[0, 1], [1, 2]], np.zeros((3, 3))), contact=np.array([5, 5]))
    alike, different = edge_tables(make_potentials(replace(random_crf(0), contrast=1.0), evidence, graph))
    off = ~np.eye(N_LABELS, dtype=np.bool_)
    assert (alike[off] > different[off]).all()


def test_a_missing_descriptor_favours_the_label_that_expects_what_the_neighbour_has() -> None:
    crf = replace(random_crf(0), contrast=1.0)
    crf.pair[:] = 1 - np.eye(N_LABELS)
    evidence = random_evidence(2, "all", 0)
    evidence.subsets[1] = 0
    evidence.inputs[0] = crf.expected[:, 2]
    (table,) = edge_tables(make_potentials(crf, evidence, graph_of([[0, 1]], np.zeros((2, 3)))))
    assert (table[[0, 1, 3], :].argmax(axis=1) == 2).all()


@pytest.mark.parametrize("n", [1, 5])
@cases
def test_without_edges_every_supervoxel_takes_its_cheapest_label(case: str, n: int) -> None:
    problem = make_potentials(random_crf(1), random_evidence(n, case, 1), graph_of([], np.zeros((n, 3))))
    assert len(problem.edges) == len(problem.weight) == 0
    assert np.array_equal(expand(problem), problem.unary.argmin(axis=1))


def test_arrays_are_what_inference_takes_without_copying() -> None:
    problem = make_potentials(random_crf(0), random_evidence(20, "mixed", 0), random_graph(20, 40, 0))
    assert problem.unary.dtype == problem.tables.dtype == problem.weight.dtype == np.float32
    assert problem.table_of.dtype == problem.edges.dtype == np.int32
    assert problem.unary.flags.c_contiguous
    assert problem.tables.flags.c_contiguous


def test_expected_inputs_are_means_over_labelled_pixels() -> None:
    inputs = np.array([[1, 0], [3, 0], [5, 8]], np.float32)
    truth = np.array([[1, 0, 0], [3, 4, 0], [0, 0, 0]])
    expected = expected_inputs(inputs, truth)
    assert expected.dtype == np.float32
    assert np.allclose(expected[:, :2], np.array([[2.5, 3], [0, 0]]))
    assert np.allclose(expected[:, 2], [22 / 8, 0])  # of a class that does not occur, what is expected of any


def test_without_any_descriptors_contact_and_price_remain() -> None:
    crf = replace(random_crf(0), expected=np.zeros((0, N_LABELS), np.float32))
    graph, full = random_graph(20, 40, 0), random_evidence(20, "neither", 0)
    evidence = replace(full, inputs=np.zeros((20, 0), np.float32), starts=np.zeros(1, np.int64))
    problem = make_potentials(crf, evidence, graph)
    contact = np.sqrt(graph.contact / graph.contact.mean())
    assert np.allclose(edge_tables(problem), contact[:, None, None] * crf.pair, rtol=1e-5)
