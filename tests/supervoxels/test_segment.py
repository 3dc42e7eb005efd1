"""Supervoxels of whole clips and of streams: exactly as many as asked for, connected, the same every time."""

import subprocess
import sys
import tracemalloc
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.errors import UsageError
from budgetseg.supervoxels.graph import neighbourhood_graph
from budgetseg.supervoxels.hierarchy import N_LEVELS
from budgetseg.supervoxels.segment import Hierarchy, Segmenter, build_hierarchy, segment
from budgetseg.supervoxels.tiers import TIERS
from budgetseg.supervoxels.truth import achievable_accuracy, count_labels
from budgetseg.supervoxels.window import segment_window
from budgetseg.types import Int32, UInt8
from tests.supervoxels.volumes import Shape, assert_same_graph, drift, few, is_dense, n_parts, noise, plain

SHAPES: dict[str, Shape] = {
    "odd": (3, 37, 23),
    "one frame": (1, 37, 23),
    "one voxel": (1, 1, 1),
    "one pixel": (20, 1, 1),
    "row": (9, 1, 40),
    "column": (9, 40, 1),
    "square": (2, 16, 16),
    "two pixels wide": (3, 4, 2),
    "several blocks": (9, 130, 170),
    "blocks of 2": (3, 121, 167),
    "blocks of 3": (2, 251, 401),
    "lower than a block": (2, 2, 50_001),
}
KINDS = {"noise": noise, "drift": drift, "plain": plain}


def assert_sound(ids: Int32, n: int) -> None:
    """Ids 0..n-1, all of them present, each connected by faces in space-time."""
    assert is_dense(ids, n)
    assert n_parts(ids) == n


def some_counts(n_leaves: int) -> list[int]:
    """Numbers of supervoxels to try, from one to all leaves."""
    return sorted({n for n in (1, 2, 5, 30, n_leaves - 1, n_leaves) if 1 <= n <= n_leaves})


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_there_are_exactly_as_many_as_asked_for_and_all_connected(shape: Shape, tier: str) -> None:
    hierarchy = build_hierarchy(drift(shape), tier)
    for n in some_counts(hierarchy.n_leaves):
        supervoxels = hierarchy.cut(n)
        assert supervoxels.ids.shape == shape
        assert supervoxels.ids.dtype == np.int32
        assert len(supervoxels) == n
        assert_sound(supervoxels.ids, n)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_and_plain_clips_are_cut_as_well(kind: str) -> None:
    hierarchy = build_hierarchy(KINDS[kind]((10, 30, 40)))
    for n in some_counts(hierarchy.n_leaves):
        assert_sound(hierarchy.cut(n).ids, n)


@pytest.mark.parametrize("reduce", [2, 3, 7])
@pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 30), (13, 8), (37, 23)])
def test_any_size_of_block_fits_any_size_of_frame(size: tuple[int, int], reduce: int) -> None:
    hierarchy = Hierarchy(segment_window(drift((9, *size)), reduce), size, reduce)
    for n in some_counts(hierarchy.n_leaves):
        supervoxels = hierarchy.cut(n)
        assert supervoxels.ids.shape == (9, *size)
        assert_sound(supervoxels.ids, n)
        assert_same_graph(supervoxels.graph, neighbourhood_graph(supervoxels.ids))


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_graph_is_that_of_the_ids(shape: Shape, tier: str) -> None:
    supervoxels = segment(drift(shape), 50, tier)
    assert_same_graph(supervoxels.graph, neighbourhood_graph(supervoxels.ids))


@pytest.mark.parametrize("tier", TIERS)
def test_threads_and_repetition_change_nothing(tier: str) -> None:
    frames = drift((20, 121, 167))
    first = segment(frames, 80, tier)
    for threads in (1, 2, 3):
        assert np.array_equal(segment(frames, 80, tier, threads).ids, first.ids)


