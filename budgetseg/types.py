"""The nouns that travel through budgetseg: frozen, with the shape of every array.

Letters in shapes: T frames, H rows, W columns, N supervoxels, E edges, L classes.
Colours are RGB, coordinates are (t, y, x), ranges are half-open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetseg.colours import palette

__all__ = [
    "IGNORE",
    "NOTHING",
    "Action",
    "Batch",
    "Bool",
    "Budget",
    "Classes",
    "Float32",
    "Float64",
    "Graph",
    "Int32",
    "Int64",
    "Labelling",
    "Supervoxels",
    "UInt8",
    "Video",
]

UInt8 = NDArray[np.uint8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]

IGNORE = 255
"""The label of a pixel that has no class: void, unlabelled, or ignored by the dataset."""


@dataclass(frozen=True, eq=False)
class Video:
    """Decoded frames of one video.

    Attributes
    ----------
    frames : (T, H, W, 3) uint8, RGB
    times_s : (T,) float64, presentation time of each frame
    name : a short name for tables and file names
    """

    frames: UInt8
    times_s: Float64
    name: str = "video"

    @property
    def shape(self) -> tuple[int, int, int]:
        """(T, H, W)."""
        t, h, w, _ = self.frames.shape
        return t, h, w


@dataclass(frozen=True, eq=False)
class Classes:
    """The semantic classes of a dataset: index 0..L-1, and `IGNORE` for everything else.

    Attributes
    ----------
    names : L names, in index order
    colours : (L, 3) uint8, RGB
    """

    names: tuple[str, ...]
    colours: UInt8

    @classmethod
    def of(cls, names: Sequence[str]) -> "Classes":
        """Classes of these names, with colours as of `budgetseg.colours`."""
        return cls(tuple(names), palette(names))

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Labelling:
    """A class for every pixel of a video.

    Attributes
    ----------
    labels : (T, H, W) uint8, class index or `IGNORE`
    classes : what the indices mean
    """

    labels: UInt8
    classes: Classes


@dataclass(frozen=True, eq=False)
class Graph:
    """Supervoxels as nodes, an edge where two of them touch in space or time.

    Attributes
    ----------
    edges : (E, 2) int32, first < second, in lexicographic order
    contact : (E,) int64, voxel faces shared by the two
    sizes : (N,) int64, voxels
    centroids : (N, 3) float64, mean (t, y, x)
    boxes : (N, 6) int32, tight cube as half-open t0, t1, y0, y1, x0, x1
    bins : (E, 2) uint8, φ3 bin of the second seen from the first, and of the first seen from the second
    """

    edges: Int32
    contact: Int64
    sizes: Int64
    centroids: Float64
    boxes: Int32
    bins: UInt8

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def key_frames(self) -> Int32:
        """First, middle and last frame of every supervoxel, (N, 3)."""
        first, last = self.boxes[:, 0], self.boxes[:, 1] - 1
        return np.stack([first, (first + last) // 2, last], axis=1)


@dataclass(frozen=True, eq=False)
class Supervoxels:
    """A partition of a video into connected space-time regions.

    Attributes
    ----------
    ids : (T, H, W) int32, 0..N-1, every one of them present
    graph : which of them touch, and where they lie
    """

    ids: Int32
    graph: Graph

    def __len__(self) -> int:
        return len(self.graph)


@dataclass(frozen=True, order=True)
class Budget:
    """How much may be spent.

    Attributes
    ----------
    amount : seconds, or a share of what everything would cost on this machine
    is_share : which of the two
    """

    amount: float
    is_share: bool = False

    def in_s(self, full_s: float) -> float:
        """In seconds, where everything would cost so many."""
        return self.amount * full_s if self.is_share else self.amount


class Action(NamedTuple):
    """One priced piece of work: ask a source about a place.

    Attributes
    ----------
    place : a frame, or a supervoxel
    source : number of the network, or of the descriptor
    """

    place: int
    source: int


class Batch(NamedTuple):
    """Actions that are done together, K of them, no two about one place.

    Attributes
    ----------
    places, sources : (K,) int64
    planned_s : (K,) float64, predicted seconds of each
    """

    places: Int64
    sources: Int64
    planned_s: Float64

    @classmethod
    def of(cls, actions: Sequence[Action], planned_s: Sequence[float]) -> "Batch":
        """These actions, in this order."""
        places = np.array([action.place for action in actions], np.int64)
        sources = np.array([action.source for action in actions], np.int64)
        return cls(places, sources, np.array(planned_s, np.float64))

    @property
    def n_actions(self) -> int:
        """K."""
        return len(self.places)

    @property
    def actions(self) -> list[Action]:
        """One by one."""
        return [Action(*pair) for pair in zip(self.places.tolist(), self.sources.tolist(), strict=True)]

    def take(self, which: Sequence[int] | slice) -> "Batch":
        """Some of them."""
        return Batch(self.places[which], self.sources[which], self.planned_s[which])


NOTHING = Batch(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
"""What a policy chooses at the end."""
