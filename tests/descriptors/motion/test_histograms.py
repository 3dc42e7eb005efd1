"""HOF and MBH of clips whose motion is known, and against patches that are summed up plainly."""

from collections.abc import Callable

import numpy as np
import pytest

from budgetseg.descriptors.cells import cell_sums
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.motion.histograms import Hof, Mbh, describe_tracks
from budgetseg.descriptors.motion.tracks import TrackPoints, spans_of_tracks
from budgetseg.descriptors.pointers import FrameArray
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Float64
from budgetseg.video.flow import flow_reduction, optical_flow
from tests.descriptors.plain import (
    BOXES,
    flow_edge_votes,
    flow_votes,
    moving,
    patches_along,
    scene_of,
    still,
    texture,
    track_list,
)

NAMES = ("hof", "mbh")
LENGTHS = {"hof": 72, "mbh": 128}
MOVES = [(3, 0), (3, 3), (0, 3), (-3, 3), (-3, 0), (-3, -3), (0, -3), (3, -3)]
"""By the bin of their direction; y points down."""


def live(scene: Scene) -> LiveDescriptors:
    return LiveDescriptors(scene, [Hof(), Mbh()], Prices())


def described(scene: Scene, region: int, name: str) -> Float32:
    """The vector as (2, 2, 2, bins): small and large patches, rows, columns."""
    return live(scene).compute(region, name).vector.reshape(2, 2, 2, -1)


def side_by_side(left: tuple[int, int], right: tuple[int, int]) -> Scene:
    """Two halves that move by (dx, dy) each; supervoxel 0 lies on both."""
    halves = [moving((20, 120, 80), move, seed) for seed, move in enumerate((left, right))]
    return scene_of(np.concatenate(halves, axis=2))


@pytest.fixture(scope="module")
def apart() -> Scene:
    """The left half moves to the left and the right half to the right."""
    return side_by_side((-3, 0), (3, 0))


@pytest.fixture(scope="module")
def together() -> Scene:
    """Everything moves to the right."""
    return scene_of(moving((20, 120, 160), (3, 0)))


@pytest.mark.parametrize("region", [0, 1])
@pytest.mark.parametrize(("bin_", "move"), list(enumerate(MOVES)))
def test_hof_peaks_in_the_direction_of_motion_in_all_cells(bin_: int, move: tuple[int, int], region: int) -> None:
    hof = described(scene_of(moving((20, 120, 160), move)), region, "hof")
    assert (hof.argmax(axis=3) == bin_).all()
    assert np.delete(hof, bin_, axis=3).max() < 0.1 * hof[..., bin_].min()


@pytest.mark.parametrize("region", [0, 1])
def test_hof_of_a_still_video_is_no_motion_alone(region: int) -> None:
    hof = described(scene_of(still(texture(120, 160))), region, "hof")
    assert (hof[..., 8] > 0).all()
    assert not hof[..., :8].any()


def test_mbh_is_near_zero_under_a_translation_and_hof_is_not(together: Scene, apart: Scene) -> None:
    mbh, hof = ([middle_sum(name, scene) for scene in (together, apart)] for name in ("mbh", "hof"))
    assert mbh[0] < 0.05 * mbh[1]
    assert 0.5 < hof[0] / hof[1] < 2


def middle_sum(name: str, scene: Scene) -> float:
    """Sum over the cells in the middle of the fifth frame, before anything is scaled."""
    descriptors = live(scene)
    descriptors.compute(0, name)
    cells = descriptors.cache.peek([(f"{name} cells", 5)])[0]
    assert isinstance(cells, FrameArray)
    return float(cells.array[10:25, 15:30].sum())


@pytest.mark.parametrize(
    ("bin_", "left", "right"),
    [(0, (-3, 0), (3, 0)), (4, (3, 0), (-3, 0)), (8, (0, -1), (0, 4)), (12, (0, 5), (0, 0))],
)
def test_mbh_peaks_at_a_boundary_where_the_change_of_dx_or_dy_points(
    bin_: int, left: tuple[int, int], right: tuple[int, int]
) -> None:
    mbh = described(side_by_side(left, right), 0, "mbh")
    assert (mbh.argmax(axis=3) == bin_).all()


