"""Samples: supervoxels of several videos side by side."""

import numpy as np
from hypothesis import given, settings

from budgetseg.classifiers.samples import N_PLACE, place_of, samples_of
from budgetseg.descriptors.table import Costs, VideoTable
from budgetseg.types import Graph, Int64
from tests.graphs import graph_of, graphs, random_graph

N_FRAMES = 10


def table(n: int, seed: int, truth: Int64 | None = None) -> VideoTable:
    """A video of n supervoxels and three classes."""
    rng = np.random.default_rng(seed)
    values = {name: rng.random((n, length), np.float32) for name, length in (("colour", 4), ("hog", 2))}
    nothing = np.zeros(0), np.zeros(2 * n + 1, np.int64), np.zeros(0, np.int32)
    costs = Costs(np.zeros((n, 2)), *nothing, kinds={})
    labels = rng.integers(1, 9, (n, 3)) if truth is None else truth
    return VideoTable(f"street{seed}", N_FRAMES, random_graph(n, 2 * n, seed), labels, values, costs, {})


def test_supervoxels_follow_each_other_in_the_order_of_the_videos() -> None:
    tables = [table(n, n) for n in (5, 7, 6, 4)]
    samples = samples_of(tables, n_folds=2)
    assert len(samples) == 22
    assert samples.video.tolist() == [0] * 5 + [1] * 7 + [2] * 6 + [3] * 4
    for index, one in enumerate(tables):
        rows = samples.video == index
        assert np.array_equal(samples.truth[rows], one.truth)
        assert np.array_equal(samples.place[rows], place_of(one.graph))
        for name, values in one.values.items():
            assert np.array_equal(samples.values[name][rows], values)


def test_folds_are_whole_videos_where_they_share_their_classes() -> None:
    samples = samples_of([table(6, seed) for seed in range(4)], n_folds=4)
    folds = [set(samples.fold[samples.video == video].tolist()) for video in range(4)]
    assert folds == [{0}, {1}, {2}, {3}]


def test_folds_are_blocks_of_time_where_they_do_not() -> None:
    only = np.zeros((30, 3), np.int64)
    only[:, 2] = 1
    rest = np.ones((30, 3), np.int64)
    rest[:, 2] = 0
    tables = [table(30, 0, only), table(30, 1, rest)]
    samples = samples_of(tables, n_folds=2)
    for video, one in enumerate(tables):
        fold, times = samples.fold[samples.video == video], one.graph.centroids[:, 0]
        assert np.bincount(fold).tolist() == [15, 15]
        assert times[fold == 0].max() <= times[fold == 1].min()


@given(graphs())
@settings(deadline=None, max_examples=40)
def test_places_are_finite_whatever_the_graph(graph: Graph) -> None:
    place = place_of(graph)
    assert place.shape == (len(graph), N_PLACE)
    assert place.dtype == np.float32
    assert np.isfinite(place).all()


def test_what_lies_high_and_what_lies_low_have_different_places() -> None:
    high, low, near_low = place_of(graph_of([], np.array([[0, 1, 5], [0, 9, 5], [0, 9.2, 5]])))
    assert np.abs(high - low)[:9].max() > 0.5
    assert np.abs(low - near_low)[:9].max() < 0.2
