"""An endless street made from a seed: the things on it, and where they are at any time.

Across the street, from the camera's side: houses, sidewalk, road with two lanes and a strip of parked cars on one of
its sides, sidewalk, houses. Along it, things come in rows, each with its own pitch and speed, so that any part of the
street can be computed at any time without keeping the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from budgetseg.datasets.synthetic.classes import CLASSES
from budgetseg.types import Float64

__all__ = ["FAR_WALL_M", "NEAR_WALL_M", "ROAD_M", "Row", "Street", "Thing", "build", "traits"]

NEAR_WALL_M = -7.0
FAR_WALL_M = 6.5
ROAD_M = -3.5, 3.5

_CYCLE_M = 1.5
"""Distance walked in one cycle of the legs."""


@dataclass(frozen=True, eq=False)
class Thing:
    """Something on the street.

    Attributes
    ----------
    kind : the name of its class
    place : (3,) where it touches the ground, metres
    heading : +1 or -1, its front along z
    phase : of its gait, in cycles
    traits : (8,) in [0, 1), random numbers that its looks follow from
    """

    kind: str
    place: Float64
    heading: float
    phase: float
    traits: Float64

    @property
    def label(self) -> int:
        """The index of its class."""
        return CLASSES.names.index(self.kind)


@dataclass(frozen=True)
class Row:
    """Things of one kind, one behind the other, that share one speed along z.

    Attributes
    ----------
    kinds : taken in turn
    x : across the street, metres
    pitch_m : distance from one to the next
    share : part of the places that are taken
    jitter : how far a thing strays from its place, in pitches
    speed_mps : along z; standing things face either way
    number : of the row; rows of other numbers have other traits
    """

    kinds: tuple[str, ...]
    x: float
    pitch_m: float
    share: float
    jitter: float
    speed_mps: float
    number: int

    def things(self, seed: int, time_s: float, between: tuple[float, float]) -> Iterator[Thing]:
        """Things of this row on a part of the street (z from, z to) at a time."""
        way = self.speed_mps * time_s
        first, last = (int(np.ceil((z - way) / self.pitch_m)) for z in between)
        for k in range(first, last):
            trait = traits(seed, self.number, k)
            if trait[7] < self.share:
                yield self._thing(k, way, trait)

    def _thing(self, k: int, way: float, trait: Float64) -> Thing:
        z = (k + self.jitter * (trait[6] - 0.5)) * self.pitch_m + way
        heading = np.sign(self.speed_mps) or (1.0 if trait[5] < 0.5 else -1.0)
        place = np.array([self.x + 0.3 * (trait[4] - 0.5), 0.0, z])
        return Thing(self.kinds[k % len(self.kinds)], place, float(heading), trait[3] + abs(way) / _CYCLE_M, trait)


@dataclass(frozen=True, eq=False)
class Street:
    """Everything that a seed decides, except textures.

    Attributes
    ----------
    seed : of the traits of things and houses
    rows : of things
    parking : -1 or +1, the side of the road where cars park
    start : (3,) first position of the camera
    speed_mps : of the camera along z (0: it stands)
    gaze : (2,) its yaw to the right and its pitch down, radians
    sun : (3,) unit vector towards it
    gain : (3,) exposure and white balance
    mirrored : whether right and left are swapped
    """

    seed: int
    rows: tuple[Row, ...]
    parking: int
    start: Float64
    speed_mps: float
    gaze: Float64
    sun: Float64
    gain: Float64
    mirrored: bool

    def things(self, time_s: float, between: tuple[float, float]) -> list[Thing]:
        """All things on a part of the street (z from, z to) at a time."""
        return [thing for row in self.rows for thing in row.things(self.seed, time_s, between)]


@lru_cache(maxsize=4096)
def traits(seed: int, row: int, k: int) -> Float64:
    """Eight uniform random numbers of the k-th thing of a row, the same at every call."""
    return np.random.default_rng([seed, row, k + (1 << 30)]).random(8)


def build(seed: int) -> Street:
    """Lay out the street of a seed."""
    rng = np.random.default_rng([seed, 0])
    parking = int(rng.choice([-1, 1]))
    speed = float(rng.choice([0.0, rng.uniform(0.2, 0.7)], p=[0.4, 0.6]))
    sun = np.array([rng.uniform(-0.8, 0.8), rng.uniform(0.8, 1.2), rng.uniform(-0.8, 0.4)])
    return Street(
        seed=seed,
        rows=tuple(_rows(rng, parking)),
        parking=parking,
        # Just past a tree or a sign at the kerb, so that neither fills the view.
        start=np.array([rng.uniform(-5.4, -4.6), rng.uniform(2.0, 2.5), 6 * rng.integers(20) + rng.uniform(0.8, 1.8)]),
        speed_mps=speed,
        gaze=np.radians([rng.uniform(17, 25), rng.uniform(0.5, 3)]),
        sun=sun / np.linalg.norm(sun),
        gain=rng.uniform(0.86, 1.08) * (1 + rng.uniform(-0.04, 0.04, 3)),
        mirrored=bool(rng.random() < 0.5),
    )


def _rows(rng: np.random.Generator, parking: int) -> Iterator[Row]:
    """Rows of traffic, parked cars, people, trees and signs at the kerbs, and hedges at the walls."""
    specs = [
        # kinds, x, pitch, share, jitter, speed
        (("moving car",), max(-2.25 * parking, 0.25 * parking), 14.0, 0.9, 0.4, rng.uniform(2, 4)),
        (("moving car",), min(-2.25 * parking, 0.25 * parking), 14.0, 0.9, 0.4, -rng.uniform(2, 4)),
        (("parked car",), 2.45 * parking, 6.4, 0.65 + 0.1 * parking, 0.15, 0.0),
        (("walking person",), 4.6, 6.0, 0.8, 0.6, rng.uniform(1.2, 1.9)),
        (("walking person",), 5.2, 7.0, 0.8, 0.6, -rng.uniform(1.2, 1.9)),
        (("walking person",), -6.0, 5.0, 0.8, 0.6, rng.uniform(1.2, 1.9) * rng.choice([-1, 1])),
        (("standing person",), 4.9, 5.0, 0.9, 0.6, 0.0),
        (("standing person",), -6.1, 5.0, 0.8, 0.6, 0.0),
        (("tree", "hedge", "sign"), 3.95, 4.0, 0.9, 0.3, 0.0),
        (("tree", "sign"), -3.95, 6.0, 0.9, 0.3, 0.0),
        (("hedge",), 5.9, 5.0, 0.7, 0.3, 0.0),
        (("hedge",), -6.5, 6.0, 0.7, 0.3, 0.0),
    ]
    for number, spec in enumerate(specs, start=1):
        yield Row(*spec, number=number)
