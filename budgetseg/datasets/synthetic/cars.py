"""Cars: a hull and a cabin of flat faces, in a few body shapes, the same for moving and parked cars."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from budgetseg.datasets.synthetic.shot import Shot
from budgetseg.datasets.synthetic.street import Thing
from budgetseg.types import Float64

__all__ = ["draw_car"]

_COLOURS = np.array(
    [[178, 38, 40], [44, 74, 146], [206, 206, 204], [46, 48, 54], [150, 154, 160], [214, 168, 44], [58, 104, 88]], float
)
_GLASS = np.array([52.0, 62, 74])
_TYRE = np.array([30.0, 30, 32])
_HUB = np.array([150.0, 150, 154])
_HEADLAMP = np.array([236.0, 232, 210])
_TAILLAMP = np.array([196.0, 24, 24])
_HALF_WIDTH_M = 0.86

# (z, y) along the side, from the tail over the top to the nose.
_HULL = [(-2.1, 0.32), (-2.12, 0.72), (-2.0, 0.92), (0.95, 0.96), (1.95, 0.8), (2.1, 0.62), (2.1, 0.3)]
# Tail, both ends of the roof, cowl. A cabin leans in towards its roof.
_CABINS = (
    [(-1.65, 0.92), (-1.05, 1.43), (0.1, 1.43), (1.0, 0.94)],
    [(-2.0, 0.9), (-1.6, 1.46), (0.1, 1.48), (1.05, 0.94)],
    [(-2.05, 0.9), (-1.95, 1.85), (0.75, 1.85), (1.45, 0.86)],
)


@dataclass(frozen=True, eq=False)
class Face:
    """A flat face of a car.

    Attributes
    ----------
    points : (K, 3) x, y, z from the car's middle on the ground, nose towards +z
    normal : (3,) outwards
    rgb : (3,), NaN for the colour of the car
    """

    points: Float64
    normal: Float64
    rgb: Float64


@dataclass(frozen=True, eq=False)
class Mould:
    """A body shape: its faces in painting order, with their first points, normals and colours, (F, 3) each."""

    faces: list[Face]
    corners: Float64
    normals: Float64
    rgb: Float64


def draw_car(shot: Shot, thing: Thing) -> None:
    """Paint the faces of a car that are turned towards the camera."""
    mould = _mould(int(thing.traits[0] * len(_CABINS)))
    turn = np.array([thing.heading, 1.0, thing.heading])
    normals = mould.normals * turn
    seen = np.flatnonzero(np.sum(normals * (shot.camera.position - mould.corners * turn - thing.place), axis=1) > 0)
    light = 0.68 + 0.4 * np.clip(normals[seen] @ shot.sun, 0, 1)
    rgb = np.where(np.isnan(mould.rgb[seen]), _colour(thing.traits), mould.rgb[seen]) * light[:, None]
    polygons = [mould.faces[k].points * turn + thing.place for k in seen]
    shot.polygons(polygons, rgb, thing.label, shot.depth(thing.place))


def _colour(traits: Float64) -> Float64:
    return np.asarray(_COLOURS[int(traits[1] * len(_COLOURS))] * (0.9 + 0.2 * traits[2]))


@cache
def _mould(cabin: int) -> Mould:
    """Hull with wheels and lamps, and one of the cabins on it."""
    faces = _wheels(outside=False) + _shell(_HULL, [_HALF_WIDTH_M] * len(_HULL)) + _wheels(outside=True) + _lamps()
    faces += _shell(_CABINS[cabin], [0.82, 0.66, 0.66, 0.82]) + _panes(_CABINS[cabin])
    corners, normals, rgb = (
        np.array(part) for part in zip(*((f.points[0], f.normal, f.rgb) for f in faces), strict=True)
    )
    return Mould(faces, corners, normals, rgb)


def _shell(profile: list[tuple[float, float]], half_widths: list[float]) -> list[Face]:
    """Both sides of a profile, and the strips that join them over the top."""
    left = np.array([(-w, y, z) for (z, y), w in zip(profile, half_widths, strict=True)])
    right = left * [-1, 1, 1]
    strips = [np.array([left[i], left[i + 1], right[i + 1], right[i]]) for i in range(len(profile) - 1)]
    return [_face(points, left.mean(axis=0) * [0, 1, 1]) for points in (left, right, *strips)]


def _panes(cabin: list[tuple[float, float]]) -> list[Face]:
    """Glass a little inside the edges of the cabin's sides, rear and front."""
    left, right, rear, _, front = (face.points for face in _shell(cabin, [0.83, 0.67, 0.67, 0.83]))
    shares = [(left, 0.8), (right, 0.8), (rear, 0.86), (front, 0.86)]
    panes = [points.mean(axis=0) + share * (points - points.mean(axis=0)) for points, share in shares]
    return [_face(points, np.array([0, 1.2, -0.4]), _GLASS) for points in panes]


def _wheels(outside: bool) -> list[Face]:
    """Wheels as seen from outside, or the inner face of those beyond the hull."""
    angle = np.linspace(0, 2 * np.pi, 14, endpoint=False)
    disc = np.stack([np.zeros(14), np.sin(angle), np.cos(angle)], axis=1)
    centres = [np.array([x, 0.33, z]) for x in (-_HALF_WIDTH_M - 0.01, _HALF_WIDTH_M + 0.01) for z in (-1.32, 1.3)]
    if not outside:
        return [_face(centre + 0.34 * disc, 2 * centre, _TYRE) for centre in centres]
    return [_face(c + radius * disc, 0 * c, rgb) for c in centres for radius, rgb in ((0.34, _TYRE), (0.19, _HUB))]


def _lamps() -> list[Face]:
    """Two lamps at each end."""
    box = np.array([[-0.17, -0.07, 0], [0.17, -0.07, 0], [0.17, 0.07, 0], [-0.17, 0.07, 0]])
    ends = [(0.7, 2.06, _HEADLAMP), (0.78, -2.13, _TAILLAMP)]
    return [_face(box + np.array([x, y, z]), np.array([x, y, 0]), rgb) for y, z, rgb in ends for x in (-0.62, 0.62)]


def _face(points: Float64, inside: Float64, rgb: Float64 | None = None) -> Face:
    """Face whose normal points away from `inside` (3,)."""
    normal = np.cross(points[1] - points[0], points[2] - points[0])
    outwards = np.sign(normal @ (points.mean(axis=0) - inside)) / np.linalg.norm(normal)
    return Face(points, normal * outwards, np.full(3, np.nan) if rgb is None else rgb)
