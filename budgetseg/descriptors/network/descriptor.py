"""Class probabilities of a network, pooled over the supervoxel's pixels in its first, middle and last frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import njit

from budgetseg.descriptors.core import Descriptor, Key, Resource, Scene
from budgetseg.descriptors.network.run import OnnxNetwork
from budgetseg.descriptors.pointers import FrameArray, addresses, array_at
from budgetseg.errors import ModelError
from budgetseg.types import Float32

__all__ = ["NetworkDescriptor"]


class _Output(Resource):
    """What a network says about a frame, (h, w, L)."""

    def __init__(self, name: str, network: OnnxNetwork, instead: Mapping[int, OnnxNetwork]) -> None:
        self.kind = f"{name} output {network.digest}"  # its price is its own, not that of another file of that name
        self._network = network
        self._instead = instead

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        """The same for every frame, whatever its size."""
        return 1.0

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> FrameArray:  # noqa: ARG002
        """(h, w, L)."""
        return FrameArray(self._instead.get(index, self._network)(scene.frames[index]))


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
        return [(self._output.kind, t) for t in _key_frames(scene, region)]

    def work(self, scene: Scene, region: int) -> float:
        """Pixels in the key frames, if they were spread evenly over its life."""
        first, end = scene.lifetime(region)
        return float(scene.supervoxels.graph.sizes[region]) * min(end - first, 3) / (end - first)

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        """(L,), sums to one where the network's classes do."""
        runs, (_, height, width) = scene.runs, scene.supervoxels.ids.shape
        mine = slice(runs.first[region], runs.first[region + 1])
        frames = np.array(_key_frames(scene, region))
        outputs, shape = addresses(inputs), inputs[0].array.shape
        pooled: Float32 = _pool(runs.rows[mine], runs.spans[mine], (height, width), frames, outputs, shape)
        return pooled


def _key_frames(scene: Scene, region: int) -> list[int]:
    first, end = scene.lifetime(region)
    return sorted({first, (first + end - 1) // 2, end - 1})


@njit(cache=True, nogil=True)
def _pool(rows, spans, size, frames, outputs, shape):  # type: ignore[no-untyped-def]
    height, width = size
    total, n = np.zeros(shape[2], np.float64), 0
    for k in range(len(frames)):
        output = array_at(outputs[k], shape)
        low, high = np.searchsorted(rows, frames[k] * height), np.searchsorted(rows, (frames[k] + 1) * height)
        for run in range(low, high):
            line = output[(rows[run] - frames[k] * height) * shape[0] // height]
            for x in range(spans[run, 0], spans[run, 1]):
                here = line[x * shape[1] // width]
                for label in range(shape[2]):
                    total[label] += here[label]
            n += spans[run, 1] - spans[run, 0]
    return (total / n).astype(np.float32)
