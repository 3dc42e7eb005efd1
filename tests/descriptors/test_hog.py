"""HOG against patches that are summed up pixel by pixel, at the points of a grid in the agreed frames."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.descriptors.agreed_frames import agreed_frames
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.hog import Hog
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Float64, Int32
from tests.descriptors.plain import BOXES, gradient_votes, moving, patches_along, scene_of, still, texture
from tests.supervoxels.volumes import few, id_volumes, noise, parts_of

Point = tuple[int, int, int]


def live(scene: Scene) -> LiveDescriptors:
    return LiveDescriptors(scene, [Hog()], Prices())


def described(scene: Scene, region: int) -> Float32:
    """The vector as (2, 2, 2, 8): small and large patches, rows, columns."""
    return live(scene).compute(region, "hog").vector.reshape(2, 2, 2, 8)


def points_of(scene: Scene, region: int) -> list[Point]:
    """Frame, row and column of the points of the grid on a supervoxel, or of its middle pixel, in each agreed frame."""
    first, end = scene.lifetime(region)
    points: list[Point] = []
    for t in sorted(set(agreed_frames(np.array([first]), np.array([end]))[0].tolist())):
        there = scene.supervoxels.ids[t] == region
        rows, columns = np.nonzero(there)
        own = [(t, y, x) for y, x in zip(rows.tolist(), columns.tolist(), strict=True) if y % 8 == 4 == x % 8]
        points += own or [(t, int(rows[len(rows) // 2]), int(columns[len(rows) // 2]))]
    return points


def plain(scene: Scene, region: int) -> Float64:
    votes = {
        t: gradient_votes(cv2.cvtColor(scene.frames[t], cv2.COLOR_RGB2GRAY)) for t, _, _ in points_of(scene, region)
    }
    patches = [patches_along(np.array([[y, x]], np.float32), [votes[t]]) for t, y, x in points_of(scene, region)]
    mean: Float64 = np.mean(patches, axis=0)
    return mean


@pytest.mark.parametrize(("shape", "box"), BOXES, ids=str)
def test_it_is_the_mean_over_the_points_of_the_grid_in_the_agreed_frames(
    shape: tuple[int, int, int], box: tuple[int, int, int, int]
) -> None:
    ids = np.ones(shape, np.int32)
    ids[:, box[0] : box[1], box[2] : box[3]] = 0
    scene = scene_of(moving(shape, (2, -1)), ids)
    assert len(points_of(scene, 0)) > 6
    assert np.abs(described(scene, 0).ravel() - plain(scene, 0)).max() < 2e-3


@few
@given(ids=id_volumes(longest=9))
def test_supervoxels_between_the_points_are_described_where_they_are(ids: Int32) -> None:
    ids = parts_of(ids)
    n, height, width = ids.shape
    scene = scene_of(noise((n, height, width)), ids)
    for region in range(len(scene.supervoxels)):
        assert np.abs(described(scene, region).ravel() - plain(scene, region)).max() < 5e-3


@pytest.mark.parametrize(
    ("bin_", "edge"),
    [
        (0, np.arange(160)[None] >= 80),
        (2, np.arange(120)[:, None] >= 60),
        (4, np.arange(160)[None] < 80),
        (6, np.arange(120)[:, None] < 60),
    ],
)
def test_an_edge_peaks_in_the_direction_in_which_it_gets_lighter(bin_: int, edge: Float64) -> None:
    frame = np.broadcast_to(np.where(edge, 200, 50).astype(np.uint8)[..., None], (120, 160, 3))
    hog = described(scene_of(still(frame, 5)), 0)
    assert (hog.argmax(axis=3) == bin_).all()
    assert np.delete(hog, bin_, axis=3).max() < 0.01 * hog[..., bin_].min()


def test_a_plain_video_has_no_gradients() -> None:
    assert not described(scene_of(np.full((20, 60, 80, 3), 128, np.uint8)), 0).any()


def test_it_needs_gradients_in_the_agreed_frames_and_no_motion() -> None:
    scene = scene_of(still(texture(20, 20), 100))
    assert list(Hog().needs(scene, 0)) == [("hog cells", t) for t in (0, 32, 96)]
    assert [kind.kind for kind in Hog.resources] == ["hog cells"]


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 7), (3, 5, 7), (20, 16, 16), (2, 1, 90)])
def test_tiny_videos_are_described(shape: tuple[int, int, int]) -> None:
    vector = live(scene_of(noise(shape), np.zeros(shape, np.int32))).compute(0, "hog").vector
    assert vector.shape == (64,)
    assert np.isfinite(vector).all()


@few
@given(st.lists(st.integers(0, 7), min_size=1, max_size=6))
def test_several_supervoxels_at_a_time_are_the_same_as_one_by_one(regions: list[int]) -> None:
    ids = np.arange(8, dtype=np.int32).repeat(16)[None, None, :] + np.zeros((20, 96, 1), np.int32)
    scene = scene_of(moving((20, 96, 128), (3, 0)), ids)
    together, alone = live(scene), live(scene)
    vectors = together.compute_all(np.array(regions), "hog").vectors
    assert np.array_equal(vectors, np.stack([alone.compute(region, "hog").vector for region in regions]))
