"""Class probabilities of a network, averaged over the supervoxel's pixels in its agreed frames."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from budgetseg.descriptors.agreed_frames import AgreedFramesDescriptor, AgreedPixels, runs_in
from budgetseg.descriptors.core import Resource, Scene
from budgetseg.descriptors.pointers import FrameArray, array_at
from budgetseg.errors import ModelError
from budgetseg.networks.run import OnnxNetwork
from budgetseg.types import Float32, Float64

__all__ = ["NetworkDescriptor"]


class _Output(Resource):
    """The output of a network for a frame, (h, w, L)."""

    def __init__(self, name: str, network: OnnxNetwork, instead: Mapping[int, OnnxNetwork]) -> None:
        self.kind = (
            f"{name} output {network.digest}{network.runner}"  # networks of one name in other files have other prices
        )
        self._network = network
        self._instead = instead

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        """One for every frame, whatever its size; its pixels as the network takes them, where it takes any number."""
        if self._network.size is not None:
            return 1.0
        height, width = scene.frames.shape[1:3]
        return float(math.prod(self._network.size_for((width, height))))

    def works(self, scene: Scene) -> Float64:
        """The same for each frame, (T,)."""
        return np.full(scene.n_frames, self.work(scene, 0))

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> FrameArray:  # noqa: ARG002
        """Class probabilities of a frame, (h, w, L) float32."""
        return FrameArray(self._instead.get(index, self._network)(scene.frames[index]))

    def cut_off(self) -> None:
        """Cut off all runs of its networks."""
        for network in (self._network, *self._instead.values()):
            network.cut_off()


class NetworkDescriptor(AgreedFramesDescriptor):
    """Mean class probabilities.

    Parameters
    ----------
    name : of the descriptor
    network : runs on every frame
    instead : for certain frames, by number, another network that runs instead; with the same classes

    Attributes
    ----------
    network : as given
    """

    def __init__(self, name: str, network: OnnxNetwork, instead: Mapping[int, OnnxNetwork] | None = None) -> None:
        for other in (instead or {}).values():
            if other.shape != network.shape:
                raise ModelError(
                    f"{name}: has output {network.shape}, but a fold network {other.shape}; train both alike"
                )
        self.name = name
        self.network = network
        self.length = len(network.names)
        self.source = _Output(name, network, instead or {})
        self.resources = (self.source,)

    def fill(self, pixels: AgreedPixels, vectors: Float32) -> None:
        """Write mean probabilities, (K, L), which sum to one if those of the network do."""
        _pool(pixels, vectors)


@njit(cache=True, nogil=True)
def _pool(pixels, out):  # type: ignore[no-untyped-def]
    height, width = pixels.size
    shape = pixels.shape
    total = np.empty(shape[2], np.float64)
    for i in range(len(pixels.regions)):
        total[:] = 0
        n = 0
        for k in range(pixels.first[i], pixels.first[i + 1]):
            output = array_at(pixels.made[k], shape)
            low, high, top = runs_in(pixels, i, k)
            for run in range(low, high):
                left, right = pixels.spans[run]
                line = output[(pixels.rows[run] - top) * shape[0] // height]
                for x in range(left, right):
                    here = line[x * shape[1] // width]
                    for label in range(shape[2]):
                        total[label] += here[label]
                n += right - left
        out[i] = total / n
