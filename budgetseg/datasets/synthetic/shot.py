"""A shot paints one frame: a camera, a canvas, and the haze and light between them."""

from dataclasses import dataclass

import numpy as np

from budgetseg.datasets.synthetic.camera import NEAR_M, Camera
from budgetseg.datasets.synthetic.canvas import Canvas, Paint, Texture
from budgetseg.datasets.synthetic.materials import Materials
from budgetseg.types import Bool, Float64

__all__ = ["Shot"]

_HAZE = 196.0, 208.0, 220.0
_HAZE_M = 90.0
"""The colour of infinitely far things, and the distance, in metres, at which haze has two thirds of its effect."""


@dataclass(frozen=True, eq=False)
class Shot:
    """Paints polygons, strokes and textures of the world.

    Attributes
    ----------
    camera, canvas : that the world is seen by, and painted on
    sun : (3,) unit vector towards the sun
    materials : what the street is made of
    """

    camera: Camera
    canvas: Canvas
    sun: Float64
    materials: Materials

    def depth(self, point: Float64) -> float:
        """Distance of a world point (3,) along the viewing direction, metres."""
        return float((point - self.camera.position) @ self.camera.axes[2])

    def sees(self, points: Float64, radius_m: float) -> Bool:
        """Whether each of K world points (K, 3) is in sight, if things there have a radius, (K,) bool."""
        right, _, depth = self.camera.view(points).T
        widest = self.canvas.pixels.shape[1] / 2 / self.camera.focal
        return np.asarray((depth > -radius_m) & (np.abs(right) < np.maximum(depth, 0) * widest + radius_m))

    def paints(self, rgb: Float64, label: int, depth: float) -> list[Paint]:
        """Colours (K, 3) seen through the haze, with their class."""
        mixed = rgb + _haze_share(depth) * (np.array(_HAZE) - rgb)
        return [(r, g, b, label) for r, g, b in np.minimum(mixed, 255).tolist()]

    def polygons(self, polygons: list[Float64], rgb: Float64, label: int, depth: float) -> None:
        """Fill polygons of world points, (K, 3) each, with their colours, one row each."""
        for outline, paint in zip(self.camera.outlines(polygons), self.paints(rgb, label, depth), strict=True):
            self.canvas.polygon(outline, paint)

    def strokes(self, ends: Float64, widths_m: Float64, rgb: Float64, label: int) -> None:
        """K rounded lines between world points (K, 2, 3), of widths (K,) and colours (K, 3); none too close."""
        viewed = self.camera.view(ends)
        depth = float(viewed[..., 2].min())
        if depth < NEAR_M:
            return
        pixels = self.camera.pixels(viewed.reshape(-1, 3)).reshape(-1, 2, 2)
        widths = widths_m * self.camera.focal / viewed[..., 2].mean(axis=1)
        self.canvas.strokes(pixels, widths, self.paints(rgb, label, depth))

    def rectangle(self, texture: Texture, origin: Float64, edges: Float64) -> None:
        """Lay a texture on a rectangle: corner (3,), edges along its columns and its rows (2, 3)."""
        corners = np.array([origin, origin + edges[0], origin + edges[0] + edges[1], origin + edges[1]])
        outline = self.camera.outline(corners)
        # Haze has coarse steps, below the noise, so that textures with haze can be reused.
        share = round(50 * _haze_share(self.depth((corners[0] + corners[2]) / 2))) / 50
        self.canvas.picture(texture, outline, self.camera.homography(origin, edges), (*_HAZE, share))

    def upright(self, texture: Texture, foot: Float64, width_m: float, height_m: float) -> None:
        """Stand a texture on a point (3,), turned towards the camera."""
        right = self.camera.axes[0] * width_m
        down = np.array([0.0, -height_m, 0.0])
        self.rectangle(texture, foot - down - right / 2, np.stack([right, down]))


def _haze_share(depth: float) -> float:
    return 0.75 * (1 - float(np.exp(-max(depth, 0.0) / _HAZE_M)))
