"""Procedural textures of the street.

Two pairs differ only in the direction of their structure: a fence is a facade lying on its side, a hedge is the crown
of a tree lying on its side. So their colours are the same, pixel by pixel. Road and sidewalk are one grain in two hues
of the same lightness.
"""

from dataclasses import dataclass

import numpy as np

from budgetseg.datasets.synthetic.canvas import Texture
from budgetseg.datasets.synthetic.classes import BUILDING, FENCE, HEDGE, ROAD, SIDEWALK, SKY, TREE
from budgetseg.types import Float64, UInt8

__all__ = ["Wall", "crown", "facade", "fence", "hedge", "noise", "road", "sidewalk", "sky"]

PIXELS_PER_M = 32
FLOOR_M = 2.8
BAY_M = 2.6
"""Every floor of every bay has one window, so all walls have the same share of glass."""

_ROAD = np.array([104.0, 109, 119])
_SIDEWALK = np.array([138.0, 102, 82])
_PAINT = 205.0


@dataclass(frozen=True, eq=False)
class Wall:
    """The colours of a wall: two tones of one colour, (2, 3), and a shade of glass, (3,)."""

    tones: Float64
    glass: Float64


def noise(rng: np.random.Generator, shape: tuple[int, int], blur: tuple[float, float]) -> Float64:
    """Smooth periodic noise (h, w), mean 0 and deviation 1; `blur` is the size of its grains along y and x, pixels."""
    spectrum = np.fft.rfft2(rng.standard_normal(shape))
    fy = np.fft.fftfreq(shape[0])[:, None] * blur[0]
    fx = np.fft.rfftfreq(shape[1])[None] * blur[1]
    field = np.fft.irfft2(spectrum * np.exp(-2 * np.pi**2 * (fy**2 + fx**2)), shape)
    return np.asarray((field - field.mean()) / field.std())


def facade(rng: np.random.Generator, n_floors: int, n_bays: int, wall: Wall) -> Texture:
    """Front of a house: horizontal boards in two tones, with windows."""
    return _texture(_boards(rng, n_floors, n_bays, wall), BUILDING)


def fence(rng: np.random.Generator, n_panels: int, wall: Wall) -> Texture:
    """Hoarding of vertical boards with posters: a narrow facade lying on its side."""
    return _texture(_boards(rng, n_panels, 1, wall).swapaxes(0, 1), FENCE)


def crown(rng: np.random.Generator, height_m: float, width_m: float, light: Float64) -> Texture:
    """Crown of a tree: hanging twigs, ragged outline. `light` (3,) is its lightest green."""
    leaves, cover = _foliage(rng, height_m, width_m, light)
    return _texture(leaves, TREE, cover)


def hedge(rng: np.random.Generator, height_m: float, width_m: float, light: Float64) -> Texture:
    """Hedge: twigs that grow sideways; a crown lying on its side."""
    leaves, cover = _foliage(rng, width_m, height_m, light)
    return _texture(leaves.swapaxes(0, 1), HEDGE, cover.T)


