"""The contract that every descriptor fills: what it needs, how much work it is, and the vector itself.

A descriptor describes one supervoxel by a vector. What it can share with other supervoxels (the optical flow between
two frames, what a network says about a frame) is a resource: made once, kept, and free for whoever asks next. Both are
pure functions of the video, so the answer depends neither on the order of the questions nor on what is kept.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from budgetseg.supervoxels.runs import Runs, find_runs
from budgetseg.types import Float32, Supervoxels, UInt8

__all__ = ["Descriptor", "Key", "Resource", "Scene", "Value", "frame_keys"]

Key = tuple[str, int]
"""A resource: its kind, and which one of them (a frame or a supervoxel)."""


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
        first, end = self.supervoxels.graph.boxes[region, :2].tolist()
        return first, end


@lru_cache(maxsize=256)
def frame_keys(kind: str, n: int) -> list[Key]:
    """The keys 0 to n - 1 of a kind, to take slices of: making keys anew would cost more than looking them up."""
    return [(kind, index) for index in range(n)]


class Resource(ABC):
    """Work that supervoxels share.

    Attributes
    ----------
    kind : name, unique among the resources of all descriptors in use
    """

    kind: str

    def count(self, scene: Scene) -> int:
        """How many of this kind a scene has: one a frame, unless said otherwise."""
        return scene.n_frames

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:  # noqa: ARG002 - most need none
        """Other resources that `make` is given the values of."""
        return ()

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002 - the same for every frame
        """Amount of work, in units that time is linear in: the pixels of a frame, unless said otherwise."""
        return float(scene.n_pixels)

    @abstractmethod
    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Value:
        """The value, from the scene and the values of `needs`, in that order."""


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

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:  # noqa: ARG002 - most need none
        """Resources that `compute` is given the values of."""
        return ()

    @abstractmethod
    def work(self, scene: Scene, region: int) -> float:
        """Amount of private work, in units that time is linear in; cheap to tell, since every decision asks."""

    @abstractmethod
    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """The vector, (length,), finite, from the scene and the values of `needs`, in that order."""
