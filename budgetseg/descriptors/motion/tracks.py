"""Tracks of a supervoxel: points of a dense grid on it, followed through the optical flow."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from budgetseg.descriptors.core import Key, Lists, Numbering, Resource, Scene
from budgetseg.descriptors.grid import grid_points, middle_pixel
from budgetseg.descriptors.pointers import FrameArray, addresses, array_at
from budgetseg.types import Float32, Float64, Int32
from budgetseg.video.flow import flow_reduction, optical_flow

__all__ = [
    "Flow",
    "TrackPoints",
    "Tracks",
    "flow_work",
    "keys_of_tracks",
    "lists_of_tracks",
    "spans_of_tracks",
    "track_work",
    "track_works",
]

LENGTH = 15  # frames of a track, at most
MOST_SPANS = 3  # a longer-lived supervoxel is tracked at the beginning, in the middle and at the end of its life
ERRATIC = 50.0  # pixels of standard deviation along x or y from which a track is dropped
# where tracks start
ON_IT = 0
AROUND_IT = 1
IN_ITS_MIDDLE = 2
# a track is dropped if one step is longer than this, in pixels, and than this share of it
JUMP = 20.0
JUMP_SHARE = 0.7


def spans_of_tracks(first: int, end: int) -> list[tuple[int, int]]:
    """Half-open ranges of frames in which tracks run, for a supervoxel that lives from `first` to before `end`."""
    return [_span(first, end, k) for k in range(_n_spans(first, end))]


def _n_spans(first: int, end: int) -> int:
    return min(-(-(end - first) // LENGTH), MOST_SPANS)


def _span(first: int, end: int, k: int) -> tuple[int, int]:
    """The k-th of the ranges: they cover the lifetime, or lie at its ends and in its middle."""
    n = -(-(end - first) // LENGTH)
    part = k * (n - 1) // max(min(n, MOST_SPANS) - 1, 1)
    return first + part * (end - first) // n, first + (part + 1) * (end - first) // n


# The same for compiled code.
_n_spans_compiled: Any = njit(cache=True, nogil=True)(_n_spans)
_span_compiled: Any = njit(cache=True, nogil=True)(_span)


def n_tracked_frames(first: int, end: int) -> int:
    """Number of frames in the ranges of `spans_of_tracks`."""
    return sum(stop - start for start, stop in spans_of_tracks(first, end))


@lru_cache(maxsize=1 << 12)
def keys_of_tracks(kind: str, first: int, end: int, dropped: int = 0) -> tuple[Key, ...]:
    """Resources of a kind for each frame of `spans_of_tracks`, without the last `dropped` of each range."""
    return tuple((kind, frame) for start, stop in spans_of_tracks(first, end) for frame in range(start, stop - dropped))


def lists_of_tracks(scene: Scene, start: int, dropped: int = 0, tracks_start: int | None = None) -> Lists:
    """Numbers of the resources of `keys_of_tracks` for every supervoxel.

    Parameters
    ----------
    scene : the video and its supervoxels
    start : number of the resource of frame 0
    dropped : frames at the end of each range without a resource
    tracks_start : number of the tracks of supervoxel 0, which come first in each list; None to leave tracks out
    """
    return Lists(*_lists(scene.supervoxels.graph.boxes, start, dropped, -1 if tracks_start is None else tracks_start))


class Flow(Resource):
    """Optical flow from each frame to the next; none in a video of one frame."""

    kind = "flow"

    def count(self, scene: Scene) -> int:
        """Number of pairs of consecutive frames, at least one."""
        return max(scene.n_frames - 1, 1)

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        """The work of a pair of frames, which is the same for all."""
        return flow_work(scene)

    def works(self, scene: Scene) -> Float64:
        """The work of every pair of frames, (T - 1,)."""
        return np.full(self.count(scene), flow_work(scene))

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> FrameArray:  # noqa: ARG002
        """The flow, (ceil(H/r), ceil(W/r), 2) float32, with r the `flow_reduction`."""
        following = min(index + 1, scene.n_frames - 1)
        return FrameArray(optical_flow(scene.frames[index], scene.frames[following]))


@dataclass(frozen=True, eq=False)
class TrackPoints:
    """The tracks of one supervoxel.

    Attributes
    ----------
    points : (P, 2) float32, (y, x), the points of all tracks one after another
    first : (M + 1,) int32; the points of track k are first[k] to first[k + 1]
    slots : (M,) int32, place of the frame of the first point among the frames of `spans_of_tracks`
    """

    points: Float32
    first: Int32
    slots: Int32

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.points.nbytes + self.first.nbytes + self.slots.nbytes


class Tracks(Resource):
    """Tracks of a supervoxel, shared by the descriptors that follow them.

    Points start on a grid on the supervoxel. A track is kept if at least half of it lies on the supervoxel and it is
    not erratic. If none is left, points start on the grid in the bounding box of the supervoxel in the first frame of
    the track; if none of these is left, its middle pixel is tracked.
    """

    kind = "tracks"

    def count(self, scene: Scene) -> int:
        """Number of supervoxels; each has one set of tracks."""
        return len(scene.supervoxels)

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:
        """The flow between the frames of each track."""
        return keys_of_tracks(Flow.kind, *scene.lifetime(index), dropped=1)

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The `needs` of every supervoxel."""
        return lists_of_tracks(scene, numbering.starts[Flow.kind], dropped=1)

    def work(self, scene: Scene, index: int) -> float:
        """Frames and pixels, see `track_work`."""
        return track_work(scene, index)

    def works(self, scene: Scene) -> Float64:
        """The `work` of every supervoxel, (N,)."""
        return track_works(scene)

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> TrackPoints:
        """All tracks of a supervoxel."""
        ids = scene.supervoxels.ids
        runs = scene.runs
        of_region = slice(runs.first[index], runs.first[index + 1])
        spans = np.array(spans_of_tracks(*scene.lifetime(index)), np.int32)
        reduce = flow_reduction(ids.shape[1], ids.shape[2])
        region = (index, runs.rows[of_region], runs.spans[of_region])
        return TrackPoints(*_follow(ids, region, spans, addresses(inputs), reduce))


