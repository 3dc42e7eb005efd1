"""Neighbours of all supervoxels against a loop over edges."""

import numpy as np
from hypothesis import given, settings

from budgetseg.policy.neighbours import neighbours_of
from budgetseg.types import Graph
from tests.graphs import graph_of, graphs

few = settings(deadline=None, max_examples=60)


@given(graphs())
@few
def test_neighbours_are_the_other_ends_of_edges_in_order(graph: Graph) -> None:
    near = neighbours_of(graph)
    for i in range(len(graph)):
        others = sorted(int(b if a == i else a) for a, b in graph.edges if i in (a, b))
        assert near.others[near.first[i] : near.first[i + 1]].tolist() == others
    assert len(near.first) == len(graph) + 1


@given(graphs())
@few
def test_weights_are_inverse_distances(graph: Graph) -> None:
    near = neighbours_of(graph)
    owner = np.repeat(np.arange(len(graph)), np.diff(near.first))
    distances = np.linalg.norm(graph.centroids[owner] - graph.centroids[near.others], axis=1)
    assert np.allclose(near.weights, 1 / np.maximum(distances, 1e-6), rtol=1e-12)


def test_a_supervoxel_without_neighbours_has_none() -> None:
    near = neighbours_of(graph_of([], np.zeros((1, 3))))
    assert near.first.tolist() == [0, 0]
    assert len(near.others) == len(near.weights) == 0
