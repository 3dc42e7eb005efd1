"""Every class has a colour that is clearly another than those of the others."""

from itertools import combinations

import numpy as np

from budgetseg.colours import CITYSCAPES, palette
from budgetseg.types import Classes, UInt8

NINETEEN = tuple(name for name in CITYSCAPES if name not in ("unlabeled", "bridge", "tunnel"))


def least_distance(colours: UInt8) -> float:
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(colours.astype(float), 2))


def test_cityscapes_names_have_their_own_colours() -> None:
    assert len(NINETEEN) == 19
    assert palette(NINETEEN).tolist() == [list(CITYSCAPES[name]) for name in NINETEEN]
    assert palette(["Road"]).tolist() == palette(["road"]).tolist() == [[128, 64, 128]]


def test_other_names_have_colours_by_their_number() -> None:
    assert np.array_equal(palette(list("abcde")), palette(list("vwxyz")))
    assert np.array_equal(palette(list("abc")), palette(list("abcde"))[:3])


def test_colours_differ_clearly_for_any_number_of_classes() -> None:
    for n, least in ((8, 120), (20, 80), (60, 45), (255, 25)):
        colours = palette([f"class {k}" for k in range(n)])
        assert colours.shape == (n, 3)
        assert least_distance(colours) > least


def test_other_names_beside_those_of_cityscapes_do_not_take_their_colours() -> None:
    names = [*NINETEEN, *(f"thing {k}" for k in range(20))]
    others = palette(names)[19:].astype(float)
    known = palette(NINETEEN).astype(float)
    assert min(np.linalg.norm(known - other, axis=1).min() for other in others) > 60


def test_classes_of_names_have_the_palette() -> None:
    classes = Classes.of(("sky", "lamp"))
    assert classes.names == ("sky", "lamp")
    assert classes.colours.tolist() == palette(("sky", "lamp")).tolist()
