"""Tracks through flows given by hand, and through the flow of a moving texture."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.motion.histograms import Hof
from budgetseg.descriptors.motion.tracks import Flow, TrackPoints, Tracks, flow_work, spans_of_tracks, track_work
from budgetseg.descriptors.pointers import FrameArray
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Float64, Int32
from tests.descriptors.plain import moving, scene_of, track_list

STEP = 8
lives = st.tuples(st.integers(0, 100), st.integers(1, 300)).map(lambda life: (life[0], life[0] + life[1]))


@given(lives)
def test_spans_are_apart_in_order_and_at_most_three_of_fifteen_frames(life: tuple[int, int]) -> None:
    spans = spans_of_tracks(*life)
    assert 1 <= len(spans) <= 3
    assert all(1 <= stop - start <= 15 for start, stop in spans)
    assert all(stop <= start for (_, stop), (start, _) in pairwise(spans))


@given(lives)
def test_spans_touch_both_ends_of_a_life_and_cover_a_short_one(life: tuple[int, int]) -> None:
    spans = spans_of_tracks(*life)
    assert (spans[0][0], spans[-1][1]) == life
    if life[1] - life[0] <= 45:
        assert [frame for span in spans for frame in range(*span)] == list(range(*life))


@given(lives.filter(lambda life: life[1] - life[0] > 45))
def test_the_middle_span_of_a_long_life_is_in_its_middle(life: tuple[int, int]) -> None:
    _, (start, stop), _ = spans_of_tracks(*life)
    assert abs((start + stop) / 2 - (life[0] + life[1]) / 2) <= 8


def still_scene(ids: Int32) -> Scene:
    """Any frames: the flow is given by hand."""
    return scene_of(np.zeros((*ids.shape, 3), np.uint8), ids)


def followed(scene: Scene, region: int, flow: Float32 | Sequence[Float32]) -> TrackPoints:
    """Tracks of a region through the same flow between all frames, or through that of each pair of frames."""
    resource = Tracks()
    indices = [index for _, index in resource.needs(scene, region)]
    flows = [flow if isinstance(flow, np.ndarray) else flow[index] for index in indices]
    return resource.make(scene, region, [FrameArray(np.ascontiguousarray(one)) for one in flows])


def uniform(height: int, width: int, dx: float, dy: float) -> Float32:
    return np.broadcast_to(np.array([dx, dy], np.float32), (height, width, 2)).copy()


def on_region(scene: Scene, region: int, path: Float32, start: int) -> int:
    """How many points of a track that starts in a frame lie on a region."""
    return sum(
        scene.supervoxels.ids[start + j, y, x] == region for j, (y, x) in enumerate(path.astype(np.int64).tolist())
    )


def starts(tracks: TrackPoints) -> set[tuple[int, int]]:
    """Pixels (y, x) where tracks start."""
    return {(y, x) for y, x in tracks.points[tracks.first[:-1]].astype(int).tolist()}


def grid(rows: range, columns: range) -> set[tuple[int, int]]:
    """Pixels of the grid in a rectangle."""
    return {(y, x) for y in rows for x in columns if y % STEP == STEP // 2 == x % STEP}


def two_blocks(n_frames: int = 10, height: int = 60, width: int = 80, column: int = 40) -> Scene:
    """Two supervoxels, side by side and standing still."""
    ids = np.zeros((n_frames, height, width), np.int32)
    ids[:, :, column:] = 1
    return still_scene(ids)


@pytest.mark.parametrize(("dx", "dy"), [(0.0, 0.0), (3.0, 0.0), (-2.0, 1.5), (0.25, -0.75)])
def test_tracks_follow_a_translation(dx: float, dy: float) -> None:
    scene = two_blocks(height=160, width=200, column=100)
    tracks = followed(scene, 0, uniform(160, 200, dx, dy))
    inner = [path for path in track_list(tracks) if (path[0] > 40).all() and path[0, 0] < 120]
    assert len(inner) > 40
    for path in inner:
        assert np.allclose(path, path[0] + np.arange(10)[:, None] * [dy, dx], atol=1e-3)


@pytest.mark.parametrize(("height", "width", "reduce"), [(60, 80, 1), (301, 400, 2), (601, 703, 4)])
def test_a_point_moves_by_the_vector_of_its_square_of_pixels(height: int, width: int, reduce: int) -> None:
    size = -(-height // reduce), -(-width // reduce)
    flows = np.random.default_rng(0).normal(0, 2, (3, *size, 2)).astype(np.float32)
    ids = np.zeros((4, height, width), np.int32)
    for path in track_list(followed(still_scene(ids), 0, list(flows)))[::3]:
        for j, (here, there) in enumerate(pairwise(path)):
            dx, dy = flows[j, int(here[0]) // reduce, int(here[1]) // reduce]
            assert np.allclose(there, np.clip(here + np.array([dy, dx]), 0, [height - 0.5, width - 0.5]), atol=1e-4)


def test_tracks_of_a_moving_texture_follow_it() -> None:
    scene = scene_of(moving((12, 120, 160), (3, -2)))
    live = LiveDescriptors(scene, [Hof()], Prices())
    live.compute(0, "hof")
    tracks = live.cache.peek([("tracks", 0)])[0]
    assert isinstance(tracks, TrackPoints)
    gone = np.array([path[-1] - path[0] for path in track_list(tracks)])
    assert len(gone) > 40
    assert np.abs(gone - 11 * np.array([-2, 3])).max() < 1.5


def test_tracks_start_on_all_points_of_the_grid_in_the_first_frame_of_each_span() -> None:
    scene = two_blocks(n_frames=20)
    tracks = followed(scene, 1, uniform(60, 80, 0, 0))
    expected = grid(range(60), range(40, 80))
    assert starts(tracks) == expected
    assert len(tracks.slots) == 2 * len(expected)
    assert set(tracks.slots.tolist()) == {0, 10}


def test_a_track_is_as_long_as_its_span() -> None:
    tracks = followed(two_blocks(n_frames=17), 0, uniform(60, 80, 0, 0))
    lengths = dict(zip(tracks.slots.tolist(), np.diff(tracks.first).tolist(), strict=True))
    assert lengths == {0: 8, 8: 9}
    assert tracks.first[0] == 0
    assert tracks.first[-1] == len(tracks.points)


def test_tracks_of_a_later_life_go_through_the_flow_of_that_time() -> None:
    ids = np.ones((30, 60, 80), np.int32)
    ids[12:, 20:40, 20:60] = 0
    flows = [uniform(60, 80, t / 16, 0) for t in range(29)]
    tracks = followed(still_scene(ids), 0, flows)
    for path, slot in zip(track_list(tracks), tracks.slots, strict=True):
        assert np.allclose(np.diff(path[:, 1]), (12 + slot + np.arange(8)) / 16, atol=1e-4)


@pytest.mark.parametrize("step", [3.0, 5.0, -4.0])
def test_exactly_the_tracks_with_half_of_their_points_on_the_supervoxel_are_kept(step: float) -> None:
    scene = two_blocks(n_frames=15)
    tracks = followed(scene, 0, uniform(60, 80, step, 0))
    whole = grid(range(60), range(40))
    inside = {x: sum(max(x + 0.5 + step * j, 0) < 40 for j in range(15)) for _, x in whole}
    assert starts(tracks) == {(y, x) for y, x in whole if 2 * inside[x] >= 15}


@pytest.mark.parametrize("seed", range(4))
def test_half_of_each_track_lies_on_the_supervoxel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids = (np.add.outer(np.arange(12) * 4, np.arange(100)) // 50 % 2).astype(np.int32)[:, None].repeat(60, axis=1)
    scene = still_scene(np.ascontiguousarray(ids))
    flows = rng.normal(0, 3, (11, 60, 100, 2)).astype(np.float32)
    tracks = followed(scene, 0, list(flows))
    assert len(tracks.slots) > 20
    assert all(2 * on_region(scene, 0, path, 0) >= 12 for path in track_list(tracks))


def test_scattered_tracks_are_dropped() -> None:
    flow = uniform(100, 400, 11, 0)  # a standard deviation of 47.5 pixels in 15 frames
    flow[:50, :, 0] = 12  # 51.8
    tracks = followed(still_scene(np.zeros((15, 100, 400), np.int32)), 0, flow)
    assert {(y, x) for y, x in starts(tracks) if x < 220} == grid(range(50, 100), range(220))


def test_tracks_that_are_mostly_one_jump_are_dropped() -> None:
    flows = np.zeros((9, 60, 200, 2), np.float32)
    flows[4, :, :100, 0] = 25
    tracks = followed(still_scene(np.zeros((10, 60, 200), np.int32)), 0, list(flows))
    assert starts(tracks) == grid(range(60), range(100, 200))


@pytest.mark.parametrize(("jump", "others"), [(19.0, 0.0), (25.0, 2.0)])
def test_a_jump_that_is_short_or_a_small_part_of_the_way_is_no_reason_to_drop(jump: float, others: float) -> None:
    flows = np.zeros((9, 60, 200, 2), np.float32)
    flows[:, :, :, 0] = others
    flows[4, :, :, 0] = jump
    tracks = followed(still_scene(np.zeros((10, 60, 200), np.int32)), 0, list(flows))
    assert starts(tracks) >= grid(range(60), range(150))


def test_still_tracks_are_kept() -> None:
    tracks = followed(two_blocks(), 0, uniform(60, 80, 0, 0))
    assert starts(tracks) == grid(range(60), range(40))
    assert all((path == path[0]).all() for path in track_list(tracks))


@pytest.mark.parametrize(("dx", "dy"), [(7.0, 0.0), (-9.0, 0.0), (0.0, 6.0), (0.0, -8.0), (19.0, 19.0)])
def test_points_stay_inside_the_frame(dx: float, dy: float) -> None:
    tracks = followed(still_scene(np.zeros((15, 33, 47), np.int32)), 0, uniform(33, 47, dx, dy))
    pixels = tracks.points.astype(int)
    assert len(pixels)
    assert (tracks.points >= 0).all()
    assert (pixels < [33, 47]).all()


def stairs() -> Int32:
    """A thin diagonal supervoxel, 0, connected, that no point of a grid lies on, but some lie beside."""
    ids = np.ones((6, 40, 50), np.int32)
    for k in range(5, 25):
        ids[:, k, k + 1 : k + 3] = 0
    return ids


def test_a_supervoxel_off_the_grid_gets_tracks_from_the_grid_around_it() -> None:
    tracks = followed(still_scene(stairs()), 0, uniform(40, 50, 1, 0))
    assert starts(tracks) == grid(range(5, 25), range(6, 27))


def test_a_supervoxel_that_its_points_leave_gets_those_tracks_anyway() -> None:
    ids = np.ones((10, 60, 200), np.int32)
    ids[:, 20:40, 20:40] = 0
    tracks = followed(still_scene(ids), 0, uniform(60, 200, 10, 0))
    assert starts(tracks) == grid(range(20, 40), range(20, 40))


@pytest.mark.parametrize("pixel", [(0, 0), (29, 39), (13, 17), (12, 12)])
def test_a_supervoxel_of_one_pixel_gets_tracks_from_there(pixel: tuple[int, int]) -> None:
    ids = np.ones((8, 30, 40), np.int32)
    ids[3, pixel[0], pixel[1]] = 0
    tracks = followed(still_scene(ids), 0, uniform(30, 40, 50, 50))
    assert len(tracks.slots) >= 1
    assert (tracks.points == np.array(pixel) + 0.5).all()


def test_a_thin_supervoxel_between_the_points_is_followed_from_its_middle_wherever_it_goes() -> None:
    ids = np.ones((8, 30, 40), np.int32)
    ids[:, 11, 13:16] = 0
    tracks = followed(still_scene(ids), 0, uniform(30, 40, 0, -30))
    assert starts(tracks) == {(11, 14)}
    assert all(np.array_equal(path[1:, 0], np.zeros(7)) for path in track_list(tracks))


@pytest.mark.parametrize(("height", "width"), [(60, 80), (5, 7), (1, 1)])
def test_a_video_of_one_frame_has_tracks_of_one_point(height: int, width: int) -> None:
    scene = still_scene(np.zeros((1, height, width), np.int32))
    assert not Tracks().needs(scene, 0)
    tracks = Tracks().make(scene, 0, [])
    assert len(tracks.slots) >= 1
    assert (np.diff(tracks.first) == 1).all()


def test_the_flow_of_a_video_of_one_frame_is_none() -> None:
    scene = scene_of(moving((1, 60, 80), (0, 0)))
    assert Flow().count(scene) == 1
    assert not Flow().make(scene, 0, []).array.any()


def test_tracks_need_the_flow_between_the_frames_of_their_spans() -> None:
    scene = two_blocks(n_frames=20)
    assert list(Tracks().needs(scene, 0)) == [("flow", t) for t in range(19) if t != 9]


def test_work_grows_with_the_pixels_a_frame_and_with_the_frames_up_to_45() -> None:
    small, large = two_blocks(column=20), two_blocks(column=60)
    assert track_work(small, 0) < track_work(large, 0)
    works: Float64 = np.array([track_work(two_blocks(n_frames=n), 0) for n in (1, 20, 45, 90)])
    assert (np.diff(works[:3]) > 0).all()
    assert works[2] == works[3]


def test_a_reduced_frame_is_little_more_work_than_one_of_the_reduced_size() -> None:
    whole, reduced = (two_blocks(1, height, width) for height, width in ((180, 240), (360, 480)))
    assert flow_work(whole) < flow_work(reduced) < 1.25 * flow_work(whole)


def test_tracks_know_their_size() -> None:
    tracks = followed(two_blocks(), 0, uniform(60, 80, 0, 0))
    n_tracks, n_points = len(tracks.slots), len(tracks.points)
    assert tracks.nbytes == 4 * (2 * n_points + (n_tracks + 1) + n_tracks)