def road(rng: np.random.Generator, length_m: float, width_m: float, parking: int) -> Texture:
    """Asphalt; a dashed line between the lanes, an unbroken one along the `parking` strip (side -1 or +1)."""
    surface = _grain(rng, length_m, width_m, _ROAD)
    h, w, _ = surface.shape
    dashes, strip = (w // 2 + round(parking * x * PIXELS_PER_M) for x in (-1.0, 1.45))
    for start in (0, h // 2):
        _paint(surface, slice(start, start + h // 4), slice(dashes - 2, dashes + 2))
    _paint(surface, slice(None), slice(strip - 2, strip + 2))
    return _texture(surface, ROAD)


def sidewalk(rng: np.random.Generator, length_m: float, width_m: float) -> Texture:
    """Grain of the road in another hue, with a pale kerb along its first and last column."""
    surface = _grain(rng, length_m, width_m, _SIDEWALK)
    for columns in (slice(0, 4), slice(-4, None)):
        _paint(surface, slice(None), columns)
    return _texture(surface, SIDEWALK)


def sky(rng: np.random.Generator, shape: tuple[int, int]) -> Texture:
    """Clouds on a blue that pales towards the horizon; the columns join end to end."""
    field = sum((noise(rng, shape, (4.0 * 2**k, 10.0 * 2**k)) * 1.7**k for k in range(4)), np.zeros(shape))
    cloud = np.clip(0.55 * field / field.std() + rng.uniform(-0.2, 0.3), 0, 1)[..., None]
    fall = np.linspace(0, 1, shape[0])[:, None, None]
    blue = np.array([88.0, 140, 208]) * (1 - fall) + np.array([178.0, 204, 228]) * fall
    return _texture(blue * (1 - 0.8 * cloud) + 0.8 * cloud * np.array([240.0, 240, 242]), SKY)


def _boards(rng: np.random.Generator, n_floors: int, n_bays: int, wall: Wall) -> Float64:
    """Boards along x in two tones, one window to each floor and bay, (h, w, 3)."""
    h, w = round(n_floors * FLOOR_M * PIXELS_PER_M), round(n_bays * BAY_M * PIXELS_PER_M)
    tone = (np.arange(h) * 20 // (7 * PIXELS_PER_M)) % 2
    surface = np.repeat(wall.tones[tone][:, None], w, axis=1) + 3 * noise(rng, (h, w), (1, 6))[..., None]
    for floor in range(n_floors):
        for bay in range(n_bays):
            _window(rng, surface, (floor * h // n_floors, bay * w // n_bays), wall)
    surface[: PIXELS_PER_M // 5] = wall.tones[0] * 1.1
    return surface


def _window(rng: np.random.Generator, surface: Float64, corner: tuple[int, int], wall: Wall) -> None:
    """Put a framed window in the middle of a floor and bay."""
    p = PIXELS_PER_M
    y, x = corner[0] + round(0.55 * p), corner[1] + round(0.75 * p)
    h, w = round(1.5 * p), round(1.1 * p)
    surface[y - 2 : y + h + 2, x - 2 : x + w + 2] = wall.tones[0] * 1.1
    surface[y : y + h, x : x + w] = wall.glass * rng.uniform(0.8, 1.4) + 14 * noise(rng, (h, w), (12, 12))[..., None]


def _foliage(rng: np.random.Generator, height_m: float, width_m: float, light: Float64) -> tuple[Float64, Float64]:
    """Leaves with twigs along y (h, w, 3), and their cover (h, w), above one half in a ragged ellipse."""
    shape = round(height_m * PIXELS_PER_M), round(width_m * PIXELS_PER_M)
    twigs = noise(rng, shape, (9.0, 1.8))
    y, x = np.linspace(-1, 1, shape[0])[:, None], np.linspace(-1, 1, shape[1])[None]
    lit = 0.72 + 0.2 * np.tanh(1.2 * twigs) - 0.1 * (x + y)
    inside = 0.75 - np.abs(x) ** 2.5 - np.abs(y) ** 2.5 - 0.16 * noise(rng, shape, (7, 7))
    # A soft edge, so that the outline stays smooth from close by.
    return lit[..., None] * light, np.clip(0.5 + 4 * inside, 0, 1)


def _grain(rng: np.random.Generator, length_m: float, width_m: float, tint: Float64) -> Float64:
    """Coarse and fine grains in one hue, (h, w, 3)."""
    shape = round(length_m * PIXELS_PER_M), round(width_m * PIXELS_PER_M)
    grains = 7 * noise(rng, shape, (2, 2)) + 5 * noise(rng, shape, (14, 10))
    return tint + grains[..., None]


def _paint(surface: Float64, rows: slice, columns: slice) -> None:
    surface[rows, columns] = 0.3 * surface[rows, columns] + 0.7 * _PAINT


def _texture(colours: Float64, label: int, cover: Float64 | None = None) -> Texture:
    h, w, _ = colours.shape
    pixels: UInt8 = np.full((h, w, 4), label, np.uint8)
    pixels[..., :3] = np.clip(colours, 0, 255)
    return Texture(pixels, None if cover is None else np.rint(255 * cover).astype(np.uint8))
