"""A pinhole camera in a world of metres: x to the right across the street, y up, z along the street."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from budgetseg.types import Float64

__all__ = ["NEAR_M", "Camera", "look"]

NEAR_M = 0.5
"""Depth, in metres; parts of polygons that are closer to the camera are cut off."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A pose and a lens.

    Attributes
    ----------
    position : (3,) metres
    axes : (3, 3) rows are the image's right, its down, and the viewing direction, in the world
    focal : pixels
    centre : (2,) principal point (x, y), pixels
    """

    position: Float64
    axes: Float64
    focal: float
    centre: Float64

    def view(self, points: Float64) -> Float64:
        """World points (..., 3) in camera coordinates: right, down, depth."""
        return (points - self.position) @ self.axes.T

    def pixels(self, viewed: Float64) -> Float64:
        """Camera coordinates (K, 3) in front of the camera to pixels (K, 2), x then y."""
        return self.focal * viewed[:, :2] / viewed[:, 2:] + self.centre

    def outline(self, points: Float64) -> Float64:
        """Pixels (M, 2) of a polygon of K world points, without its part behind the camera (M may be 0)."""
        return self.pixels(_in_front(self.view(points)))

    def outlines(self, polygons: Sequence[Float64]) -> list[Float64]:
        """Outlines of many polygons at once."""
        viewed = self.view(np.concatenate(polygons))
        if viewed[:, 2].min() < NEAR_M:
            return [self.outline(points) for points in polygons]
        pixels = self.pixels(viewed)
        ends = list(accumulate(len(points) for points in polygons))
        return [pixels[start:end] for start, end in pairwise([0, *ends])]

    def homography(self, origin: Float64, edges: Float64) -> Float64:
        """The matrix (3, 3) that maps (a, b, 1) on the plane origin + a edges[0] + b edges[1] to homogeneous pixels."""
        return np.asarray(self._projection @ np.array([*edges, origin - self.position]).T)

    @cached_property
    def _projection(self) -> Float64:
        """The matrix (3, 3) that maps world directions to homogeneous pixels."""
        lens = np.array([[self.focal, 0, self.centre[0]], [0, self.focal, self.centre[1]], [0, 0, 1]])
        return np.asarray(lens @ self.axes)


def look(position: Float64, yaw: float, pitch: float, size: tuple[int, int]) -> Camera:
    """A camera turned `yaw` radians to the right of the street's axis and `pitch` down, with images (width, height)."""
    (sin_y, cos_y), (sin_p, cos_p) = (np.sin(yaw), np.cos(yaw)), (np.sin(pitch), np.cos(pitch))
    right = [cos_y, 0, -sin_y]
    down = [-sin_y * sin_p, -cos_p, -cos_y * sin_p]
    ahead = [sin_y * cos_p, -sin_p, cos_y * cos_p]
    return Camera(position, np.array([right, down, ahead]), 0.74 * size[0], np.array(size) / 2)


def _in_front(viewed: Float64) -> Float64:
    """Cut off the part of a polygon (K, 3) that is closer than `NEAR_M`, (M, 3)."""
    inside = viewed[:, 2] >= NEAR_M
    if inside.all():
        return viewed
    kept = []
    for a, b, a_in, b_in in zip(viewed, np.roll(viewed, -1, axis=0), inside, np.roll(inside, -1), strict=True):
        if a_in:
            kept.append(a)
        if a_in != b_in:
            kept.append(a + (b - a) * (NEAR_M - a[2]) / (b[2] - a[2]))
    return np.array(kept).reshape(-1, 3)
