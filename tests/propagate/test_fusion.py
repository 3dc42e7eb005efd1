"""Predictions of several key frames become one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from budgetseg.propagate.cells import confidence_of, top_classes
from budgetseg.propagate.fusion import Source, confidence_at, dominant, fuse, n_sources, neighbours
from budgetseg.propagate.paint import paint
from budgetseg.propagate.timeline import Timeline
from budgetseg.types import Float32
from tests.propagate.arrays import SETTINGS, grey, interpolated, probabilities, sampled, source, trust_in

SHAPE = (30, 40)
STILL = np.zeros((*SHAPE, 2), np.float32)


# Which key frames a frame is fused from


def even(n_frames: int, cuts: Sequence[int] = (), step: float = 1.0) -> Timeline:
    """Frames that lie evenly."""
    return Timeline.of([step * t for t in range(n_frames)], cuts)


def test_a_frame_fuses_the_nearest_key_frame_on_each_side_and_all_within_reach() -> None:
    found = neighbours([[0, 2, 10]], even(12), reach=3)
    assert found[1] == [(0, 0), (0, 2)]
    assert neighbours([[0, 2, 4, 10]], even(12), reach=3)[1] == [(0, 0), (0, 2), (0, 4)]
    assert found[6] == [(0, 2), (0, 10)]
    assert found[11] == [(0, 10)]


def test_a_key_frame_fuses_itself_and_those_within_reach() -> None:
    found = neighbours([[0, 2, 10]], even(12), reach=3)
    assert found[0] == found[2] == [(0, 0), (0, 2)]
    assert found[10] == [(0, 10)]
    assert neighbours([[0, 2, 10]], even(12, step=2.0), reach=3)[2] == [(0, 2)]


def test_of_a_cheaper_network_only_key_frames_within_reach_count() -> None:
    found = neighbours([[4, 5], [0, 9]], even(10), reach=3)
    assert found[6] == [(0, 4), (0, 5), (1, 0), (1, 9)]
    assert found[0] == [(1, 0)]


def test_the_dearest_network_is_the_dearest_that_was_asked() -> None:
    found = neighbours([[0, 9], []], even(10), reach=1)
    assert found[5] == [(0, 0), (0, 9)]


def test_nothing_is_fused_across_a_cut() -> None:
    found = neighbours([[2, 6], [9]], even(12, cuts=[5]), reach=100)
    assert all(own == [(0, 2)] for own in found[:5])
    assert all(set(own) <= {(0, 6), (1, 9)} for own in found[5:])
    assert found[7] == [(0, 6), (1, 9)]


def test_a_shot_that_no_network_has_seen_takes_the_nearest_key_frame_alone() -> None:
    found = neighbours([[2], [8]], even(12, cuts=[4, 8]), reach=100)
    assert found[4] == [(0, 2)]
    assert found[6] == found[7] == [(1, 8)]


@pytest.mark.parametrize("cuts", [(), (4,), (3, 4, 9)])
@pytest.mark.parametrize("keys", [([7], []), ([], [7]), ([3], [7]), ([3, 7], [0, 7])])
def test_every_frame_has_a_neighbour_as_soon_as_there_is_one_key_frame(
    keys: tuple[list[int], list[int]], cuts: tuple[int, ...]
) -> None:
    for reach in (0, 1, 3):
        assert all(neighbours(keys, even(12, cuts), reach))


@pytest.mark.parametrize("reach", [0, 1, 3, 6])
@pytest.mark.parametrize("step", [0.5, 1.0, 10.0])
@pytest.mark.parametrize("frames_per_key", [1, 1.5, 2, 3.1, 8, 400])
def test_how_many_key_frames_are_fused_is_about_predicted(reach: float, step: float, frames_per_key: float) -> None:
    keys = [round(key) for key in np.arange(0, 401, frames_per_key)]
    n_found = sum(map(len, neighbours([keys], even(401, step=step), reach)))
    assert n_found == pytest.approx(n_sources(401, len(keys), reach, step), rel=0.35)


# What is fused


def weighted_mean(looks: Float32, sources: Sequence[Source]) -> Float32:
    """What sources tell together, (h, w, L), by definition."""
    trust = np.stack([trust_in(own, looks) for own in sources])
    carried = np.stack([sampled(own.probabilities, own.chain) for own in sources])
    return np.asarray((trust[..., None] * carried).sum(axis=0) / trust.sum(axis=0)[..., None], np.float32)


def near_sources(*weights: float) -> list[Source]:
    """Key frames in which whole areas agree."""
    return [source(SHAPE, 3, seed, weight, far=0.5, blob=5.0) for seed, weight in enumerate(weights)]


@pytest.mark.parametrize("weights", [(1.0, 0.5), (1.0, 0.0), (0.2, 1.0), (1.0, 0.6, 0.3)])
def test_fused_probabilities_are_the_mean_of_what_is_carried_weighted_by_trust(weights: tuple[float, ...]) -> None:
    looks, sources = grey(SHAPE, 3), [source(SHAPE, 5, seed, weight) for seed, weight in enumerate(weights)]
    fused, mean = fuse(looks, sources, SETTINGS), weighted_mean(looks, sources)
    worked_out = fused.probabilities.sum(axis=2) > 0
    assert worked_out.mean() > 0.1
    assert np.allclose(fused.probabilities[worked_out], mean[worked_out], atol=1e-4)
    assert np.mean(fused.top != mean.argmax(axis=2)) < 1e-2


@pytest.mark.parametrize("weights", [(1.0, 0.5), (0.2, 1.0)])
def test_cells_that_need_no_probabilities_change_no_label(weights: tuple[float, float]) -> None:
    looks, sources, labels = grey(SHAPE, 3), near_sources(*weights), np.empty((120, 160), np.uint8)
    fused = fuse(looks, sources, SETTINGS)
    assert (fused.probabilities.sum(axis=2) == 0).any()
    paint(*fused, labels)
    assert np.mean(labels != interpolated(weighted_mean(looks, sources), 120, 160)) < 1e-3


def test_a_key_frame_fused_with_itself_alone_tells_what_it_told() -> None:
    own = source(SHAPE, 5, 0)._replace(chain=STILL)
    fused = fuse(own.grey, [own], SETTINGS)
    assert np.array_equal(fused.top, own.top)
    worked_out = fused.probabilities.sum(axis=2) > 0
    assert np.allclose(fused.probabilities[worked_out], own.probabilities[worked_out], atol=1e-6)


def test_what_looks_otherwise_counts_less_the_lower_the_contrast_that_halves_its_weight() -> None:
    first, second = (
        source(SHAPE, 2, seed)._replace(chain=STILL, grey=np.full(SHAPE, level, np.float32))
        for seed, level in ((0, 100.0), (1, 140.0))
    )
    looks, agreed = np.full(SHAPE, 100.0, np.float32), []
    for contrast in (1000.0, 10.0, 0.1):
        fused = fuse(looks, [first, second], replace(SETTINGS, contrast=contrast))
        agreed.append(float(np.mean(fused.top == first.top)))
    assert agreed == sorted(agreed)
    assert agreed[0] < agreed[-1]
    assert agreed[-1] > 0.99


# Confidence, and where it comes from


def test_confidence_is_that_of_the_mean_and_of_the_nearest_key_frame_where_all_agree() -> None:
    sources = near_sources(1.0, 1.0)
    fused = fuse(grey(SHAPE, 3), sources, SETTINGS)
    near = confidence_of(sources[0].probabilities)
    found = confidence_at(fused.probabilities, near, sources[0].chain)
    own = confidence_of(fused.probabilities)
    assert np.array_equal(found[own > 0], own[own > 0])
    assert (own == 0).any()
    assert (found > 0).all()
    still = confidence_at(np.zeros_like(fused.probabilities), near, STILL)
    assert np.array_equal(still, near)


def test_the_dominant_source_is_the_one_that_tells_most_for_the_class_of_a_cell() -> None:
    looks, sources = grey(SHAPE, 3), [source(SHAPE, 5, seed, weight) for seed, weight in ((0, 1.0), (1, 0.5), (2, 0.7))]
    sources = [own._replace(chain=STILL + np.float32(1.0)) for own in sources]  # whole cells: nothing lies between
    top = fuse(looks, sources, SETTINGS).top
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    tells = [trust_in(own, looks) * sampled(own.probabilities, own.chain)[rows, columns, top] for own in sources]
    best = np.sort(tells, axis=0)
    is_clear = best[-1] > 1.001 * best[-2]
    which = dominant(looks, top, sources, SETTINGS)
    assert is_clear.mean() > 0.9
    assert np.array_equal(which[is_clear], np.argmax(tells, axis=0)[is_clear])
    assert set(np.unique(which)) == {0, 1, 2}


def test_a_source_without_weight_dominates_nowhere() -> None:
    sources = [source(SHAPE, 5, 0), source(SHAPE, 5, 1, weight=0.0)]
    top = top_classes(probabilities(SHAPE, 5, 2))
    assert (dominant(grey(SHAPE, 3), top, sources, SETTINGS) == 0).all()


def test_a_source_that_leads_beyond_the_frame_dominates_only_where_no_other_tells_much() -> None:
    inside, beyond = (source(SHAPE, 5, 0)._replace(chain=own) for own in (STILL, STILL - np.float32(100)))
    beyond = beyond._replace(probabilities=np.full_like(inside.probabilities, 0.5), grey=inside.grey)
    which = dominant(inside.grey, inside.top, [inside, beyond], SETTINGS)
    share = inside.probabilities.max(axis=2)
    assert (which[share > 0.1] == 0).all()
