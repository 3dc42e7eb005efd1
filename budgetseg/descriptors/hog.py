"""HOG: orientation histograms of gradients around points of a grid on the supervoxel, in its agreed frames.

The look of a surface changes little over time, so neither motion nor tracks are needed.
"""

from typing import Any

import cv2
import numpy as np
from numba import njit

from budgetseg.descriptors.agreed_frames import AgreedFramesDescriptor, AgreedPixels, runs_in
from budgetseg.descriptors.cells import AROUND, N_BINS, Cells, add_cells, add_patches, gradient_blocks, length_of
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.grid import grid_points, middle_pixel
from budgetseg.descriptors.pointers import array_at
from budgetseg.types import Float32

__all__ = ["Hog"]


class _HogCells(Cells):
    kind = "hog cells"

    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return gradient_blocks(cv2.cvtColor(scene.frames[index], cv2.COLOR_RGB2GRAY))


class Hog(AgreedFramesDescriptor):
    """Histograms of oriented gradients: the texture of a surface."""

    name = "hog"
    length = length_of(N_BINS)
    source = _HogCells()
    resources = (source,)

    def fill(self, pixels: AgreedPixels, vectors: Float32) -> None:
        """Means over the points, (K, 64): small patches, then large ones, of rows, columns and bins."""
        _describe(pixels, vectors.reshape(len(vectors), 2, 2, 2, -1))


@njit(cache=True, nogil=True, fastmath=True)
def _describe(pixels, means):  # type: ignore[no-untyped-def]
    cells = np.empty((AROUND, AROUND, pixels.shape[2]), np.float32)
    for i in range(len(pixels.regions)):
        n = 0
        for k in range(pixels.first[i], pixels.first[i + 1]):
            sums = array_at(pixels.made[k], pixels.shape)
            low, high, top = runs_in(pixels, i, k)
            rows = pixels.rows[low:high] - top
            runs = pixels.spans[low:high]
            points = grid_points(rows, runs)
            if len(points) == 0:
                points = middle_pixel(rows, runs)
            for j in range(len(points)):
                cells[:] = 0
                add_cells(sums, points[j, 0], points[j, 1], cells)
                add_patches(cells, means[i])
            n += len(points)
        means[i] /= np.float32(n)