@pytest.mark.parametrize("kind", KINDS)
def test_asking_for_more_than_there_are_leaves_gives_the_leaves(kind: str) -> None:
    frames = KINDS[kind]((3, 20, 20))
    hierarchy = build_hierarchy(frames)
    supervoxels = segment(frames, 10**6)
    assert len(supervoxels) == hierarchy.n_leaves <= 3 * 20 * 20 // 16
    assert_sound(supervoxels.ids, hierarchy.n_leaves)


@pytest.mark.parametrize("n", [0, -3])
def test_fewer_than_one_is_refused(n: int) -> None:
    with pytest.raises(UsageError, match=f"must be 1 or more. Got {n}"):
        segment(plain((1, 8, 8)), n)


def test_an_unknown_tier_is_refused() -> None:
    with pytest.raises(UsageError, match="no supervoxel tier 'best'"):
        segment(plain((1, 8, 8)), 1, "best")
    with pytest.raises(UsageError, match="no supervoxel tier 'best'"):
        Segmenter((8, 8), "best")


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("kind", KINDS)
def test_coarser_levels_never_have_more(kind: str, tier: str) -> None:
    hierarchy = build_hierarchy(KINDS[kind]((9, 121, 167)), tier)
    counts = [hierarchy.count(level) for level in range(N_LEVELS + 1)]
    assert counts == sorted(counts, reverse=True)
    assert 1 <= counts[-1] <= counts[0] <= hierarchy.n_leaves
    assert len(hierarchy.level(9)) == counts[9]


@pytest.mark.parametrize("level", [-1, N_LEVELS + 1])
def test_a_level_out_of_range_is_refused(level: int) -> None:
    with pytest.raises(UsageError, match=f"Got {level}"):
        build_hierarchy(plain((1, 8, 8))).level(level)
    with pytest.raises(UsageError, match=f"Got {level}"):
        Segmenter((8, 8)).push(plain((1, 8, 8)), level=level)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("shape", [(6, 30, 40), (4, 120, 180)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_two_colours_are_cut_exactly_where_they_meet(axis: int, shape: Shape, tier: str) -> None:
    second = np.moveaxis(np.zeros(shape, np.bool_), axis, 0)
    second[len(second) // 2 :] = True
    second = np.moveaxis(second, 0, axis)
    frames = np.array([[20, 90, 160], [200, 40, 30]], np.uint8)[second.astype(int)]
    ids = segment(frames, 2, tier).ids
    assert np.array_equal(ids != ids[0, 0, 0], second)


@pytest.mark.parametrize("tier", TIERS)
def test_a_moving_square_stays_one_supervoxel(tier: str) -> None:
    frames, square = plain((16, 48, 64)), np.zeros((16, 48, 64), np.bool_)
    for t in range(16):
        square[t, 10 + t : 26 + t, 4 + 2 * t : 20 + 2 * t] = True
    frames[square] = [220, 60, 30]
    ids = segment(frames, 2, tier).ids
    assert np.array_equal(ids != ids[0, 0, 0], square)


def grid(shape: Shape, n_t: int, n_y: int, n_x: int) -> Int32:
    """Boxes of equal size."""
    t, y, x = (np.arange(side) * n // side for side, n in zip(shape, (n_t, n_y, n_x), strict=True))
    return ((t[:, None, None] * n_y + y[:, None]) * n_x + x).astype(np.int32)


@pytest.mark.parametrize(
    ("clip", "boxes", "floors"),
    [
        ("camvid", (2, 12, 13), {"quality": 0.935, "fast": 0.93}),
        ("container", (1, 10, 10), {"quality": 0.965, "fast": 0.96}),
    ],
)
def test_supervoxels_express_labels_that_a_grid_does_not(
    request: pytest.FixtureRequest, clip: str, boxes: tuple[int, int, int], floors: dict[str, float]
) -> None:
    frames, labels = request.getfixturevalue(clip)
    n, n_labels = int(np.prod(boxes)), 24
    assert (
        achievable_accuracy(count_labels(grid(labels.shape, *boxes), labels, n_labels)) < min(floors.values()) - 0.025
    )
    for tier, floor in floors.items():
        assert achievable_accuracy(count_labels(segment(frames, n, tier).ids, labels, n_labels)) > floor


def windows(frames: UInt8, lengths: list[int]) -> list[UInt8]:
    return np.split(frames, list(accumulate(lengths))[:-1])


def stream(
    frames: UInt8, lengths: list[int], n_new: list[int], tier: str = "quality", threads: int = 1
) -> tuple[list[Int32], Segmenter]:
    """Ids of each window, and the segmenter that gave them."""
    segmenter = Segmenter((frames.shape[1], frames.shape[2]), tier, threads)
    pushed = zip(windows(frames, lengths), n_new, strict=True)
    return [segmenter.push(window, n_new=n) for window, n in pushed], segmenter


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_single_window_is_the_whole_clip(shape: Shape, tier: str) -> None:
    frames = drift(shape)
    (ids,), segmenter = stream(frames, [len(frames)], [40], tier)
    whole = build_hierarchy(frames, tier).cut(40)
    assert np.array_equal(ids, whole.ids)
    assert_same_graph(segmenter.graph(), whole.graph)


def test_a_single_window_at_a_level_is_the_clip_at_that_level() -> None:
    frames = drift((9, 60, 80))
    ids = Segmenter((60, 80)).push(frames, level=5)
    assert np.array_equal(ids, build_hierarchy(frames).level(5).ids)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 8)), min_size=1, max_size=6), st.booleans())
