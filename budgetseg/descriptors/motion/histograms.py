"""HOG, HOF and MBH: orientation histograms in a 2x2x3 grid along the tracks of a supervoxel."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from budgetseg.descriptors.core import Descriptor, Key, Lists, Numbering, Resource, Scene
from budgetseg.descriptors.motion.cells import BLOCK, CELL, cell_sums, flow_blocks, flow_edge_blocks, gradient_blocks
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

__all__ = ["Hof", "Hog", "Mbh", "describe_tracks"]

LEAST = 1e-3  # keeps a patch without any gradient or motion at zero


class _Cells(Resource):
    """Sums over cells of one kind of histogram of a frame."""

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        """The same for every frame."""
        return self.frame_work(scene)

    def works(self, scene: Scene) -> Float64:
        """So often, (T,)."""
        return np.full(scene.n_frames, self.frame_work(scene))

    def frame_work(self, scene: Scene) -> float:
        """Work of any frame."""
        return float(scene.n_pixels)

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> FrameArray:
        """(h + CELL + 1, w + CELL + 1, bins)."""
        return FrameArray(cell_sums(self.blocks(scene, index, inputs)))

    @abstractmethod
    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:
        """The histograms of blocks, (h, w, bins)."""


class _FlowCells(_Cells):
    """Those made of the flow that leaves a frame; the last frame, which has none, takes the flow that enters it."""

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:
        """That flow."""
        return ((Flow.kind, min(index, max(scene.n_frames - 2, 0))),)

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The same of every frame."""
        frames = np.arange(scene.n_frames + 1)
        flows = np.minimum(frames[:-1], max(scene.n_frames - 2, 0)) + numbering.starts[Flow.kind]
        return Lists(frames, flows.astype(np.int32))

    def frame_work(self, scene: Scene) -> float:
        """As for the flow."""
        return flow_work(scene)


class _HogCells(_Cells):
    kind = "hog cells"

    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return gradient_blocks(cv2.cvtColor(scene.frames[index], cv2.COLOR_RGB2GRAY))


class _HofCells(_FlowCells):
    kind = "hof cells"

    def frame_work(self, scene: Scene) -> float:
        return flow_work(scene, pixels_a_vector=4)  # vectors are soon counted here, and sums over cells are half of it

    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return flow_blocks(inputs[0].array, flow_reduction(*scene.frames.shape[1:3]))


class _MbhCells(_FlowCells):
    kind = "mbh cells"

    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return flow_edge_blocks(inputs[0].array, flow_reduction(*scene.frames.shape[1:3]))


class _TrackHistogram(Descriptor):
    """The mean over all tracks of a supervoxel of their histograms, each scaled to length one."""

    cells: _Cells

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """The tracks, and the cells of every frame that they pass."""
        return [(Tracks.kind, region), *keys_of_tracks(self.cells.kind, *scene.lifetime(region))]

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The same of every supervoxel."""
        starts = numbering.starts
        return lists_of_tracks(scene, starts[self.cells.kind], own=starts[Tracks.kind])

    def work(self, scene: Scene, region: int) -> float:
        """Frames and pixels, as for the tracks."""
        return track_work(scene, region)

    def works(self, scene: Scene) -> Float64:
        """The same of every supervoxel, (N,)."""
        return track_works(scene)

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """(12 · bins,): thirds of the track, then rows, columns and bins."""
        vector: Float32 = _TrackHistogram.compute_all(self, scene, np.array([region]), [inputs])[0]
        return vector

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:  # noqa: ARG002
        """The same of several, (K, 12 · bins)."""
        return describe_tracks([own[0] for own in inputs], [own[1:] for own in inputs])


class Hog(_TrackHistogram):
    """Histograms of oriented gradients: what the surface looks like."""

    name, length = "hog", 12 * 8
    cells = _HogCells()
    resources = Flow(), Tracks(), cells


class Hof(_TrackHistogram):
    """Histograms of optical flow, with a bin for no motion: how it moves."""

    name, length = "hof", 12 * 9
    cells = _HofCells()
    resources = Flow(), Tracks(), cells


class Mbh(_TrackHistogram):
    """Motion boundary histograms, of the flow's x and y: where motion changes, free of the camera's own."""

    name, length = "mbh", 12 * 16
    cells = _MbhCells()
    resources = Flow(), Tracks(), cells


def describe_tracks(tracks: Sequence[TrackPoints], cells: Sequence[Sequence[FrameArray]]) -> Float32:
    """Mean histograms of the tracks of supervoxels, (K, 12 · bins), given the cells of every frame of their spans."""
    shape, bounds = cells[0][0].array.shape, np.cumsum([0, *(len(own.slots) for own in tracks)])
    points, first = _joined([own.points for own in tracks], [own.first[:-1] for own in tracks])
    places, slots = _joined([addresses(own) for own in cells], [own.slots for own in tracks])
    scales, means = np.concatenate([own.scales for own in tracks]), np.empty((len(tracks), 12 * shape[2]), np.float32)
    _describe(points, np.append(first, len(points)), slots, scales, bounds, places, shape, means)
    return means


def _joined(lists: Sequence[NDArray[Any]], places: Sequence[Int32]) -> tuple[NDArray[Any], Int64]:
    """Lists one after another, and places in each of them as places in the whole."""
    starts = np.cumsum([0, *map(len, lists[:-1])])
    return np.concatenate(lists), np.concatenate(places) + np.repeat(starts, [len(own) for own in places])


@njit(cache=True, nogil=True, fastmath=True)
def _describe(points, first, slots, scales, bounds, cells, shape, means):  # type: ignore[no-untyped-def]
    grid = np.empty((3, 2, 2, shape[2]), np.float32)
    flat = grid.reshape(-1)
    for own in range(len(bounds) - 1):
        total, n = means[own], bounds[own + 1] - bounds[own]
        total[:] = 0
        for k in range(bounds[own], bounds[own + 1]):
            _gather(points[first[k] : first[k + 1]], scales[k], cells[slots[k] :], shape, grid)
            length = np.sqrt((flat * flat).sum()) + np.float32(LEAST)
            for j in range(len(flat)):
                total[j] += flat[j] / length
        for j in range(len(flat)):
            total[j] /= np.float32(n)


@njit(cache=True, nogil=True, fastmath=True)
def _gather(path, scale, cells, shape, grid):  # type: ignore[no-untyped-def]
    """Sum the cells around each point into thirds of the track; a track of one or two points fills all three."""
    length = len(path)
    grid[:] = 0
    for third in range(3):
        begin = third * length // 3
        for j in range(begin, max((third + 1) * length // 3, begin + 1)):
            sums = array_at(cells[j], shape)
            y, x = (int(path[j, 0]) + BLOCK // 2) // BLOCK, (int(path[j, 1]) + BLOCK // 2) // BLOCK
            if scale == 0:
                for r in range(2):
                    for c in range(2):
                        here = sums[y + CELL * r, x + CELL * c]
                        for k in range(shape[2]):
                            grid[third, r, c, k] += here[k]
            else:  # a patch of twice the side: four cells make one
                for r in range(4):
                    for c in range(4):
                        row, column = y + CELL * (r - 1), x + CELL * (c - 1)
                        if 0 <= row < shape[0] and 0 <= column < shape[1]:
                            here = sums[row, column]
                            for k in range(shape[2]):
                                grid[third, r // 2, c // 2, k] += here[k]
