"""Class probabilities of a network, pooled over the supervoxel's pixels in three of its frames.

Which three hardly matters for what it says, but for what it costs: a frame that the network has seen is free for
whoever asks next. So supervoxels agree on frames: those that a power of two divides, the largest that leaves three.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit

from budgetseg.descriptors.core import Descriptor, Key, Lists, Numbering, Resource, Scene
from budgetseg.descriptors.network.run import OnnxNetwork
from budgetseg.descriptors.pointers import FrameArray, addresses, array_at
from budgetseg.errors import ModelError
from budgetseg.types import Float32, Float64, Int32, Int64

__all__ = ["NetworkDescriptor", "key_frames"]

LEAST = 3  # frames of whoever lives so long; with two, networks were half a point worse at one frame a second


class _Output(Resource):
    """What a network says about a frame, (h, w, L)."""

    def __init__(self, name: str, network: OnnxNetwork, instead: Mapping[int, OnnxNetwork]) -> None:
        self.kind = f"{name} output {network.digest}"  # its price is its own, not that of another file of that name
        self._network = network
        self._instead = instead

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        """The same for every frame, whatever its size."""
        return 1.0

    def works(self, scene: Scene) -> Float64:
        """Ones, (T,)."""
        return np.ones(scene.n_frames)

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> FrameArray:  # noqa: ARG002
        """(h, w, L)."""
        return FrameArray(self._instead.get(index, self._network)(scene.frames[index]))

    def cut_off(self) -> None:
        """Whatever frame a network is looking at."""
        for network in (self._network, *self._instead.values()):
            network.cut_off()


class NetworkDescriptor(Descriptor):
    """Mean class probabilities.

    Parameters
    ----------
    name : of the descriptor
    network : asked about every frame
    instead : other networks, asked about certain frames; of the same classes
    """

    def __init__(self, name: str, network: OnnxNetwork, instead: Mapping[int, OnnxNetwork] | None = None) -> None:
        for other in (instead or {}).values():
            if other.shape != network.shape:
                raise ModelError(f"{name}: answers {network.shape}, but a stand-in {other.shape}; train them alike")
        self.name = name
        self.length = len(network.names)
        self._output = _Output(name, network, instead or {})
        self.resources = (self._output,)

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """The network's output on each key frame."""
        return _keys(self._output.kind, *scene.lifetime(region))

    def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
        """The same of every supervoxel."""
        boxes = scene.supervoxels.graph.boxes
        frames = key_frames(boxes[:, 0], boxes[:, 1])
        new = np.ones(frames.shape, np.bool_)
        new[:, 1:] = frames[:, 1:] != frames[:, :-1]
        first = np.concatenate([[0], np.cumsum(new.sum(axis=1))])
        return Lists(first, numbering.starts[self._output.kind] + frames[new])

    def work(self, scene: Scene, region: int) -> float:
        """Pixels in the key frames, if they were spread evenly over its life."""
        first, end = scene.lifetime(region)
        return float(scene.supervoxels.graph.sizes[region]) * len(_key_frames(first, end)) / (end - first)

    def works(self, scene: Scene) -> Float64:
        """The same of every supervoxel, (N,)."""
        graph = scene.supervoxels.graph
        first, end = graph.boxes[:, 0], graph.boxes[:, 1]
        n_keys = 1 + (np.diff(key_frames(first, end), axis=1) > 0).sum(axis=1)
        works: Float64 = graph.sizes * n_keys / (end - first)
        return works

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """(L,), sums to one where the network's classes do."""
        vector: Float32 = NetworkDescriptor.compute_all(self, scene, np.array([region]), [inputs])[0]
        return vector

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:
        """The same of several, (K, L)."""
        runs, size = scene.runs, scene.supervoxels.ids.shape[1:]
        frames = [_key_frames(*scene.lifetime(region)) for region in regions.tolist()]
        first = np.cumsum([0, *map(len, frames)])
        outputs, shape = addresses([one for own in inputs for one in own]), inputs[0][0].array.shape
        pooled = np.empty((len(regions), shape[2]), np.float32)
        places = np.concatenate(frames), first, outputs
        _pool(runs.first, runs.rows, runs.spans, regions, size, *places, shape, pooled)
        return pooled


@lru_cache(maxsize=1 << 12)
def _keys(kind: str, first: int, end: int) -> tuple[Key, ...]:
    return tuple((kind, frame) for frame in _key_frames(first, end).tolist())


@lru_cache(maxsize=1 << 12)
def _key_frames(first: int, end: int) -> Int64:
    """The key frames of one supervoxel, each once: every call asks, and arrays of one take longer."""
    step = 1
    while (end - 1) // (2 * step) - (first - 1) // (2 * step) >= LEAST and 2 * step <= end - first:
        step *= 2
    low, high = -(-first // step), (end - 1) // step
    return np.array(sorted({low * step, (low + high) // 2 * step, high * step}), np.int64)


def key_frames(first: Int32, end: Int32) -> Int32:
    """Frames to look at of supervoxels that live from `first` to before `end`, (N, 3), rising; repeated where fewer.

    >>> key_frames(np.array([3, 6, 6]), np.array([60, 15, 8]))
    array([[16, 32, 48],
           [ 6, 10, 14],
           [ 6,  6,  7]])
    """
    lives = end - first
    step = np.ones_like(first)
    for power in 2 ** np.arange(1, int(lives.max(initial=1)).bit_length()):
        enough = (end - 1) // power - (first - 1) // power >= LEAST
        step[enough & (power <= lives)] = power
    low, high = -(-first // step), (end - 1) // step
    return np.stack([low * step, (low + high) // 2 * step, high * step], axis=1)


@njit(cache=True, nogil=True)
def _pool(firsts, rows, spans, regions, size, frames, frames_first, outputs, shape, out):  # type: ignore[no-untyped-def]
    height, width = size
    total = np.empty(shape[2], np.float64)
    for own, region in enumerate(regions):
        total[:], n = 0, 0
        first, end = firsts[region], firsts[region + 1]
        for k in range(frames_first[own], frames_first[own + 1]):
            output, top = array_at(outputs[k], shape), frames[k] * height
            low = first + np.searchsorted(rows[first:end], top)
            high = low + np.searchsorted(rows[low:end], top + height)
            for run in range(low, high):
                line = output[(rows[run] - top) * shape[0] // height]
                for x in range(spans[run, 0], spans[run, 1]):
                    here = line[x * shape[1] // width]
                    for label in range(shape[2]):
                        total[label] += here[label]
                n += spans[run, 1] - spans[run, 0]
        out[own] = total / n