def flow_work(scene: Scene, pixels_a_vector: int = 16) -> float:
    """Number of vectors of a flow field, plus one for every `pixels_a_vector` pixels of the frame."""
    return scene.n_pixels * (1 / flow_reduction(*scene.frames.shape[1:3]) ** 2 + 1 / pixels_a_vector)


def track_work(scene: Scene, region: int) -> float:
    """Pixels in tracked frames, if the supervoxel had the same number in all frames; a frame adds 250."""
    first, end = scene.lifetime(region)
    n_frames = n_tracked_frames(first, end)
    return n_frames * (float(scene.supervoxels.graph.sizes[region]) / (end - first) + 250)


def track_works(scene: Scene) -> Float64:
    """The `track_work` of every supervoxel, (N,)."""
    graph = scene.supervoxels.graph
    works: Float64 = np.empty(len(graph))
    _works(graph.boxes, graph.sizes, works)
    return works


@njit(cache=True, nogil=True)
def _works(boxes, sizes, works):  # type: ignore[no-untyped-def]
    for i in range(len(boxes)):
        first, end = np.int64(boxes[i, 0]), np.int64(boxes[i, 1])
        works[i] = _n_frames(first, end) * (sizes[i] / (end - first) + 250)


@njit(cache=True, nogil=True)
def _n_frames(first, end):  # type: ignore[no-untyped-def]
    n = 0
    for k in range(_n_spans_compiled(first, end)):
        start, stop = _span_compiled(first, end, k)
        n += stop - start
    return n


@njit(cache=True, nogil=True)
def _lists(boxes, origin, dropped, tracks_start):  # type: ignore[no-untyped-def]
    """First and items, as in `Lists`; tracks_start is -1 without tracks."""
    first = np.zeros(len(boxes) + 1, np.int64)
    n = 0
    for i in range(len(boxes)):
        begin = np.int64(boxes[i, 0])
        end = np.int64(boxes[i, 1])
        n += _n_frames(begin, end) - dropped * _n_spans_compiled(begin, end) + (tracks_start >= 0)
        first[i + 1] = n
    items = np.empty(n, np.int32)
    n = 0
    for i in range(len(boxes)):
        begin = np.int64(boxes[i, 0])
        end = np.int64(boxes[i, 1])
        if tracks_start >= 0:
            items[n] = tracks_start + i
            n += 1
        for k in range(_n_spans_compiled(begin, end)):
            start, stop = _span_compiled(begin, end, k)
            for frame in range(start, stop - dropped):
                items[n] = origin + frame
                n += 1
    return first, items


