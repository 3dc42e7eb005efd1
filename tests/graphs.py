"""Neighbourhood graphs without a video."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from budgetseg.supervoxels.graph import direction_bins
from budgetseg.types import Graph


def graph_of(edges: ArrayLike, centroids: ArrayLike, seed: int = 0) -> Graph:
    """A graph with these edges and centroids; sizes and contacts are random."""
    rng, places = np.random.default_rng(seed), np.asarray(centroids, np.float64).reshape(-1, 3)
    ends = np.unique(np.sort(np.asarray(edges, np.int32).reshape(-1, 2), axis=1), axis=0)
    low = np.floor(places).astype(np.int32)
    boxes = np.stack([low, low + rng.integers(1, 5, low.shape, np.int32)], axis=2).reshape(-1, 6)
    contact, sizes = rng.integers(1, 20, len(ends)), rng.integers(1, 100, len(places))
    return Graph(ends, contact, sizes, places, boxes, direction_bins(places, ends))


def random_graph(n: int, n_edges: int, seed: int) -> Graph:
    """Any graph, connected or not; some centroids coincide if they are whole."""
    rng = np.random.default_rng(seed)
    places = rng.random((n, 3)) * 10 if rng.random() < 0.5 else rng.integers(0, 3, (n, 3))
    first = rng.integers(0, n, n_edges if n > 1 else 0)
    second = (first + rng.integers(1, max(n, 2), len(first))) % n
    return graph_of(np.stack([first, second], axis=1), places, seed)


@st.composite
def graphs(draw: st.DrawFn, largest: int = 25) -> Graph:
    n = draw(st.integers(1, largest))
    return random_graph(n, draw(st.integers(0, 2 * n)), draw(st.integers(0, 2**32)))
