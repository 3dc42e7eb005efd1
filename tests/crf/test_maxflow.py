"""Max-flow against SciPy's, and its cut against the definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from budgetseg.crf.maxflow import min_cut
from budgetseg.timing.clock import thread_s
from budgetseg.types import Bool, Int32, Int64
from tests.crf.problems import few, random_edges

Graph = tuple[Int32, Int64, Int64, Int64]
"""Edges, capacities there and back, excess."""


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    edges = random_edges(n, draw(st.integers(0, 4 * n)), rng)
    largest = draw(st.sampled_from([1, 3, 1000]))
    there, back = rng.integers(0, largest + 1, (2, len(edges)))
    return edges, there, back, rng.integers(-2 * largest, 2 * largest + 1, n)


def peer_flow(graph: Graph) -> int:
    """SciPy's maximum flow from a source N to a sink N + 1."""
    edges, there, back, excess = graph
    n = len(excess)
    rows = np.concatenate([edges[:, 0], edges[:, 1], np.where(excess > 0, n, np.arange(n))])
    columns = np.concatenate([edges[:, 1], edges[:, 0], np.where(excess > 0, np.arange(n), n + 1)])
    values = np.concatenate([there, back, np.abs(excess)])
    capacities = coo_array((values, (rows, columns)), shape=(n + 2, n + 2)).tocsr().astype(np.int32)
    return int(maximum_flow(capacities, n, n + 1).flow_value)


def cut_cost(graph: Graph, side: Bool) -> int:
    edges, there, back, excess = graph
    first, second = side[edges].T
    crossed = there[first & ~second].sum() + back[second & ~first].sum()
    return int(crossed + excess[~side & (excess > 0)].sum() - excess[side & (excess < 0)].sum())


@given(graphs())
@few
def test_the_flow_is_scipys(graph: Graph) -> None:
    assert min_cut(*graph)[0] == peer_flow(graph)


@given(graphs())
@few
def test_the_cut_costs_what_flows(graph: Graph) -> None:
    flow, side = min_cut(*graph)
    assert cut_cost(graph, side) == flow


def lattice(seed: int) -> Graph:
    """Tight arcs in all directions between few sources and many sinks, or as many of both: trees are torn often."""
    rng, width = np.random.default_rng(seed), 20
    n = width * width
    here = np.arange(n).reshape(width, width)
    pairs = [(here[:, :-1], here[:, 1:]), (here[:-1], here[1:]), (here[:-1, :-1], here[1:, 1:])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs]).astype(np.int32)
    there, back = rng.integers(0, 6, (2, len(edges)))
    excess = rng.choice([0, 15, -15, -4], n, p=[(0.4, 0.05, 0.05, 0.5), (0.3, 0.3, 0.2, 0.2)][seed % 2])
    return edges, there, back, excess


def test_the_flow_through_lattices_is_scipys_with_one_tree_and_with_two() -> None:
    for seed in range(60):
        graph = lattice(seed)
        flow, side = min_cut(*graph)
        assert flow == peer_flow(graph) == cut_cost(graph, side)


@given(graphs(), st.integers(0, 2**32))
@few
def test_the_cut_is_the_smallest_whatever_the_order_of_nodes_and_edges(graph: Graph, seed: int) -> None:
    edges, there, back, excess = graph
    _, side = min_cut(*graph)
    rng = np.random.default_rng(seed)
    new, turned = rng.permutation(len(excess)), rng.permutation(len(edges))
    shuffled = np.empty_like(excess)
    shuffled[new] = excess
    _, again = min_cut(new[edges[turned]][:, ::-1].astype(np.int32), back[turned], there[turned], shuffled)
    assert np.array_equal(again[new], side)


def test_nothing_flows_without_edges() -> None:
    none, zero = np.zeros((0, 2), np.int32), np.zeros(0, np.int64)
    flow, side = min_cut(none, zero, zero, np.array([5, -3, 0]))
    assert flow == 0
    assert side.tolist() == [True, False, False]


def test_huge_capacities_are_counted_exactly() -> None:
    big = 2**55
    flow, side = min_cut(
        np.array([[0, 1], [1, 2]], np.int32),
        np.array([big + 1, big]),
        np.array([0, 0]),
        np.array([2 * big, 0, -2 * big]),
    )
    assert flow == big
    assert side.tolist() == [True, True, False]


def test_a_long_way_from_source_to_sink_takes_no_long_time() -> None:
    n = 50_000
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32)
    room = np.random.default_rng(0).integers(1, 1000, n - 1)
    excess = np.zeros(n, np.int64)
    excess[0], excess[-1] = 10**6, -(10**6)
    began_s = thread_s()
    assert min_cut(edges, room, room, excess)[0] == room.min()
    assert thread_s() - began_s < 20  # with compilation
