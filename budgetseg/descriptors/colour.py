"""Colour: a joint CIE-Lab histogram of the supervoxel's pixels."""

from functools import cache
from typing import Any

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.types import Float32, Float64, Int64

__all__ = ["Colour"]

SIDE = 8  # bins along each of L, a and b
STRONG = 48.0  # |a| or |b| from which on colours share the outermost bin
ENOUGH = 1024  # pixels; of larger supervoxels, only some runs are counted, with about this many pixels
GOLDEN = 40503  # the golden section of 65536: its multiples, modulo 65536, are spread evenly
DROPPED = 3  # low bits of R, G and B that are ignored


class Colour(Descriptor):
    """Square roots of the shares of 8x8x8 bins of Lab; bins are finer near grey, where most colours are."""

    name = "colour"
    length = SIDE**3

    def work(self, scene: Scene, region: int) -> float:
        """Pixels that are counted, if all runs had one length; a frame adds 32, for being elsewhere in memory."""
        n_runs = int(scene.runs.first[region + 1] - scene.runs.first[region])
        size = int(scene.supervoxels.graph.sizes[region])
        n_counted = -(-n_runs // max(size // ENOUGH, 1))
        first, end = scene.lifetime(region)
        return size * n_counted / n_runs + 32 * min(end - first, n_counted)

    def works(self, scene: Scene) -> Float64:
        """The `work` of every supervoxel, (N,)."""
        graph = scene.supervoxels.graph
        n_runs = np.diff(scene.runs.first)
        n_counted = -(-n_runs // np.maximum(graph.sizes // ENOUGH, 1))
        lives = graph.boxes[:, 1] - graph.boxes[:, 0]
        works: Float64 = graph.sizes * n_counted / n_runs + 32 * np.minimum(lives, n_counted)
        return works

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        """The vector, (512,) float32, with L as the slowest and b as the fastest index; squares sum to one."""
        vector: Float32 = Colour.compute_all(self, scene, np.array([region]), [[]])[0]
        return vector

    def compute_all(self, scene: Scene, regions: Int64, inputs: list[list[Any]]) -> Float32:  # noqa: ARG002
        """The vectors of several supervoxels, (K, 512) float32."""
        runs = scene.runs
        sizes = scene.supervoxels.graph.sizes
        rows = scene.frames.reshape(-1, scene.frames.shape[2], 3)
        vectors = np.empty((len(regions), self.length), np.float32)
        _histograms(rows, runs.first, runs.rows, runs.spans, sizes, regions, _bin_of_rgb(), vectors)
        return vectors


@cache
def _bin_of_rgb() -> NDArray[np.uint16]:
    """Bin of every colour, by the upper 5 bits of R, G and B."""
    levels = (np.arange(256 >> DROPPED, dtype=np.float32) + 0.5) * (1 << DROPPED) / 255
    rgb = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(1, -1, 3)
    lightness, *chroma = cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)[0].T
    places = [lightness / 100, *((np.sign(c) * np.sqrt(np.abs(c) / STRONG) + 1) / 2 for c in chroma)]
    bins = [np.clip((place * SIDE).astype(int), 0, SIDE - 1) for place in places]
    return np.asarray((bins[0] * SIDE + bins[1]) * SIDE + bins[2], np.uint16)


@njit(cache=True, nogil=True)
def _histograms(pixel_rows, firsts, rows, spans, sizes, regions, bin_of_rgb, out):  # type: ignore[no-untyped-def]
    # Neighbours mostly fall into the same bin: adding to the same place twice in a row would wait for the memory.
    counts = np.empty((2, SIDE**3), np.int32)
    for row, region in enumerate(regions):
        counts[:] = 0
        n = 0
        first = firsts[region]
        end = firsts[region + 1]
        step = max(sizes[region] // ENOUGH, 1)
        for i, begin in enumerate(range(first, end, step)):
            # Not always the first run: for a shape that stays the same, only the same few rows would be counted.
            k = min(begin + ((i * GOLDEN & 0xFFFF) * step >> 16), end - 1)
            pixels = pixel_rows[rows[k]]
            for x in range(spans[k, 0], spans[k, 1]):
                red, green, blue = np.uint32(pixels[x, 0]), np.uint32(pixels[x, 1]), np.uint32(pixels[x, 2])
                rgb = (red >> DROPPED) << 10 | (green >> DROPPED) << 5 | blue >> DROPPED
                counts[x & 1, bin_of_rgb[rgb]] += 1
            n += spans[k, 1] - spans[k, 0]
        for k in range(SIDE**3):
            out[row, k] = np.sqrt((counts[0, k] + counts[1, k]) / n)