@pytest.mark.parametrize("name", NAMES)
def test_vectors_have_their_length_and_patches_at_most_length_one(name: str, apart: Scene) -> None:
    for region in (0, 1):
        vector = live(apart).compute(region, name).vector
        assert vector.shape == (LENGTHS[name],)
        assert vector.dtype == np.float32
        assert all(0 < np.linalg.norm(patch) <= 1 + 1e-5 for patch in np.split(vector, 2))
        assert (vector >= 0).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_frames", [1, 2, 3, 15, 30])
def test_a_video_that_repeats_one_frame_is_described_alike_whatever_its_length(name: str, n_frames: int) -> None:
    short, longer = (described(scene_of(still(texture(60, 80), n)), 0, name) for n in (n_frames, 40))
    assert np.allclose(short, longer, atol=1e-4)
    assert short.any() == (name == "hof")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 7), (3, 5, 7), (20, 16, 16), (2, 1, 90)])
def test_tiny_videos_are_described(name: str, shape: tuple[int, int, int]) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    ids = np.zeros(shape, np.int32)
    vector = live(scene_of(frames, ids)).compute(0, name).vector
    assert vector.shape == (LENGTHS[name],)
    assert np.isfinite(vector).all()


def test_a_plain_video_has_no_boundaries() -> None:
    assert not described(scene_of(np.full((20, 60, 80, 3), 128, np.uint8)), 0, "mbh").any()


def plain_values(scene: Scene, name: str, frame: int) -> tuple[Float64, int]:
    """What is summed of a frame, and how many pixels a side share a value."""
    leaving = min(frame, scene.n_frames - 2)
    flow = optical_flow(scene.frames[leaving], scene.frames[leaving + 1])
    votes: Callable[[Float32], Float64] = {"hof": flow_votes, "mbh": flow_edge_votes}[name]
    return votes(flow), flow_reduction(*scene.frames.shape[1:3])