@few
def test_windows_of_any_length_make_one_sound_partition(plan: list[tuple[int, int]], noisy: bool) -> None:
    lengths, n_new = [length for length, _ in plan], [max(1, plan[0][1]), *(n for _, n in plan[1:])]
    frames = (noise if noisy else drift)((sum(lengths), 24, 33))
    parts, segmenter = stream(frames, lengths, n_new)
    ids = np.concatenate(parts)
    assert [len(part) for part in parts] == lengths
    assert segmenter.n == sum(n_new)
    assert_sound(ids, sum(n_new))
    assert_same_graph(segmenter.graph(), neighbourhood_graph(ids))


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_real_stream_is_sound_and_its_graph_exact(camvid: tuple[UInt8, UInt8], tier: str, threads: int) -> None:
    frames, n_new = camvid[0][:, 100:223, 50:221], [60, 5, 0, 12]
    parts, segmenter = stream(frames, [9, 1, 4, 6], n_new, tier, threads)
    ids = np.concatenate(parts)
    assert_sound(ids, sum(n_new))
    assert_same_graph(segmenter.graph(), neighbourhood_graph(ids))


@pytest.mark.parametrize("tier", TIERS)
def test_most_supervoxels_live_on_across_a_border(camvid: tuple[UInt8, UInt8], tier: str) -> None:
    (before, after), _ = stream(camvid[0][:8, ::2, ::2], [4, 4], [100, 20], tier)
    carried, there = np.unique(before[-1]), np.unique(after[0])
    assert len(np.intersect1d(carried, there)) > 0.8 * len(carried)
    assert (before[-1] == after[0]).mean() > 0.7


def test_threads_change_nothing_in_a_stream(camvid: tuple[UInt8, UInt8]) -> None:
    frames = camvid[0][:, ::4, ::4]
    one, _ = stream(frames, [12, 8], [40, 10])
    two, _ = stream(frames, [12, 8], [40, 10], threads=2)
    assert np.array_equal(np.concatenate(one), np.concatenate(two))


