"""The scenery behind the things on the street: sky, ground, and the walls on both sides."""

import numpy as np

from budgetseg.datasets.synthetic.canvas import Texture
from budgetseg.datasets.synthetic.materials import BLOCK_M, N_BAYS, N_FAR_BLOCKS, Materials
from budgetseg.datasets.synthetic.shot import Shot
from budgetseg.datasets.synthetic.street import FAR_WALL_M, NEAR_WALL_M, Street, traits
from budgetseg.datasets.synthetic.textures import BAY_M, PIXELS_PER_M
from budgetseg.types import Float64

__all__ = ["draw_ground", "draw_sky", "draw_walls"]

_PLOT_M = N_BAYS * BAY_M
_DEEP_M = 7.0  # depth of a house
_N_PLOTS = 11  # plots in sight on each side
_N_NEAR_BLOCKS = 3  # blocks of ground that are drawn one by one; farther ones are drawn together


def draw_sky(shot: Shot, drift: float) -> None:
    """Fill the canvas with clouds that have drifted by a share of the panorama."""
    w = shot.canvas.pixels.shape[1]
    yaw = np.arctan2(shot.camera.axes[2, 0], shot.camera.axes[2, 2])
    around = shot.materials.sky.shape[1] - w
    start = round(shot.camera.focal * float(yaw) + drift * around) % around
    shot.canvas.pixels[:] = shot.materials.sky[:, start : start + w]


def draw_ground(shot: Shot) -> None:
    """Draw road and sidewalks; beyond the nearest blocks of ground, in long pieces."""
    first = int(shot.camera.position[2] // BLOCK_M)
    near = [(k, 1) for k in range(first, first + _N_NEAR_BLOCKS)]
    far = [(first + _N_NEAR_BLOCKS + n * N_FAR_BLOCKS, N_FAR_BLOCKS) for n in range(2)]
    for k, n_blocks in near + far:
        for strip in shot.materials.ground:
            edges = np.array([[strip.right - strip.left, 0, 0], [0, 0, n_blocks * BLOCK_M]])
            shot.rectangle(strip.textures[n_blocks], np.array([strip.left, 0, k * BLOCK_M]), edges)


def draw_walls(shot: Shot, street: Street) -> None:
    """Draw houses across the far end of the street, then houses and fences on both sides, far ones first."""
    first = int(shot.camera.position[2] // _PLOT_M)
    _draw_end(shot, float(shot.camera.position[2]) + _N_PLOTS * _PLOT_M)
    for side, x in enumerate((NEAR_WALL_M, FAR_WALL_M)):
        plots = [_plot(shot.materials, street, side, k) for k in range(first - 1, first + _N_PLOTS)]
        for n in range(_N_PLOTS, 0, -1):
            foot = np.array([x, 0, (first - 1 + n) * _PLOT_M])
            if _height_m(plots[n]) > _height_m(plots[n - 1]):
                _stand(shot, plots[n], foot, np.array([np.sign(x) * _DEEP_M, 0, 0]))
            _stand(shot, plots[n], foot, np.array([0, 0, _PLOT_M]))


def _plot(materials: Materials, street: Street, side: int, k: int) -> Texture:
    """The texture of the wall of the k-th plot on a side; two in five plots have a fence."""
    is_fence = (2 * k + 3 * side + street.seed) % 5 < 2
    bank = (materials.fences if is_fence else materials.facades)[side]
    return bank[int(traits(street.seed, 100 + side, k)[0] * len(bank))]


def _draw_end(shot: Shot, z: float) -> None:
    for n, texture in enumerate(shot.materials.facades[0]):
        _stand(shot, texture, np.array([(n - 2) * _PLOT_M, 0, z]), np.array([_PLOT_M, 0, 0]))


def _stand(shot: Shot, texture: Texture, foot: Float64, along: Float64) -> None:
    """Put up a wall from `foot` (3,) `along` an edge (3,)."""
    up = np.array([0, _height_m(texture), 0])
    shot.rectangle(texture, foot + up, np.stack([along, -up]))


def _height_m(wall: Texture) -> float:
    return float(wall.pixels.shape[0] / PIXELS_PER_M)
