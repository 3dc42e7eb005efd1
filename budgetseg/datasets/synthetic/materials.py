"""The textures of one street: few, shared by many houses, fences and trees."""

from dataclasses import dataclass

import cv2
import numpy as np

from budgetseg.datasets.synthetic import textures
from budgetseg.datasets.synthetic.canvas import Texture
from budgetseg.datasets.synthetic.street import FAR_WALL_M, NEAR_WALL_M, ROAD_M, Street
from budgetseg.types import Float64, UInt8

__all__ = ["BLOCK_M", "N_BAYS", "N_FAR_BLOCKS", "Materials", "Strip", "gather"]

BLOCK_M = 12.0
"""Length of a piece of ground; its texture repeats."""

N_FAR_BLOCKS = 4
N_BAYS = N_PANELS = 3
"""Windows of a house side by side; boards of a fence, which is as long."""

_WALLS = np.array(
    [
        [[176, 98, 80], [122, 60, 50]],
        [[212, 178, 122], [154, 122, 76]],
        [[164, 178, 192], [110, 122, 138]],
        [[226, 208, 184], [162, 144, 122]],
        [[178, 150, 168], [122, 96, 114]],
    ],
    float,
)
_GLASS = np.array([58.0, 74, 92])
_GREENS = np.array([[96, 134, 52], [82, 124, 62], [116, 136, 46]], float)


@dataclass(frozen=True, eq=False)
class Strip:
    """A strip of ground between two edges across the street; its textures by the number of blocks they cover."""

    left: float
    right: float
    textures: dict[int, Texture]


@dataclass(frozen=True, eq=False)
class Materials:
    """Textures by use.

    Attributes
    ----------
    facades, fences : of the near side, then of the far side
    crowns, hedges : of trees, and whole
    ground : from left to right
    sky : (H, 4 W, 4) uint8 panorama for a canvas of (H, W); the last W columns repeat the first
    """

    facades: tuple[list[Texture], list[Texture]]
    fences: tuple[list[Texture], list[Texture]]
    crowns: list[Texture]
    hedges: list[Texture]
    ground: list[Strip]
    sky: UInt8


def gather(street: Street, size: tuple[int, int]) -> Materials:
    """Materials of a street, for a canvas of (width, height)."""
    rng = np.random.default_rng([street.seed, 0, 1])
    near, far = (_walls(rng, light) for light in _light(street.sun))
    greens = [_GREENS[rng.integers(len(_GREENS))] * rng.uniform(0.9, 1.1) for _ in range(3)]
    return Materials(
        facades=(_facades(rng, near), _facades(rng, far)),
        fences=(_fences(rng, near), _fences(rng, far)),
        crowns=[textures.crown(rng, 3.4, 2.8, green) for green in greens],
        hedges=[textures.hedge(rng, 1.5, 2.2, green) for green in greens],
        ground=_ground(rng, street.parking),
        sky=_panorama(textures.sky(rng, (192, 768)), size),
    )


def _light(sun: Float64) -> tuple[float, float]:
    """How bright the near and the far walls are; the near ones face +x."""
    return 0.86 + 0.22 * sun[0], 0.86 - 0.22 * sun[0]


def _walls(rng: np.random.Generator, light: float) -> list[textures.Wall]:
    chosen = rng.permutation(len(_WALLS))[:4]
    return [textures.Wall(_WALLS[k] * light * rng.uniform(0.94, 1.06), _GLASS) for k in chosen]


def _facades(rng: np.random.Generator, walls: list[textures.Wall]) -> list[Texture]:
    return [textures.facade(rng, int(rng.integers(2, 5)), N_BAYS, wall) for wall in walls]


def _fences(rng: np.random.Generator, walls: list[textures.Wall]) -> list[Texture]:
    return [textures.fence(rng, N_PANELS, wall) for wall in walls]


def _ground(rng: np.random.Generator, parking: int) -> list[Strip]:
    left, right = ROAD_M
    return [
        _strip(NEAR_WALL_M, left, textures.sidewalk(rng, BLOCK_M, left - NEAR_WALL_M)),
        _strip(left, right, textures.road(rng, BLOCK_M, right - left, parking)),
        _strip(right, FAR_WALL_M, textures.sidewalk(rng, BLOCK_M, FAR_WALL_M - right)),
    ]


def _strip(left: float, right: float, block: Texture) -> Strip:
    far = Texture(np.tile(block.pixels, (N_FAR_BLOCKS, 1, 1)))
    return Strip(left, right, {1: block, N_FAR_BLOCKS: far})


def _panorama(sky: Texture, size: tuple[int, int]) -> UInt8:
    w, h = size
    around = cv2.resize(sky.pixels, (3 * w, h), interpolation=cv2.INTER_LINEAR)
    return np.concatenate([around, around[:, :w]], axis=1).astype(np.uint8)
