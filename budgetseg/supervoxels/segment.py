"""Segment a video into supervoxels: whole clips with their hierarchy, long videos window by window."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from budgetseg.errors import UsageError
from budgetseg.supervoxels.graph import GraphBuilder
from budgetseg.supervoxels.hierarchy import level_price
from budgetseg.supervoxels.tiers import tier_named
from budgetseg.supervoxels.window import Slab, Window, enlarge, segment_window
from budgetseg.types import Graph, Int32, Supervoxels, UInt8, Video

__all__ = ["Hierarchy", "Segmenter", "build_hierarchy", "density_for", "segment", "usual_density", "warm_up"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """All partitions of one clip, from the leaves to a single supervoxel.

    Attributes
    ----------
    window : leaves and merges
    size : height and width of the frames
    reduce : side of the blocks of pixels that the leaves are made of
    """

    window: Window
    size: tuple[int, int]
    reduce: int

    @property
    def n_leaves(self) -> int:
        """Number of supervoxels in the finest partition."""
        return self.window.tree.n_leaves

    def count(self, level: int) -> int:
        """Number of supervoxels at a level."""
        return self.window.tree.count_below(level_price(level, self.reduce))

    def cut(self, n: int) -> Supervoxels:
        """Exactly n supervoxels, or as many as there are leaves if these are fewer."""
        _check_positive("n", n)
        small = self.window.tree.cut(n)[self.window.leaf_ids]
        builder = GraphBuilder(self.size, self.reduce)
        builder.add(small)
        return Supervoxels(enlarge(small, self.reduce, self.size), builder.build())

    def level(self, level: int) -> Supervoxels:
        """The supervoxels at a level, 0 (fine) to 20 (coarse); 9 is the paper's."""
        return self.cut(self.count(level))


def build_hierarchy(frames: UInt8, tier: str = "quality", threads: int = 1) -> Hierarchy:
    """The hierarchy of all partitions of frames (T, H, W, 3), 8-bit RGB.

    Examples
    --------
    >>> frames = np.zeros((5, 24, 32, 3), np.uint8)
    >>> frames[:, :, 16:] = 255
    >>> hierarchy = build_hierarchy(frames)
    >>> np.unique(hierarchy.cut(2).ids[:, :, :16]), np.unique(hierarchy.cut(2).ids[:, :, 16:])
    (array([0], dtype=int32), array([1], dtype=int32))
    """
    _check_frames(frames)
    _check_positive("threads", threads)
    height, width = frames.shape[1:3]
    reduce = tier_named(tier).reduce(height * width)
    return Hierarchy(segment_window(frames, reduce, threads=threads), (height, width), reduce)


def segment(frames: UInt8, n: int = 1000, tier: str = "quality", threads: int = 1) -> Supervoxels:
    """N supervoxels of frames (T, H, W, 3), 8-bit RGB, with their graph."""
    _check_positive("n", n)
    return build_hierarchy(frames, tier, threads).cut(n)


class Segmenter:
    """Supervoxels of a long video, window by window, in memory that does not grow with its length.

    A window includes the last frames of the one before, whose leaves already belong to supervoxels (Xu, Xiong and
    Corso, Streaming hierarchical video segmentation, ECCV 2012). New leaves may join them and so continue their ids.
    Leaves of two supervoxels never merge, so that ids that were returned before stay valid.

    Parameters
    ----------
    size : height and width of the frames
    tier : quality or fast

    Attributes
    ----------
    n : number of supervoxels so far
    """

    def __init__(self, size: tuple[int, int], tier: str = "quality", threads: int = 1) -> None:
        _check_positive("threads", threads)
        self.n = 0
        self._size = size
        self._reduce = tier_named(tier).reduce(size[0] * size[1])
        self._threads = threads
        self._before: Slab | None = None
        self._graph = GraphBuilder(size, self._reduce)

    def push(
        self,
        frames: UInt8,
        *,
        n_new: int = 0,
        level: int | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> Int32:
        """Segment the next frames. Returns their ids, (T, H, W) int32.

        Parameters
        ----------
        frames : (T, H, W, 3) uint8
        n_new : number of new supervoxels
        level : of the hierarchy, which decides the number of new ones instead
        advance : called with the number of frames done, every few frames
        """
        _check_frames(frames)
        if frames.shape[1:3] != self._size:
            raise UsageError(f"frames must be of the size announced, {self._size}. Got {frames.shape[1:3]}")
        window = segment_window(frames, self._reduce, self._before, self._threads, advance)
        if level is not None:
            n_new = window.tree.count_below(level_price(level, self._reduce))
        names = self._name(window.regions.groups, window.tree.cut(n_new))
        self._before = replace(
            window.last, regions=replace(window.last.regions, groups=names[-len(window.last.regions) :])
        )
        ids = names[window.leaf_ids]
        self._graph.add(ids)
        return enlarge(ids, self._reduce, self._size)

    def graph(self) -> Graph:
        """The neighbourhood graph of all frames so far."""
        return self._graph.build()

    def _name(self, groups: Int32, regions: Int32) -> Int32:
        """Supervoxel of every leaf: a region with a group keeps its id, the others get the next free ones."""
        names = np.full(int(regions.max()) + 1, -1, np.int32)
        known = groups >= 0
        names[regions[known]] = groups[known]
        fresh = np.flatnonzero(names < 0)
        names[fresh] = np.arange(self.n, self.n + len(fresh), dtype=np.int32)
        self.n += len(fresh)
        return names[regions]


def usual_density(video: Video) -> int:
    """Supervoxels per frame that suit a video: 25, or 35 for large frames; 200 if the frame gap is half a second.

    Frames with a large gap have little in common, so that supervoxels are short and many.
    """
    t, h, w = video.shape
    return density_for(h * w, float(np.median(np.diff(video.times_s))) if t > 1 else 0.0)


def density_for(n_pixels: int, gap_s: float) -> int:
    """Supervoxels per frame that suit frames of n_pixels pixels with a gap of gap_s seconds; see `usual_density`."""
    if gap_s >= 0.5:
        return 200
    return 35 if n_pixels >= 100_000 else 25


def _check_frames(frames: UInt8) -> None:
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or frames.size == 0:
        raise UsageError(f"frames must be (T, H, W, 3) uint8, none of them 0. Got {frames.shape} {frames.dtype}")


def _check_positive(name: str, value: int) -> None:
    if value < 1:
        raise UsageError(f"{name} must be 1 or more. Got {value}")


def warm_up() -> None:
    """Compile all code that segmentation runs, or load it from the cache, before a clock starts."""
    frames = np.zeros((2, 100, 200, 3), np.uint8)  # large enough for the fast tier to reduce them
    segmenter = Segmenter((100, 200), "fast")
    for _ in range(2):
        segmenter.push(frames, n_new=1)
    segmenter.graph()
