"""Where frames lie along a video: what has changed between them, cuts, and the nearest of some places."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.datasets import open_dataset
from budgetseg.datasets.synthetic import render
from budgetseg.propagate.cells import grey_cells, reduced, step_flow
from budgetseg.propagate.timeline import Distances, Timeline, change
from budgetseg.types import Float32, UInt8
from budgetseg.video import open_video
from tests.propagate.arrays import SETTINGS

DISTANCES = Distances()
STILL = np.zeros((24, 32, 2), np.float32)


def smooth_grey(seed: int = 0) -> Float32:
    """Noise that is smooth enough to lie between cells."""
    noise = np.random.default_rng(seed).normal(100, 50, (24, 32)).astype(np.float32)
    for axis in (0, 1):
        noise = np.mean([np.roll(noise, k, axis) for k in range(-2, 3)], axis=0)
    return noise


def changes_of(frames: UInt8, along_flow: bool = True) -> list[float]:
    """What has changed from each frame to the next."""
    shape = -(-frames.shape[1] // 4), -(-frames.shape[2] // 4)
    found = []
    for earlier, later in pairwise(reduced(frame, SETTINGS.flow_pixels) for frame in frames):
        step = step_flow(later, earlier, shape, fine=True) if along_flow else None
        found.append(change(grey_cells(later, shape), grey_cells(earlier, shape), step))
    return found


def timeline_of(changes: Sequence[float], every: int = 1) -> Timeline:
    """Positions where one frame in `every` was read."""
    read = range(0, every * len(changes) + 1, every)
    return DISTANCES.timeline(read[-1] + 1, read, changes)


# Change


def test_what_has_moved_along_the_flow_has_not_changed() -> None:
    one, right = smooth_grey(), np.zeros((24, 32, 2), np.float32)
    right[..., 0] = 2.5
    moved = 0.5 * (np.roll(one, -2, axis=1) + np.roll(one, -3, axis=1))
    assert change(one, one, STILL) == 0
    assert change(one, one) == 0
    assert change(moved, one, right) < 0.25 < change(moved, one)  # what came in at the border is new
    assert change(smooth_grey(1), one, STILL) > 0.9


def test_frames_without_contrast_have_not_changed() -> None:
    flat = np.full((24, 32), 7, np.float32)
    assert change(flat, flat, STILL) == 0


# Positions


def test_before_there_are_frames_their_rate_tells() -> None:
    assert DISTANCES.by_rate(25) == DISTANCES.by_rate(15) == 1
    assert 5 < DISTANCES.by_rate(1) < DISTANCES.by_rate(0.5) < DISTANCES.by_rate(0.001) == DISTANCES.border
    assert np.allclose(np.diff(Timeline.even(8, DISTANCES.by_rate(1)).positions), DISTANCES.by_rate(1))


def test_a_few_large_steps_count_less_than_in_the_mean() -> None:
    calm = Timeline.even(101, 1.0)
    uneven = Timeline.of([*range(50), *range(89, 140)], [])
    assert calm.step == 1
    assert 1 < uneven.step < 0.9 * (139 / 100)


def test_frames_far_apart_are_not_all_cuts() -> None:
    sparse = [0.55, 0.5, 0.65, 0.6, 0.7, 0.58, 0.62]
    assert timeline_of(sparse).cuts == []
    assert timeline_of([0.1, 0.2, 0.65, 0.1]).cuts == [3]
    assert timeline_of([*sparse, 1.3]).cuts == [8]


def test_the_more_has_changed_the_farther_frames_lie_from_each_other_within_bounds() -> None:
    steps = [timeline_of([share]).step for share in (0.0, 0.05, 0.1, 0.2, 0.5, 5.0)]
    assert steps == sorted(steps)
    assert steps[0] == steps[1] == DISTANCES.least
    assert steps[-1] == DISTANCES.border


def test_where_nothing_changes_positions_are_even() -> None:
    assert np.allclose(np.diff(timeline_of([0.01] * 9).positions), DISTANCES.least)


def test_frames_that_were_not_read_lie_evenly_between_those_that_were() -> None:
    found = timeline_of([0.3, 0.1], every=4)
    assert len(found) == 9
    assert np.allclose(np.diff(found.positions[:5]), found.positions[4] / 4, atol=2e-3)
    assert found.positions[4] - found.positions[0] > found.positions[8] - found.positions[4]


def test_before_the_first_and_after_the_last_frame_read_nothing_is_known_to_change() -> None:
    found = DISTANCES.timeline(9, [3, 5], [0.3])
    assert np.allclose(np.diff(found.positions)[[0, 1, 2, 5, 6, 7]], DISTANCES.least)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=30), st.integers(1, 5))
def test_positions_rise_from_zero_whatever_changes(changes: list[float], every: int) -> None:
    found = timeline_of(changes, every)
    assert found.positions[0] == 0
    assert (np.diff(found.positions) > 0).all()
    assert (np.diff(found.shots) >= 0).all()
    small = [share for share in changes if share <= DISTANCES.cut]
    usual = float(np.median(small)) if small else 0.0
    assert len(found.cuts) == sum(share > max(DISTANCES.cut, DISTANCES.abrupt * usual) for share in changes)


def test_a_cut_begins_a_shot_in_the_middle_of_what_was_not_read() -> None:
    assert timeline_of([0.1, 0.9, 0.1]).cuts == [2]
    assert timeline_of([0.1, 0.9, 0.1], every=4).cuts == [6]


def test_a_timeline_is_known_again_from_its_positions_and_cuts() -> None:
    one = timeline_of([0.1, 0.9, 0.2, 0.7])
    again = Timeline.of(one.positions.tolist(), one.cuts)
    assert np.array_equal(again.positions, one.positions)
    assert np.array_equal(again.shots, one.shots)


# The nearest


def plain_nearest(timeline: Timeline, t: int, places: Sequence[int]) -> int:
    """By definition: of the same shot first, then by distance; frame numbers decide where no place is of the shot."""
    same = [place for place in places if timeline.shots[place] == timeline.shots[t]]
    if same:
        return min(same, key=lambda place: (timeline.distance(t, place), place))
    return min(places, key=lambda place: (abs(place - t), place))


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=25),
    st.sets(st.integers(0, 25), min_size=1),
)
def test_the_nearest_place_is_of_the_same_shot_where_there_is_one(changes: list[float], chosen: set[int]) -> None:
    timeline = timeline_of(changes)
    places = sorted({min(place, len(changes)) for place in chosen})
    found = timeline.nearest(places)
    for t in range(len(timeline)):
        expected = plain_nearest(timeline, t, places)
        assert int(found[t]) in places
        if timeline.shots[expected] == timeline.shots[t]:
            assert timeline.distance(t, int(found[t])) == timeline.distance(t, expected)
            assert timeline.shots[found[t]] == timeline.shots[t]
        else:
            assert int(found[t]) == expected


# Real video


def test_frames_of_a_street_lie_far_from_each_other_where_most_were_left_out() -> None:
    frames = render(1, 96, (160, 120))[0].frames
    assert timeline_of(changes_of(frames)).step == pytest.approx(1, abs=0.2)
    assert timeline_of(changes_of(frames[::32])).step > 5


def test_a_second_of_driving_is_far_and_a_frame_of_film_is_near(data_root: Path) -> None:
    driving = [video.video().frames for video in open_dataset("camvid", data_root / "camvid").videos("train")]
    film = [video.video().frames for video in open_dataset("suny", data_root / "suny").videos("train")]
    far = [timeline_of(changes_of(frames)).step for frames in driving]
    near = [timeline_of(changes_of(frames)).step for frames in film]
    assert max(near) < min(far)
    assert np.mean(far) > 10 > 5 * np.mean(near)


def test_cuts_of_a_film_are_found_and_a_second_of_driving_is_none(data_root: Path) -> None:
    bikes = np.stack([frame.pixels for frame in open_video(data_root / "clips/bikes.mp4")])
    changes = changes_of(bikes, along_flow=False)
    cuts = timeline_of(changes).cuts
    assert 3 <= len(cuts) <= 8
    for cut in cuts:  # what changes there is far above what changes around it
        assert changes[cut - 1] > 2 * np.median(changes)
    film = [video.video().frames for video in open_dataset("suny", data_root / "suny").videos("train")]
    assert all(timeline_of(changes_of(frames, along_flow=False)).cuts == [] for frames in film)


def test_even_distances_are_the_mean_of_those_between_cuts() -> None:
    changes = [0.06, 0.12, 0.9, 0.06]
    plain = Distances().timeline(5, range(5), changes)
    even = Distances(even=True).timeline(5, range(5), changes)
    assert plain.cuts == [3]
    assert even.cuts == []
    assert np.allclose(np.diff(even.positions), (1 + 4 + 1) / 3, atol=1e-3)


def test_even_distances_count_frames_that_were_left_out() -> None:
    even = Distances(even=True).timeline(7, [0, 2, 6], [0.12, 0.12])
    assert np.allclose(np.diff(even.positions), 8 / 6, atol=1e-3)
    assert Distances(even=True).timeline(3, [1], []).step == 1
    assert Distances(even=True).timeline(3, range(3), [0.9, 0.9]).positions.tolist() == [0, 40, 80]