def mosaic(size: tuple[int, int], n_y: int, n_x: int) -> UInt8:
    """A frame of tiles, each of its own colour."""
    tiles = grid((1, *size), 1, n_y, n_x)[0]
    colours = np.stack(np.meshgrid(*[np.array([20, 120, 230], np.uint8)] * 3), axis=-1).reshape(-1, 3)
    mixed: UInt8 = np.random.default_rng(3).permutation(colours)[tiles]
    return mixed


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(("size", "tiles"), [((48, 60), (3, 4)), ((120, 180), (4, 5))])
def test_a_static_scene_keeps_its_ids_through_windows(size: tuple[int, int], tiles: tuple[int, int], tier: str) -> None:
    lengths, n_tiles = [5, 8, 3, 11], tiles[0] * tiles[1]
    frames = np.repeat(mosaic(size, *tiles)[None], sum(lengths), axis=0)
    parts, _ = stream(frames, lengths, [n_tiles, 0, 0, 0], tier)
    ids = np.concatenate(parts)
    assert len(np.unique(ids[0])) == n_tiles
    assert (ids == ids[0]).all()


def test_a_cut_to_another_scene_starts_new_supervoxels() -> None:
    segmenter = Segmenter((48, 60))
    before = segmenter.push(np.repeat(mosaic((48, 60), 3, 4)[None], 8, axis=0), level=9)
    after = segmenter.push(np.repeat(255 - mosaic((48, 60), 2, 2)[None], 8, axis=0), level=9)
    assert not np.intersect1d(before, after).size


def test_what_was_given_out_never_changes() -> None:
    frames = drift((12, 30, 40))
    segmenter = Segmenter((30, 40))
    parts, copies = [], []
    for window, n_new in zip(windows(frames, [3, 4, 5]), (20, 0, 7), strict=True):
        parts.append(segmenter.push(window, n_new=n_new))
        copies.append(parts[-1].copy())
    assert all(np.array_equal(part, copy) for part, copy in zip(parts, copies, strict=True))
    shorter, _ = stream(frames[:7], [3, 4], [20, 0])
    assert np.array_equal(np.concatenate(shorter), np.concatenate(copies[:2]))


def test_segmenting_leaves_the_frames_as_they_are() -> None:
    frames = drift((6, 30, 40))
    before = frames.copy()
    stream(frames, [3, 3], [10, 2], "fast")
    assert np.array_equal(frames, before)


def test_frames_of_another_size_are_refused() -> None:
    with pytest.raises(UsageError):
        Segmenter((12, 12)).push(plain((2, 12, 10)), n_new=3)


COLD = """
import numpy as np
from budgetseg.supervoxels import Segmenter, warm_up
from budgetseg.supervoxels import graph, hierarchy, leaves, regions, window

def compiled():
    modules = graph, hierarchy, leaves, regions, window
    functions = [(name, f) for module in modules for name, f in vars(module).items() if hasattr(f, "signatures")]
    return {f"{name} {signature}" for name, f in functions for signature in f.signatures}

warm_up()
before = compiled()
for tier in ("quality", "fast"):
    segmenter = Segmenter((120, 180), tier)
    for n_new in (9, 3):
        segmenter.push(np.zeros((9, 120, 180, 3), np.uint8), n_new=n_new)
    segmenter.graph()
print(*compiled() - before)
"""


def test_after_the_warm_up_nothing_is_left_to_compile() -> None:
    run = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


@pytest.mark.parametrize(
    "frames",
    [
        np.zeros((0, 8, 8, 3), np.uint8),
        np.zeros((2, 8, 8, 4), np.uint8),
        np.zeros((2, 8, 8), np.uint8),
        np.zeros((2, 8, 8, 3), np.float32),
    ],
    ids=["none", "alpha", "grey", "float"],
)
def test_frames_that_are_no_rgb_video_are_refused(frames: UInt8) -> None:
    with pytest.raises(UsageError, match=r"frames must be \(T, H, W, 3\) uint8"):
        build_hierarchy(frames)


def test_memory_does_not_grow_with_the_length_of_a_stream() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (8, 48, 64, 3), np.uint8)
    segmenter, peaks = Segmenter((48, 64)), []
    tracemalloc.start()
    for _ in range(12):
        tracemalloc.reset_peak()
        segmenter.push(frames, n_new=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert max(peaks[6:]) < 1.1 * max(peaks[1:6])
