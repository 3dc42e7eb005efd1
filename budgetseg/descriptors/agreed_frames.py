"""Descriptors of a supervoxel's pixels in three of its frames.

Which three hardly matters for what they say, but for what they cost: what was made of a frame is free for whoever asks
next. So supervoxels agree on frames: those that a power of two divides, the largest that leaves three.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from budgetseg.descriptors.core import Descriptor, Key, Lists, Numbering, Resource, Scene
from budgetseg.descriptors.pointers import addresses
from budgetseg.types import Float32, Float64, Int32, Int64

__all__ = ["AgreedFramesDescriptor", "AgreedPixels", "agreed_frames", "runs_in"]

LEAST = 3  # with two, networks were half a point worse at one frame a second


class AgreedFramesDescriptor(Descriptor):
    """What is made of whole frames, brought together over the supervoxel's pixels in its agreed frames.

    Attributes
    ----------
    source : makes a `FrameArray` of a frame, of one shape for all
    """

    source: Resource

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """What is made of each agreed frame."""
        return _keys(self.source.kind, *scene.lifetime(region))

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The same of every supervoxel."""
        boxes = scene.supervoxels.graph.boxes
        frames = agreed_frames(boxes[:, 0], boxes[:, 1])
        new = np.ones(frames.shape, np.bool_)
        new[:, 1:] = frames[:, 1:] != frames[:, :-1]
        first = np.concatenate([[0], np.cumsum(new.sum(axis=1))])
        return Lists(first, numbering.starts[self.source.kind] + frames[new])

    def work(self, scene: Scene, region: int) -> float:
        """Pixels in the agreed frames, if they were spread evenly over its life."""
        first, end = scene.lifetime(region)
        return float(scene.supervoxels.graph.sizes[region]) * len(_agreed_frames(first, end)) / (end - first)

    def works(self, scene: Scene) -> Float64:
        """The same of every supervoxel, (N,)."""
        graph = scene.supervoxels.graph
        first, end = graph.boxes[:, 0], graph.boxes[:, 1]
        n_frames = 1 + (np.diff(agreed_frames(first, end), axis=1) > 0).sum(axis=1)
        works: Float64 = graph.sizes * n_frames / (end - first)
        return works

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """(length,)."""
        vector: Float32 = AgreedFramesDescriptor.compute_all(self, scene, np.array([region]), [inputs])[0]
        return vector

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:
        """The same of several, (K, length)."""
        runs, frames = scene.runs, [_agreed_frames(*scene.lifetime(region)) for region in regions.tolist()]
        first, made = np.cumsum([0, *map(len, frames)]), addresses([one for own in inputs for one in own])
        if len(made) != first[-1]:  # compiled code would read beyond them
            raise ValueError(f"{self.name} must be given what was made of {first[-1]} frames. Got {len(made)}")
        places = runs.first, runs.rows, runs.spans, scene.frames.shape[1:3], np.concatenate(frames), first, made
        vectors = np.zeros((len(regions), self.length), np.float32)
        self.fill(AgreedPixels(regions, *places, inputs[0][0].array.shape), vectors)
        return vectors

    @abstractmethod
    def fill(self, pixels: "AgreedPixels", vectors: Float32) -> None:
        """Put the vectors where there are zeros, (K, length)."""


class AgreedPixels(NamedTuple):
    """Where supervoxels lie in their agreed frames, and what was made of these frames; as compiled code takes it.

    Attributes
    ----------
    regions : (K,), the supervoxels
    runs, rows, spans : of all supervoxels, as in `Runs`
    size : height and width of a frame
    frames, first : agreed frames; those of the k-th supervoxel are frames[first[k] : first[k + 1]]
    made : addresses of what was made of each of the frames
    shape : of each of these arrays
    """

    regions: Int64
    runs: Int64
    rows: Int32
    spans: Int32
    size: tuple[int, int]
    frames: Int64
    first: Int64
    made: Int64
    shape: tuple[int, int, int]


@njit(cache=True, nogil=True)
def runs_in(pixels, own, k):  # type: ignore[no-untyped-def]
    """Half-open range of the runs of the own-th supervoxel that lie in the k-th frame, and that frame's top row."""
    region, height = pixels.regions[own], pixels.size[0]
    top, first, end = pixels.frames[k] * height, pixels.runs[region], pixels.runs[region + 1]
    low = first + np.searchsorted(pixels.rows[first:end], top)
    return low, low + np.searchsorted(pixels.rows[low:end], top + height), top


@lru_cache(maxsize=1 << 12)
def _keys(kind: str, first: int, end: int) -> tuple[Key, ...]:
    return tuple((kind, frame) for frame in _agreed_frames(first, end).tolist())


@lru_cache(maxsize=1 << 12)
def _agreed_frames(first: int, end: int) -> Int64:
    """The agreed frames of one supervoxel, each once: every call asks, and arrays of one take longer."""
    step = 1
    while (end - 1) // (2 * step) - (first - 1) // (2 * step) >= LEAST and 2 * step <= end - first:
        step *= 2
    low, high = -(-first // step), (end - 1) // step
    return np.array(sorted({low * step, (low + high) // 2 * step, high * step}), np.int64)


def agreed_frames(first: Int32, end: Int32, least: int = LEAST) -> Int32:
    """Frames to look at of supervoxels that live from `first` to before `end`, (N, 3), rising; repeated where fewer.

    >>> agreed_frames(np.array([3, 6, 6]), np.array([60, 15, 8]))
    array([[16, 32, 48],
           [ 6, 10, 14],
           [ 6,  6,  7]])
    """
    lives = end - first
    step = np.ones_like(first)
    for power in 2 ** np.arange(1, int(lives.max(initial=1)).bit_length()):
        enough = (end - 1) // power - (first - 1) // power >= least
        step[enough & (power <= lives)] = power
    low, high = -(-first // step), (end - 1) // step
    return np.stack([low * step, (low + high) // 2 * step, high * step], axis=1)
