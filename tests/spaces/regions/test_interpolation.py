"""Interpolation against a plain loop over layers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from budgetseg.policy.neighbours import neighbours_of
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.timing.clock import thread_s
from budgetseg.types import Bool, Float32, Float64, Graph
from tests.graphs import graph_of, graphs

few = settings(deadline=None, max_examples=80)

PRIOR = np.array([0.5, 0.3, 0.2])
CHAIN = graph_of([[0, 1], [1, 2], [2, 3]], [[0, 0, 0], [0, 0, 1], [0, 0, 3], [0, 0, 4]])


def random_rows(graph: Graph, seed: int) -> tuple[Float32, Bool]:
    """Probabilities, nonsense where they are not known."""
    rng = np.random.default_rng(seed)
    known = rng.random(len(graph)) < rng.random()
    rows = rng.dirichlet(np.ones(len(PRIOR)), len(graph)).astype(np.float32)
    rows[~known] = np.nan
    return rows, known


def plain_interpolate(rows: Float32, known: Bool, graph: Graph) -> Float64:
    found = {i: rows[i].astype(np.float64) for i in np.flatnonzero(known).tolist()}
    near: dict[int, set[int]] = {i: set() for i in range(len(graph))}
    for a, b in graph.edges.tolist():
        near[a].add(b)
        near[b].add(a)
    while layer := {i: near[i] & set(found) for i in near if i not in found and near[i] & set(found)}:
        new = {}
        for i, others in layer.items():
            weights = {j: 1 / max(float(np.linalg.norm(graph.centroids[i] - graph.centroids[j])), 1e-6) for j in others}
            new[i] = sum(weight * found[j] for j, weight in weights.items()) / sum(weights.values())
        found |= new
    return np.array([found.get(i, PRIOR) for i in range(len(graph))])


@given(graphs(), st.integers(0, 2**32))
@few
def test_rows_are_those_of_a_plain_loop_over_layers(graph: Graph, seed: int) -> None:
    rows, known = random_rows(graph, seed)
    assert np.allclose(interpolate(rows, known, graph, PRIOR), plain_interpolate(rows, known, graph), atol=1e-6)


@given(graphs(), st.integers(0, 2**32))
@few
def test_rows_sum_to_one_and_known_ones_stay(graph: Graph, seed: int) -> None:
    rows, known = random_rows(graph, seed)
    found = interpolate(rows, known, graph, PRIOR)
    assert found.dtype == np.float32
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(found[known], rows[known])
    assert np.isnan(rows[~known]).all()  # what came in is left alone


@given(graphs(), st.integers(0, 2**32))
@few
def test_neighbours_may_be_made_once(graph: Graph, seed: int) -> None:
    rows, known = random_rows(graph, seed)
    again = interpolate(rows, known, neighbours_of(graph), PRIOR)
    assert np.array_equal(interpolate(rows, known, graph, PRIOR), again)


@given(graphs(), st.integers(0, 2**32))
@few
def test_the_order_of_supervoxels_plays_no_part(graph: Graph, seed: int) -> None:
    rows, known = random_rows(graph, seed)
    new = np.random.default_rng(seed).permutation(len(graph))
    old = np.argsort(new)
    shuffled = graph_of(new[graph.edges], graph.centroids[old])
    found = interpolate(rows[old], known[old], shuffled, PRIOR)
    assert np.allclose(found[new], interpolate(rows, known, graph, PRIOR), atol=1e-6)


def test_nearer_neighbours_weigh_more() -> None:
    rows = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0]], np.float32)
    known = np.array([True, False, True, True])
    found = interpolate(rows, known, CHAIN, PRIOR)
    assert np.allclose(found[1], [2 / 3, 1 / 3, 0])  # at distances 1 and 2


def test_a_layer_does_not_see_its_own_rows() -> None:
    rows = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]], np.float32)
    found = interpolate(rows, np.array([True, False, False, True]), CHAIN, PRIOR)
    assert np.array_equal(found[1], rows[0])
    assert np.array_equal(found[2], rows[3])


def test_an_isolated_supervoxel_gets_the_prior() -> None:
    graph = graph_of([[0, 1]], np.eye(3))
    rows = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], np.float32)
    found = interpolate(rows, np.array([True, False, False]), graph, PRIOR)
    assert np.array_equal(found[1], rows[0])
    assert np.array_equal(found[2], PRIOR.astype(np.float32))


def test_where_nothing_is_known_all_get_the_prior() -> None:
    found = interpolate(np.full((4, 3), np.nan, np.float32), np.zeros(4, np.bool_), CHAIN, PRIOR)
    assert np.array_equal(found, np.tile(PRIOR.astype(np.float32), (4, 1)))


def test_where_everything_is_known_nothing_changes() -> None:
    rows = np.random.default_rng(0).random((4, 3), np.float32)
    assert np.array_equal(interpolate(rows, np.ones(4, np.bool_), CHAIN, PRIOR), rows)


@pytest.mark.parametrize("known", [False, True])
def test_a_video_may_be_a_single_supervoxel(known: bool) -> None:
    rows = np.array([[0, 1, 0]], np.float32)
    found = interpolate(rows, np.array([known]), graph_of([], [[0, 0, 0]]), PRIOR)
    assert np.array_equal(found, rows if known else PRIOR.astype(np.float32)[None])


def test_neighbours_at_the_same_place_weigh_the_same() -> None:
    graph = replace(CHAIN, centroids=np.zeros((4, 3)))
    rows = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0]], np.float32)
    found = interpolate(rows, np.array([True, False, True, True]), graph, PRIOR)
    assert np.allclose(found[1], [0.5, 0.5, 0])


def test_a_video_takes_milliseconds() -> None:
    rng = np.random.default_rng(0)
    places = rng.random((3500, 3)) * 100
    near = cKDTree(places).query(places, 6)[1]
    edges = np.stack([np.repeat(near[:, 0], 5), near[:, 1:].ravel()], axis=1)
    graph = graph_of(edges, places)
    rows, known = rng.dirichlet(np.ones(11), 3500).astype(np.float32), rng.random(3500) < 0.05
    seconds = []
    for _ in range(5):
        began_s = thread_s()
        interpolate(rows, known, graph, np.full(11, 1 / 11))
        seconds.append(thread_s() - began_s)
    assert min(seconds) < 0.02  # 0.5 ms where nothing else runs