def plain_description(scene: Scene, region: int, name: str, tracks: TrackPoints) -> Float64:
    """Mean of the patches of all tracks, summed up pixel by pixel."""
    frames = [frame for span in spans_of_tracks(*scene.lifetime(region)) for frame in range(*span)]
    pairs = [plain_values(scene, name, frame) for frame in frames]
    values, reduce = [value for value, _ in pairs], pairs[0][1]
    along = [
        patches_along(path, values[slot : slot + len(path)], reduce)
        for path, slot in zip(track_list(tracks), tracks.slots, strict=True)
    ]
    mean: Float64 = np.mean(along, axis=0)
    return mean


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "box"), BOXES, ids=str)
def test_a_description_is_the_mean_of_its_tracks_summed_pixel_by_pixel(
    name: str, shape: tuple[int, int, int], box: tuple[int, int, int, int]
) -> None:
    frames = moving(shape, (2, -1))
    frames[1:, : shape[1] // 2] = frames[:-1, : shape[1] // 2]  # a boundary
    ids = np.ones(shape, np.int32)
    ids[:, box[0] : box[1], box[2] : box[3]] = 0
    scene = scene_of(frames, ids)
    descriptors = live(scene)
    vector = descriptors.compute(0, name).vector
    tracks = descriptors.cache.peek([("tracks", 0)])[0]
    assert isinstance(tracks, TrackPoints)
    assert len(tracks.slots) > 1
    assert np.abs(vector - plain_description(scene, 0, name, tracks)).max() < 2e-3


def one_track(points: list[tuple[float, float]]) -> TrackPoints:
    return TrackPoints(np.array(points, np.float32), np.array([0, len(points)], np.int32), np.zeros(1, np.int32))


@pytest.mark.parametrize(("scale", "half"), [(0, 16), (1, 32)])
@pytest.mark.parametrize("point", [(80.5, 80.5), (78.0, 81.9), (79.0, 81.5)])
def test_a_patch_is_32_pixels_a_side_and_the_large_one_twice_that(
    scale: int, half: int, point: tuple[float, float]
) -> None:
    blocks = np.zeros((40, 40, 8), np.float32)
    around = (80 - half) // 4, (80 + half) // 4
    blocks[around[0] : around[1], around[0] : around[1]] = 1
    whole, rest = (mean_of(one_track([point]), cells_of(x))[scale] for x in (blocks, 1 - blocks))
    assert np.allclose(whole, 1 / np.sqrt(32), atol=1e-5)
    assert not rest.any()


@pytest.mark.parametrize(("scale", "side"), [(0, 4), (1, 8)])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_the_quarters_of_a_patch_are_its_cells(scale: int, side: int, row: int, column: int) -> None:
    blocks = np.zeros((40, 40, 8), np.float32)
    top, left = 20 + side * (row - 1), 20 + side * (column - 1)
    blocks[top : top + side, left : left + side, 3] = 1
    patch = mean_of(one_track([(80.5, 80.5)]), cells_of(blocks))[scale]
    assert np.argwhere(patch > 0).tolist() == [[row, column, 3]]


def mean_of(tracks: TrackPoints, cells: list[FrameArray]) -> Float32:
    """The vector as (2, 2, 2, bins)."""
    vector: Float32 = describe_tracks([tracks], [cells])[0]
    return vector.reshape(2, 2, 2, -1)


def cells_of(*blocks: Float32) -> list[FrameArray]:
    return [FrameArray(cell_sums(one)) for one in blocks]


@pytest.mark.parametrize("length", [1, 2, 7, 15])
def test_a_patch_holds_all_frames_of_its_track(length: int) -> None:
    frames = np.zeros((length + 1, 20, 20, 16), np.float32)
    frames[range(length + 1), :, :, range(length + 1)] = 1  # every frame has a bin of its own
    patches = mean_of(one_track([(40.5, 40.5)] * length), cells_of(*frames))
    assert np.allclose(patches[..., :length], 1 / np.sqrt(4 * length), atol=1e-4)
    assert not patches[..., length:].any()


def test_each_track_counts_the_same_however_much_it_holds() -> None:
    blocks = np.random.default_rng(0).random((40, 40, 9), np.float32)
    blocks[:, 20:] *= 100
    points = [(80.5, 30.5), (60.0, 120.0)]
    alone = [mean_of(one_track([point]), cells_of(blocks)) for point in points]
    ends, zeros = np.array([0, 1, 2], np.int32), np.zeros(2, np.int32)
    both = mean_of(TrackPoints(np.array(points, np.float32), ends, zeros), cells_of(blocks))
    assert np.allclose(np.linalg.norm(np.reshape(alone, (4, -1)), axis=1), 1, atol=1e-4)
    assert np.allclose(both, np.mean(alone, axis=0), atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_needed_for_the_frames_of_the_spans_alone(name: str) -> None:
    scene = scene_of(still(texture(20, 20), 100))
    needed = live(scene).descriptors[name].needs(scene, 0)
    frames = [frame for span in spans_of_tracks(0, 100) for frame in range(*span)]
    assert list(needed) == [("tracks", 0), *((f"{name} cells", frame) for frame in frames)]


@pytest.mark.parametrize("name", NAMES)
def test_several_supervoxels_at_a_time_are_the_same_as_one_by_one(name: str) -> None:
    frames = moving((20, 96, 128), (3, 0))
    ids = np.arange(8, dtype=np.int32).repeat(16)[None, None, :] + np.zeros((20, 96, 1), np.int32)
    scene = scene_of(frames, ids)
    together, alone = live(scene), live(scene)
    regions = np.array([4, 0, 5, 0])
    vectors = together.compute_all(regions, name).vectors
    assert np.array_equal(vectors, np.stack([alone.compute(int(region), name).vector for region in regions]))
