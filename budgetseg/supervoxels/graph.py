"""The neighbourhood graph of supervoxels: which ones touch, where they lie, and how large they are."""

import numpy as np
from numba import njit

from budgetseg.supervoxels.regions import faces, faces_between
from budgetseg.types import Float64, Graph, Int32, Int64, UInt8

__all__ = ["BINS", "GraphBuilder", "direction_bins", "neighbourhood_graph"]

BINS = (
    "up before",
    "up after",
    "down before",
    "down after",
    "left before",
    "left after",
    "right before",
    "right after",
)
"""The eight φ3 bins, in index order."""

_SUMS = 4  # t, y, x and the size


class GraphBuilder:
    """Collects the graph of a video from consecutive windows of ids.

    Parameters
    ----------
    size : height and width of the frames
    reduce : side of the blocks of pixels that one id in `add` stands for
    """

    def __init__(self, size: tuple[int, int], reduce: int = 1) -> None:
        self.heights = _cell_sides(size[0], reduce)
        self.widths = _cell_sides(size[1], reduce)
        self._n_frames = 0
        self._last: Int32 | None = None
        self._sums = np.zeros((0, _SUMS))
        self._boxes = np.zeros((0, 6), np.int32)
        self._keys: Int64 = np.zeros(0, np.int64)
        self._contact: Int64 = np.zeros(0, np.int64)
        self._waiting: list[tuple[Int64, Int64]] = []

    @classmethod
    def of_cells(cls, heights: Int64, widths: Int64) -> "GraphBuilder":
        """A builder for ids of cells whose rows have these heights, and columns these widths, in pixels."""
        builder = cls((len(heights), len(widths)))
        builder.heights = heights
        builder.widths = widths
        return builder

    def add(self, ids: Int32) -> None:
        """Add the next frames, (T, h, w), with ids that continue those of the frames before."""
        self._make_room(int(ids.max()) + 1)
        _measure(ids, self._n_frames, self.heights, self.widths, self._sums, self._boxes)
        self._add_faces(*faces(ids, self.heights, self.widths))
        if self._last is not None:
            self._add_faces(*faces_between(self._last, ids[0], self.heights, self.widths))
        self._last = ids[-1].copy()
        self._n_frames += len(ids)

    def build(self) -> Graph:
        """The graph of all frames so far."""
        self._take_in()
        edges = np.stack([self._keys >> 32, self._keys & 0xFFFFFFFF], axis=1).astype(np.int32)
        sizes = self._sums[:, 3].astype(np.int64)
        centroids = self._sums[:, :3] / self._sums[:, 3:]
        return Graph(edges, self._contact, sizes, centroids, self._boxes.copy(), direction_bins(centroids, edges))

    def _make_room(self, n: int) -> None:
        extra = n - len(self._sums)
        if extra > 0:
            self._sums = np.concatenate([self._sums, np.zeros((extra, _SUMS))])
            empty = np.array([1, 0, 1, 0, 1, 0], np.int32) * np.iinfo(np.int32).max
            self._boxes = np.concatenate([self._boxes, np.tile(empty, (extra, 1))])

    def _add_faces(self, pairs: Int32, areas: Int64) -> None:
        self._waiting.append((pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1], areas))
        # Only when as many are waiting as were added up: the total work then grows no faster than the number of edges.
        if sum(len(keys) for keys, _ in self._waiting) > len(self._keys):
            self._take_in()

    def _take_in(self) -> None:
        """Add up the faces of pairs that were seen more than once."""
        keys = np.concatenate([self._keys, *(keys for keys, _ in self._waiting)])
        areas = np.concatenate([self._contact, *(areas for _, areas in self._waiting)])
        self._keys, which = np.unique(keys, return_inverse=True)
        self._contact = np.bincount(which, areas, len(self._keys)).astype(np.int64)
        self._waiting = []


def neighbourhood_graph(ids: Int32) -> Graph:
    """The graph of a whole video's ids, (T, H, W), 0..N-1."""
    builder = GraphBuilder((ids.shape[1], ids.shape[2]))
    builder.add(ids)
    return builder.build()


def direction_bins(centroids: Float64, edges: Int32) -> UInt8:
    """φ3 bin of each end of each edge as seen from the other, (E, 2): first column where the second lies.

    The dominant image axis of the difference of the centroids gives up, down, left or right (vertical where they are
    equal), the time of the centroids before or after (after where they are equal).
    """
    step = centroids[edges[:, 1]] - centroids[edges[:, 0]]
    return np.stack([_bins(step), _bins(-step)], axis=1)


def _bins(step: Float64) -> UInt8:
    t, y, x = step.T
    vertical = np.abs(y) >= np.abs(x)
    direction = np.where(vertical, (y >= 0).astype(int), 2 + (x >= 0))
    return np.asarray(2 * direction + (t >= 0), np.uint8)


def _cell_sides(length: int, reduce: int) -> Int64:
    """Pixels in each block along one side; the last block may be cut."""
    sides = np.full(-(-length // reduce), reduce, np.int64)
    sides[-1] = length - reduce * (len(sides) - 1)
    return sides


@njit(cache=True, nogil=True)
def _measure(ids, first_frame, heights, widths, sums, boxes):  # type: ignore[no-untyped-def]
    """Add voxels to the sums of coordinates and sizes (N, 4), and enlarge the boxes (N, 6) to hold them."""
    top = np.cumsum(heights) - heights
    left = np.cumsum(widths) - widths
    for t in range(ids.shape[0]):
        for y in range(ids.shape[1]):
            middle_y = top[y] + (heights[y] - 1) / 2
            for x in range(ids.shape[2]):
                region = ids[t, y, x]
                volume = heights[y] * widths[x]
                total = sums[region]
                box = boxes[region]
                total[0] += volume * (first_frame + t)
                total[1] += volume * middle_y
                total[2] += volume * (left[x] + (widths[x] - 1) / 2)
                total[3] += volume
                box[0] = min(box[0], first_frame + t)
                box[1] = max(box[1], first_frame + t + 1)
                box[2] = min(box[2], top[y])
                box[3] = max(box[3], top[y] + heights[y])
                box[4] = min(box[4], left[x])
                box[5] = max(box[5], left[x] + widths[x])