@njit(cache=True, nogil=True)
def _follow(ids, region, spans, flows, reduce):  # type: ignore[no-untyped-def]
    """Points, first and slots of all tracks."""
    index, rows, runs = region
    height = ids.shape[1]
    parts = [(np.empty((0, 2), np.float32), 0, 0)]
    slot = flow_slot = 0
    for start, stop in spans:
        low, high = np.searchsorted(rows, start * height), np.searchsorted(rows, (start + 1) * height)
        frame_rows = rows[low:high] - start * height
        frame_runs = runs[low:high]
        for place in (ON_IT, AROUND_IT, IN_ITS_MIDDLE):
            seeds = _seeds(frame_rows, frame_runs, place)
            paths, on = _paths(ids, index, seeds, start, stop - start, flows[flow_slot:], reduce)
            kept = _kept(paths, on, place)
            if len(kept):
                parts.append((kept.reshape(-1, 2), stop - start, slot))
                break
        slot += stop - start
        flow_slot += stop - start - 1
    return _joined(parts)


@njit(cache=True, nogil=True)
def _seeds(rows, runs, place):  # type: ignore[no-untyped-def]
    """Points (y, x) to start from, given the supervoxel's runs in the first frame."""
    if place == ON_IT:
        return grid_points(rows, runs)
    if place == AROUND_IT:
        whole = np.empty((rows[-1] - rows[0] + 1, 2), np.int32)
        whole[:, 0] = runs[:, 0].min()
        whole[:, 1] = runs[:, 1].max()
        return grid_points(np.arange(rows[0], rows[-1] + 1).astype(np.int32), whole)
    return middle_pixel(rows, runs)


@njit(cache=True, nogil=True)
def _kept(paths, on, place):  # type: ignore[no-untyped-def]
    """The steady paths; of those that start on the supervoxel, only the ones with half of their points on it."""
    good = np.ones(len(paths), np.bool_)
    if place != IN_ITS_MIDDLE:
        for k in range(len(paths)):
            stays = place == AROUND_IT or 2 * on[k] >= paths.shape[1]
            good[k] = stays and _is_steady(paths[k])
    return paths[good]


@njit(cache=True, nogil=True)
def _joined(parts):  # type: ignore[no-untyped-def]
    """Join groups of tracks, each with its points (n, 2), length and slot, to the fields of `TrackPoints`."""
    n_tracks = n_points = 0
    for points, length, _ in parts:
        n_points += len(points)
        n_tracks += len(points) // max(length, 1)
    all_points = np.empty((n_points, 2), np.float32)
    first = np.zeros(n_tracks + 1, np.int32)
    slots = np.empty(n_tracks, np.int32)
    track = point = 0
    for points, length, slot in parts:
        all_points[point : point + len(points)] = points
        point += len(points)
        for _ in range(len(points) // max(length, 1)):
            first[track + 1] = first[track] + length
            slots[track] = slot
            track += 1
    return all_points, first, slots


@njit(cache=True, nogil=True)
def _paths(ids, region, seeds, start, length, flows, reduce):  # type: ignore[no-untyped-def]
    """Paths of the seeds, (n, length, 2), kept inside the frame, and the number of their points on the region, (n,)."""
    _, height, width = ids.shape
    shape = (-(-height // reduce), -(-width // reduce), 2)
    paths = np.empty((len(seeds), length, 2), np.float32)
    on = np.zeros(len(seeds), np.int32)
    bottom, right = np.float32(height - 0.5), np.float32(width - 0.5)
    for k in range(len(seeds)):
        paths[k, 0, 0] = seeds[k, 0] + np.float32(0.5)
        paths[k, 0, 1] = seeds[k, 1] + np.float32(0.5)
    for j in range(length):
        for k in range(len(seeds)):
            y, x = paths[k, j]
            row, column = int(y), int(x)
            on[k] += ids[start + j, row, column] == region
            if j + 1 < length:
                flow = array_at(flows[j], shape)[row // reduce, column // reduce]
                paths[k, j + 1, 0] = min(max(y + flow[1], np.float32(0)), bottom)
                paths[k, j + 1, 1] = min(max(x + flow[0], np.float32(0)), right)
    return paths, on


@njit(cache=True, nogil=True)
def _is_steady(path):  # type: ignore[no-untyped-def]
    """Whether a path is neither scattered nor mostly one jump. A path without motion is steady: most scenes are."""
    if max(path[:, 0].std(), path[:, 1].std()) > ERRATIC:
        return False
    longest = way = 0.0
    for j in range(1, len(path)):
        step = np.hypot(path[j, 0] - path[j - 1, 0], path[j, 1] - path[j - 1, 1])
        way += step
        longest = max(longest, step)
    return longest <= JUMP or longest <= way * JUMP_SHARE
