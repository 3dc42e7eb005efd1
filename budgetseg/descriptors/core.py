"""The contract that every descriptor fills: what it needs, how much work it is, and the vector itself.

A descriptor describes one supervoxel by a vector. What it can share with other supervoxels (the optical flow between
two frames, what a network says about a frame) is a resource: made once, kept, and free for whoever asks next. Both are
pure functions of the video, so the answer depends neither on the order of the questions nor on what is kept.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from budgetseg.supervoxels.runs import Runs, find_runs
from budgetseg.types import Float32, Float64, Int32, Int64, Supervoxels, UInt8

__all__ = ["NOWHERE", "Descriptor", "Key", "Lists", "Numbering", "Resource", "Scene", "Value"]

Key = tuple[str, int]
"""A resource: its kind, and which one of them (a frame or a supervoxel)."""

NOWHERE = -1
"""Number of a resource that a scene does not have."""


class Value(Protocol):
    """What a resource is worth keeping as: anything that knows its size."""

    @property
    def nbytes(self) -> int:
        """Bytes it takes."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A video and its supervoxels: all that descriptors are computed from.

    Attributes
    ----------
    frames : (T, H, W, 3) uint8, RGB
    supervoxels : ids and graph
    runs : where the pixels of each supervoxel lie
    """

    frames: UInt8
    supervoxels: Supervoxels
    runs: Runs

    @classmethod
    def of(cls, frames: UInt8, supervoxels: Supervoxels) -> "Scene":
        """Scene with the runs found."""
        # Copy of a view: descriptors take the frames in another shape, which would copy the view with every call.
        return cls(np.ascontiguousarray(frames), supervoxels, find_runs(supervoxels.ids))

    @property
    def n_frames(self) -> int:
        """T."""
        return len(self.frames)

    @property
    def n_pixels(self) -> int:
        """Pixels of a frame, H * W."""
        return int(self.frames.shape[1] * self.frames.shape[2])

    def lifetime(self, region: int) -> tuple[int, int]:
        """Half-open range of the frames in which a supervoxel lives."""
        first, end = self._lifetimes[region]
        return first, end

    @cached_property
    def _lifetimes(self) -> list[list[int]]:
        """As lists: every call asks, and numbers of an array take longer to read."""
        lifetimes: list[list[int]] = self.supervoxels.graph.boxes[:, :2].tolist()
        return lifetimes


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of whole numbers, one after another.

    Attributes
    ----------
    first : (K + 1,) int64; list k is items[first[k] : first[k + 1]]
    items : (M,) int32
    """

    first: Int64
    items: Int32

    @classmethod
    def of(cls, lists: Iterable[Sequence[int]]) -> "Lists":
        """The same lists."""
        lists = list(lists)
        items = np.array([item for own in lists for item in own], np.int32)
        return cls(np.cumsum([0, *map(len, lists)], dtype=np.int64), items)

    @classmethod
    def empty(cls, n: int) -> "Lists":
        """Lists with nothing in them, n of them."""
        return cls(np.zeros(n + 1, np.int64), np.empty(0, np.int32))


@dataclass(frozen=True, eq=False)
class Numbering:
    """The resources of a scene as whole numbers, 0..R-1, kind after kind.

    Attributes
    ----------
    counts : how many there are of each kind
    """

    counts: Mapping[str, int]

    def __len__(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def starts(self) -> dict[str, int]:
        """Number of the first one of each kind."""
        return dict(zip(self.counts, np.cumsum([0, *self.counts.values()])[:-1].tolist(), strict=True))

    def number(self, key: Key) -> int:
        """Number of a resource, or `NOWHERE`."""
        kind, index = key
        return self.starts[kind] + index if 0 <= index < self.counts[kind] else NOWHERE


def _match_forms(cls: type, contract: type) -> None:
    """Where a class replaces what is told one by one, what it inherits to tell all at once would say something else."""
    for one, every in (("work", "works"), ("needs", "all_needs"), ("compute", "compute_all")):
        if one in vars(cls) and every not in vars(cls) and every in vars(contract):
            setattr(cls, every, vars(contract)[every])


class Resource(ABC):
    """Work that supervoxels share.

    Attributes
    ----------
    kind : name, unique among the resources of all descriptors in use
    """

    kind: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _match_forms(cls, Resource)

    def count(self, scene: Scene) -> int:
        """How many of this kind a scene has: one a frame, unless said otherwise."""
        return scene.n_frames

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:  # noqa: ARG002 - most need none
        """Other resources that `make` is given the values of."""
        return ()

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """Numbers of the `needs` of every one of this kind, in that order; replace it where there is a faster way."""
        if type(self).needs is Resource.needs:
            return Lists.empty(self.count(scene))
        each = (self.needs(scene, index) for index in range(self.count(scene)))
        return Lists.of([numbering.number(key) for key in keys] for keys in each)

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002 - the same for every frame
        """Amount of work, in units that time is linear in: the pixels of a frame, unless said otherwise."""
        return float(scene.n_pixels)

    def works(self, scene: Scene) -> Float64:
        """The `work` of every one of this kind, (count,); replace it where there is a faster way."""
        return np.array([self.work(scene, index) for index in range(self.count(scene))], np.float64)

    @abstractmethod
    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Value:
        """The value, from the scene and the values of `needs`, in that order."""

    def cut_off(self) -> None:  # noqa: B027 - most are soon done
        """Time is up: end what is being made, in other threads, with LateError; replace it where that takes long."""


class Descriptor(ABC):
    """A vector for a supervoxel.

    Attributes
    ----------
    name : as on the command line and in files
    length : of the vector
    resources : every resource that `needs` may name, directly or through another resource
    """

    name: str
    length: int
    resources: tuple[Resource, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _match_forms(cls, Descriptor)

    @property
    def can_be_cut_off(self) -> bool:
        """Whether all that it shares with others ends soon when time is up."""
        return bool(self.resources) and all(type(one).cut_off is not Resource.cut_off for one in self.resources)

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:  # noqa: ARG002 - most need none
        """Resources that `compute` is given the values of."""
        return ()

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """Numbers of the `needs` of every supervoxel, in that order; replace it where there is a faster way."""
        if type(self).needs is Descriptor.needs:
            return Lists.empty(len(scene.supervoxels))
        each = (self.needs(scene, region) for region in range(len(scene.supervoxels)))
        return Lists.of([numbering.number(key) for key in keys] for keys in each)

    @abstractmethod
    def work(self, scene: Scene, region: int) -> float:
        """Amount of private work, in units that time is linear in; cheap to tell, since it is told of every one."""

    def works(self, scene: Scene) -> Float64:
        """The `work` of every supervoxel, (N,); replace it where there is a faster way."""
        return np.array([self.work(scene, region) for region in range(len(scene.supervoxels))], np.float64)

    @abstractmethod
    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """The vector, (length,), finite, from the scene and the values of `needs`, in that order."""

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:
        """The vectors of several supervoxels, (K, length); replace it where there is a faster way."""
        each = zip(regions.tolist(), inputs, strict=True)
        return np.stack([self.compute(scene, region, own) for region, own in each])
