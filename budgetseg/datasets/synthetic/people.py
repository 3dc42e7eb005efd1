"""People: strokes between the joints of a walking figure. Standing ones are walkers at a fixed moment of a step."""

import numpy as np

from budgetseg.datasets.synthetic.shot import Shot
from budgetseg.datasets.synthetic.street import Thing
from budgetseg.types import Float64

__all__ = ["draw_person"]

_CLOTHES = np.array(
    [[200, 52, 60], [48, 92, 170], [232, 196, 60], [236, 236, 232], [44, 128, 92], [150, 70, 150], [228, 126, 44]],
    float,
)
_TROUSERS = np.array([[38, 44, 66], [58, 54, 52], [94, 84, 70], [30, 30, 34]], float)
_SKIN = np.array([[232, 190, 160], [198, 148, 112], [120, 80, 58]], float)
_HAIR = np.array([[44, 32, 26], [96, 66, 36], [150, 112, 64]], float)
_HIP_M = 0.92
_SHOULDER_M = 1.45
_HEAD_M = 1.66
_WIDTHS_M = np.array([0.11, 0.11, 0.18, 0.15, 0.18, 0.15, 0.4, 0.11, 0.11, 0.24, 0.24])
_FROM_BEHIND = np.arange(11)
_FROM_THE_FRONT = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9])


def draw_person(shot: Shot, thing: Thing) -> None:
    """Paint a person, with legs and arms by its phase."""
    size = 0.9 + 0.2 * thing.traits[0]
    ends = _figure(thing.phase) * [size, size, size * thing.heading] + thing.place
    # The camera looks along +z: of people who walk towards it, the face is in front of the hair.
    order = _FROM_BEHIND if thing.heading > 0 else _FROM_THE_FRONT
    shot.strokes(ends[order], _WIDTHS_M[order] * size, _colours(thing.traits)[order], thing.label)


def _colours(traits: Float64) -> Float64:
    """A colour for each stroke of the figure, (11, 3)."""
    shirt, trousers, skin, hair = (
        colours[int(trait * len(colours))]
        for colours, trait in zip((_CLOTHES, _TROUSERS, _SKIN, _HAIR), traits[[1, 2, 3, 0]], strict=True)
    )
    behind = [shirt * 0.8] * 2
    legs = [trousers * 0.8] * 2 + [trousers] * 2
    return np.array([*behind, *legs, shirt, *[shirt * 0.9] * 2, skin, hair])


def _figure(phase: float) -> Float64:
    """Strokes of a figure that walks along +z, from back to front, (11, 2, 3): arm, legs, torso, arm, head, hair."""
    limbs = [*_arm(phase, 1), *_leg(phase, 1), *_leg(phase, -1)]
    torso = [(0, _HIP_M + 0.12, 0), (0, _SHOULDER_M - 0.13, 0)]
    head, hair = ([(0, _HEAD_M + y, z), (0, _HEAD_M + y + 0.03, z)] for y, z in ((0, 0.02), (0.06, -0.06)))
    return np.array([*limbs, torso, *_arm(phase, -1), head, hair])


Stroke = list[tuple[float, float, float]]


def _leg(phase: float, side: int) -> tuple[Stroke, Stroke]:
    """Thigh and shank."""
    swing = 0.5 * np.sin(2 * np.pi * phase) * side
    bend = 0.25 + 0.45 * np.cos(2 * np.pi * phase) * side
    return _limb((0.09 * side, _HIP_M), (swing, 0.46), (swing - max(bend, 0.05), 0.42))


def _arm(phase: float, side: int) -> tuple[Stroke, Stroke]:
    """Upper arm and forearm."""
    swing = -0.45 * np.sin(2 * np.pi * phase) * side
    return _limb((0.23 * side, _SHOULDER_M - 0.05), (swing, 0.3), (swing + 0.35, 0.27))


def _limb(joint: tuple[float, float], upper: tuple[float, float], lower: tuple[float, float]) -> tuple[Stroke, Stroke]:
    """Two bones that hang from a joint at (x, y), each with its angle from the vertical and its length."""
    x, y = joint
    middle = x, y - upper[1] * np.cos(upper[0]), upper[1] * np.sin(upper[0])
    end = x, middle[1] - lower[1] * np.cos(lower[0]), middle[2] + lower[1] * np.sin(lower[0])
    return [(x, y, 0.0), middle], [middle, end]
