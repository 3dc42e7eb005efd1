"""The contract of a descriptor: what it needs, how much work it is, and the vector itself.

A descriptor describes a supervoxel by a vector. What several supervoxels can share (the optical flow between two
frames, a network's output for a frame) is a resource: it is made once, kept, and free for the next supervoxel. Both are
pure functions of the video, so that results depend neither on the order of calls nor on what is kept.
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
"""Identifies a resource: its kind, and the number of the frame or supervoxel that it belongs to."""

NOWHERE = -1
"""Number of a resource that a scene does not have."""


class Value(Protocol):
    """The value of a resource: anything that knows its size."""

    @property
    def nbytes(self) -> int:
        """Size in bytes."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A video and its supervoxels: all that descriptors are computed from.

    Attributes
    ----------
    frames : (T, H, W, 3) uint8, RGB
    supervoxels : ids and graph
    runs : the pixels of each supervoxel
    """

    frames: UInt8
    supervoxels: Supervoxels
    runs: Runs

    @classmethod
    def of(cls, frames: UInt8, supervoxels: Supervoxels) -> "Scene":
        """The scene of frames (T, H, W, 3) and their supervoxels."""
        # A view is copied once: descriptors reshape the frames, which would copy a view at every call.
        return cls(np.ascontiguousarray(frames), supervoxels, find_runs(supervoxels.ids))

    @property
    def n_frames(self) -> int:
        """Number of frames, T."""
        return len(self.frames)

    @property
    def n_pixels(self) -> int:
        """Number of pixels of a frame, H * W."""
        return int(self.frames.shape[1] * self.frames.shape[2])

    def lifetime(self, region: int) -> tuple[int, int]:
        """Half-open range of the frames in which a supervoxel lives."""
        first, end = self._lifetimes[region]
        return first, end

    @cached_property
    def _lifetimes(self) -> list[list[int]]:
        """Lifetimes as lists: every call reads one, and reading from an array takes longer."""
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
        """The lists of an iterable of sequences."""
        lists = list(lists)
        items = np.array([item for numbers in lists for item in numbers], np.int32)
        return cls(np.cumsum([0, *map(len, lists)], dtype=np.int64), items)

    @classmethod
    def empty(cls, n: int) -> "Lists":
        """N empty lists."""
        return cls(np.zeros(n + 1, np.int64), np.empty(0, np.int32))


@dataclass(frozen=True, eq=False)
class Numbering:
    """The resources of a scene as whole numbers, 0..R-1, kind after kind.

    Attributes
    ----------
    counts : number of resources of each kind
    """

    counts: Mapping[str, int]

    def __len__(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def starts(self) -> dict[str, int]:
        """The number of the first resource of each kind."""
        return dict(zip(self.counts, np.cumsum([0, *self.counts.values()])[:-1].tolist(), strict=True))

    def number(self, key: Key) -> int:
        """The number of a resource; `NOWHERE` if the scene does not have it."""
        kind, index = key
        return self.starts[kind] + index if 0 <= index < self.counts[kind] else NOWHERE


def _match_forms(cls: type, contract: type) -> None:
    """Reset inherited methods for many items if a class overrides only the method for one: they would contradict it."""
    for single, plural in (("work", "works"), ("needs", "all_needs"), ("compute", "compute_all")):
        if single in vars(cls) and plural not in vars(cls) and plural in vars(contract):
            setattr(cls, plural, vars(contract)[plural])


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
        """Number of resources of this kind in a scene; by default one for each frame."""
        return scene.n_frames

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:  # noqa: ARG002 - most need none
        """Other resources whose values `make` receives."""
        return ()

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """Numbers of the `needs` of all resources of this kind, in order; override it if there is a faster way."""
        if type(self).needs is Resource.needs:
            return Lists.empty(self.count(scene))
        needs = (self.needs(scene, index) for index in range(self.count(scene)))
        return Lists.of([numbering.number(key) for key in keys] for keys in needs)

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002 - the same for every frame
        """Amount of work, in a unit that time is linear in; by default the pixels of a frame."""
        return float(scene.n_pixels)

    def works(self, scene: Scene) -> Float64:
        """The `work` of all resources of this kind, (count,); override it if there is a faster way."""
        return np.array([self.work(scene, index) for index in range(self.count(scene))], np.float64)

    @abstractmethod
    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Value:
        """The value, from the scene and the values of `needs`, in that order."""

    def cut_off(self) -> None:  # noqa: B027 - most take little time
        """Make every `make` under way, in any thread, end with LateError; override it if `make` takes long."""


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
        """Whether there are resources, and all of them can be cut off."""
        kinds = self.resources
        return bool(kinds) and all(type(resource).cut_off is not Resource.cut_off for resource in kinds)

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:  # noqa: ARG002 - most need none
        """Resources whose values `compute` receives."""
        return ()

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """Numbers of the `needs` of all supervoxels, in order; override it if there is a faster way."""
        if type(self).needs is Descriptor.needs:
            return Lists.empty(len(scene.supervoxels))
        needs = (self.needs(scene, region) for region in range(len(scene.supervoxels)))
        return Lists.of([numbering.number(key) for key in keys] for keys in needs)

    @abstractmethod
    def work(self, scene: Scene, region: int) -> float:
        """Amount of private work, in a unit that time is linear in; cheap, since it is called for all supervoxels."""

    def works(self, scene: Scene) -> Float64:
        """The `work` of all supervoxels, (N,); override it if there is a faster way."""
        return np.array([self.work(scene, region) for region in range(len(scene.supervoxels))], np.float64)

    @abstractmethod
    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """The vector, (length,), finite, from the scene and the values of `needs`, in that order."""

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:
        """The vectors of several supervoxels, (K, length); override it if there is a faster way."""
        pairs = zip(regions.tolist(), inputs, strict=True)
        return np.stack([self.compute(scene, region, region_inputs) for region, region_inputs in pairs])
