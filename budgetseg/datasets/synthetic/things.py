"""Paint each kind of thing on the street, and the shadow that it casts."""

from collections.abc import Callable

import numpy as np

from budgetseg.datasets.synthetic.cars import draw_car
from budgetseg.datasets.synthetic.people import draw_person
from budgetseg.datasets.synthetic.shot import Shot
from budgetseg.datasets.synthetic.street import Thing
from budgetseg.types import Float64

__all__ = ["DRAW", "shadow"]

_BARK = np.array([92.0, 72, 54])
_METAL = np.array([112.0, 116, 120])
_WHITE = np.array([236.0, 236, 236])
_BOARDS = np.array([[206, 34, 44], [30, 92, 190], [244, 190, 20]], float)
_BAR = np.array([[-0.24, -0.07, 0], [0.24, -0.07, 0], [0.24, 0.07, 0], [-0.24, 0.07, 0]])
_ANGLE = np.linspace(0, 2 * np.pi, 20, endpoint=False)
_DISC = np.stack([np.cos(_ANGLE), np.sin(_ANGLE), np.zeros(20)], axis=1)

# Half width and half length of shadows on the ground, and the height of the part that casts them, metres.
_SHADOWS = {
    "tree": (1.3, 1.3, 3.6),
    "hedge": (0.9, 0.9, 0.5),
    "moving car": (1.0, 2.3, 0.5),
    "parked car": (1.0, 2.3, 0.5),
}


def shadow(thing: Thing, sun: Float64) -> Float64:
    """Polygon on the ground that a thing shades, (20, 3)."""
    half_x, half_z, height = _SHADOWS.get(thing.kind, (0.3, 0.3, 0.6))
    # A superellipse is round enough for a crown and square enough for a car.
    rounded = np.sign(_DISC) * np.sqrt(np.abs(_DISC))
    middle = thing.place - height * np.array([sun[0], 0, sun[2]]) / sun[1]
    return np.asarray(middle + rounded[:, [0, 2, 1]] * [half_x, 0, half_z])


def _tree(shot: Shot, thing: Thing) -> None:
    """Trunk and crown."""
    size = 0.9 + 0.2 * thing.traits[0]
    _post(shot, thing, 3.6 * size, 0.24, _BARK)
    crown = shot.materials.crowns[int(thing.traits[1] * len(shot.materials.crowns))]
    shot.upright(crown, thing.place + _up(2.9 * size), 2.8 * size, 3.4 * size)


def _hedge(shot: Shot, thing: Thing) -> None:
    """Stem, and twigs down to the ground."""
    _post(shot, thing, 0.3, 0.24, _BARK)
    hedge = shot.materials.hedges[int(thing.traits[1] * len(shot.materials.hedges))]
    shot.upright(hedge, thing.place + _up(0.12), 2.2, 1.5)


def _sign(shot: Shot, thing: Thing) -> None:
    """Street lamp or road sign, with its post."""
    (_lamp if thing.traits[0] < 0.3 else _board)(shot, thing)


def _lamp(shot: Shot, thing: Thing) -> None:
    inwards = np.array([-np.sign(thing.place[0]), 0, 0])
    top = thing.place + _up(5.2)
    points = np.array([thing.place, top, top + 1.3 * inwards, top + 1.7 * inwards])
    ends = np.stack([points[:-1], points[1:]], axis=1)
    shot.strokes(ends, np.array([0.14, 0.12, 0.24]), np.array([_METAL, _METAL, _WHITE]), thing.label)


def _board(shot: Shot, thing: Thing) -> None:
    """Disc with a rim and a bar, turned along the street."""
    _post(shot, thing, 2.6, 0.14, _METAL)
    colour = _BOARDS[int(thing.traits[1] * len(_BOARDS))]
    polygons = [thing.place + _up(2.6) + shape for shape in (0.46 * _DISC, 0.4 * _DISC, _BAR)]
    shot.polygons(polygons, np.array([_WHITE, colour, _WHITE]), thing.label, shot.depth(thing.place))


def _up(height_m: float) -> Float64:
    return np.array([0.0, height_m, 0.0])


def _post(shot: Shot, thing: Thing, height_m: float, width_m: float, rgb: Float64) -> None:
    ends = np.array([thing.place, thing.place + _up(height_m)])
    shot.strokes(ends[None], np.array([width_m]), rgb[None], thing.label)


DRAW: dict[str, Callable[[Shot, Thing], None]] = {
    "moving car": draw_car,
    "parked car": draw_car,
    "walking person": draw_person,
    "standing person": draw_person,
    "tree": _tree,
    "hedge": _hedge,
    "sign": _sign,
}
"""Functions that paint things, by kind."""
