"""HOF and MBH: orientation histograms of flow, and of its changes, around the tracks of a supervoxel."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from budgetseg.descriptors.cells import (
    AROUND,
    N_BINS,
    Cells,
    add_cells,
    add_patches,
    flow_blocks,
    flow_edge_blocks,
    length_of,
)
from budgetseg.descriptors.core import Descriptor, Key, Lists, Numbering, Scene
from budgetseg.descriptors.motion.tracks import (
    Flow,
    TrackPoints,
    Tracks,
    flow_work,
    keys_of_tracks,
    lists_of_tracks,
    track_work,
    track_works,
)
from budgetseg.descriptors.pointers import FrameArray, addresses, array_at
from budgetseg.types import Float32, Float64, Int32, Int64
from budgetseg.video.flow import flow_reduction

__all__ = ["Hof", "Mbh", "describe_tracks"]


class _FlowCells(Cells):
    """Cells of the flow from a frame to the next; for the last frame, of the flow to it."""

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:
        """The flow of the frame."""
        return ((Flow.kind, min(index, max(scene.n_frames - 2, 0))),)

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The flow of every frame."""
        frames = np.arange(scene.n_frames + 1)
        flows = np.minimum(frames[:-1], max(scene.n_frames - 2, 0)) + numbering.starts[Flow.kind]
        return Lists(frames, flows.astype(np.int32))

    def frame_work(self, scene: Scene) -> float:
        """The work of a frame, in the unit of the flow's work."""
        return flow_work(scene)


class _HofCells(_FlowCells):
    kind = "hof cells"

    def frame_work(self, scene: Scene) -> float:
        return flow_work(scene, pixels_a_vector=4)  # counting vectors is fast here, so that sums over cells are half

    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return flow_blocks(inputs[0].array, flow_reduction(*scene.frames.shape[1:3]))


class _MbhCells(_FlowCells):
    kind = "mbh cells"

    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return flow_edge_blocks(inputs[0].array, flow_reduction(*scene.frames.shape[1:3]))


class _TrackHistogram(Descriptor):
    """The mean over the tracks of a supervoxel of their patches, summed along the track and scaled to length one."""

    cells: Cells

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """The tracks, and the cells of every frame that they pass."""
        return [(Tracks.kind, region), *keys_of_tracks(self.cells.kind, *scene.lifetime(region))]

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The `needs` of every supervoxel."""
        starts = numbering.starts
        return lists_of_tracks(scene, starts[self.cells.kind], tracks_start=starts[Tracks.kind])

    def work(self, scene: Scene, region: int) -> float:
        """Frames and pixels, as for the tracks."""
        return track_work(scene, region)

    def works(self, scene: Scene) -> Float64:
        """The `work` of every supervoxel, (N,)."""
        return track_works(scene)

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """The vector, (8 · bins,) float32: small patches, then large ones, by row, column and bin."""
        vector: Float32 = _TrackHistogram.compute_all(self, scene, np.array([region]), [inputs])[0]
        return vector

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:  # noqa: ARG002
        """The vectors of several supervoxels, (K, 8 · bins) float32."""
        return describe_tracks([values[0] for values in inputs], [values[1:] for values in inputs])


class Hof(_TrackHistogram):
    """Histograms of optical flow, with a bin for no motion: how a supervoxel moves."""

    name = "hof"
    length = length_of(N_BINS + 1)
    cells = _HofCells()
    resources = Flow(), Tracks(), cells


class Mbh(_TrackHistogram):
    """Motion boundary histograms of the x and y of the flow: where motion changes, without that of the camera."""

    name = "mbh"
    length = length_of(2 * N_BINS)
    cells = _MbhCells()
    resources = Flow(), Tracks(), cells


def describe_tracks(tracks: Sequence[TrackPoints], cells: Sequence[Sequence[FrameArray]]) -> Float32:
    """Mean patches of the tracks of supervoxels, (K, 8 · bins), given the cells of every frame of their spans."""
    shape = cells[0][0].array.shape
    bounds = np.cumsum([0, *(len(region.slots) for region in tracks)])
    points, first = _joined([region.points for region in tracks], [region.first[:-1] for region in tracks])
    places, slots = _joined([addresses(arrays) for arrays in cells], [region.slots for region in tracks])
    means = np.zeros((len(tracks), 2, 2, 2, shape[2]), np.float32)
    _describe(points, np.append(first, len(points)), slots, bounds, places, shape, means)
    return means.reshape(len(tracks), -1)


def _joined(lists: Sequence[NDArray[Any]], places: Sequence[Int32]) -> tuple[NDArray[Any], Int64]:
    """Lists one after another, and places in each of them as places in the joined list."""
    starts = np.cumsum([0, *map(len, lists[:-1])])
    return np.concatenate(lists), np.concatenate(places) + np.repeat(starts, [len(part) for part in places])


@njit(cache=True, nogil=True, fastmath=True)
def _describe(points, first, slots, bounds, sums, shape, means):  # type: ignore[no-untyped-def]
    cells = np.empty((AROUND, AROUND, shape[2]), np.float32)
    for i in range(len(bounds) - 1):
        for track in range(bounds[i], bounds[i + 1]):
            cells[:] = 0
            for j in range(first[track + 1] - first[track]):
                y, x = points[first[track] + j]
                add_cells(array_at(sums[slots[track] + j], shape), y, x, cells)
            add_patches(cells, means[i])
        means[i] /= np.float32(bounds[i + 1] - bounds[i])
