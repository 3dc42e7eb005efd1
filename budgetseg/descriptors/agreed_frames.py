"""Descriptors of a supervoxel's pixels in three of its frames.

Which three frames are used hardly matters for accuracy, but it does for cost: what was computed of a frame is free for
the next supervoxel. So supervoxels agree on frames: multiples of a power of two, the largest that leaves three.
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

LEAST = 3  # frames; with two, networks were half a point worse on video of one frame a second


class AgreedFramesDescriptor(Descriptor):
    """A descriptor that pools arrays of whole frames over the supervoxel's pixels in its agreed frames.

    Attributes
    ----------
    source : makes a `FrameArray` of a frame, of the same shape for all frames
    """

    source: Resource

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """The array of each agreed frame."""
        return _keys(self.source.kind, *scene.lifetime(region))

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The `needs` of every supervoxel."""
        boxes = scene.supervoxels.graph.boxes
        frames = agreed_frames(boxes[:, 0], boxes[:, 1])
        new = np.ones(frames.shape, np.bool_)
        new[:, 1:] = frames[:, 1:] != frames[:, :-1]
        first = np.concatenate([[0], np.cumsum(new.sum(axis=1))])
        return Lists(first, numbering.starts[self.source.kind] + frames[new])

    def work(self, scene: Scene, region: int) -> float:
        """Pixels in the agreed frames, if the supervoxel had the same number in all frames."""
        first, end = scene.lifetime(region)
        return float(scene.supervoxels.graph.sizes[region]) * len(_agreed_frames(first, end)) / (end - first)

    def works(self, scene: Scene) -> Float64:
        """The `work` of every supervoxel, (N,)."""
        graph = scene.supervoxels.graph
        first, end = graph.boxes[:, 0], graph.boxes[:, 1]
        n_frames = 1 + (np.diff(agreed_frames(first, end), axis=1) > 0).sum(axis=1)
        works: Float64 = graph.sizes * n_frames / (end - first)
        return works

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """The vector, (length,) float32; `inputs` are the arrays of its agreed frames."""
        vector: Float32 = AgreedFramesDescriptor.compute_all(self, scene, np.array([region]), [inputs])[0]
        return vector

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:
        """The vectors of several supervoxels, (K, length) float32."""
        runs = scene.runs
        frames = [_agreed_frames(*scene.lifetime(region)) for region in regions.tolist()]
        first = np.cumsum([0, *map(len, frames)])
        made = addresses([array for region_inputs in inputs for array in region_inputs])
        if len(made) != first[-1]:  # compiled code would read beyond them
            raise ValueError(f"{self.name} must be given what was made of {first[-1]} frames. Got {len(made)}")
        places = runs.first, runs.rows, runs.spans, scene.frames.shape[1:3], np.concatenate(frames), first, made
        vectors = np.zeros((len(regions), self.length), np.float32)
        self.fill(AgreedPixels(regions, *places, inputs[0][0].array.shape), vectors)
        return vectors

    @abstractmethod
    def fill(self, pixels: "AgreedPixels", vectors: Float32) -> None:
        """Write the vectors to `vectors`, (K, length), which holds zeros."""


class AgreedPixels(NamedTuple):
    """The pixels of supervoxels in their agreed frames, and the arrays of these frames, in a form for compiled code.

    Attributes
    ----------
    regions : (K,), the supervoxels
    runs, rows, spans : of all supervoxels, as in `Runs`
    size : height and width of a frame
    frames, first : agreed frames; those of the k-th supervoxel are frames[first[k] : first[k + 1]]
    made : addresses of the arrays of these frames
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
def runs_in(pixels, i, k):  # type: ignore[no-untyped-def]
    """Half-open range of the runs of the i-th supervoxel that lie in the k-th frame, and that frame's top row."""
    region = pixels.regions[i]
    height = pixels.size[0]
    top, first, end = pixels.frames[k] * height, pixels.runs[region], pixels.runs[region + 1]
    low = first + np.searchsorted(pixels.rows[first:end], top)
    return low, low + np.searchsorted(pixels.rows[low:end], top + height), top


@lru_cache(maxsize=1 << 12)
def _keys(kind: str, first: int, end: int) -> tuple[Key, ...]:
    return tuple((kind, frame) for frame in _agreed_frames(first, end).tolist())


@lru_cache(maxsize=1 << 12)
def _agreed_frames(first: int, end: int) -> Int64:
    """The agreed frames of one supervoxel, each once. Every call needs them; `agreed_frames` takes longer for one."""
    step = 1
    while (end - 1) // (2 * step) - (first - 1) // (2 * step) >= LEAST and 2 * step <= end - first:
        step *= 2
    low, high = -(-first // step), (end - 1) // step
    return np.array(sorted({low * step, (low + high) // 2 * step, high * step}), np.int64)


def agreed_frames(first: Int32, end: Int32, least: int = LEAST) -> Int32:
    """Agreed frames of supervoxels that live from `first` to before `end`, (N, 3), rising; repeated if there are fewer.

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
