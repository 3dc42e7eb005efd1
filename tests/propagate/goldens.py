"""Digests of the kernels on seeded arrays: results that must stay to the bit.

Record anew with `python -m tests.propagate.goldens`, and say in the commit why they changed.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetseg.datasets.synthetic import render
from budgetseg.machine import cpu_model
from budgetseg.propagate.cells import confidence_of, grey_cells, reduced, step_flow, top_classes
from budgetseg.propagate.chains import chains_to
from budgetseg.propagate.edges import paint_edges
from budgetseg.propagate.fusion import Fused, Source, confidence_at, dominant, fuse
from budgetseg.propagate.paint import paint
from budgetseg.propagate.timeline import change
from budgetseg.types import UInt8
from tests.propagate.arrays import SETTINGS, chain, grey, probabilities, source

FILE = Path(__file__).with_name("goldens.json")
SHAPE = (30, 40)
N_LABELS = 11
WEIGHTS = (1.0, 0.5, 0.25)


def frame(size: tuple[int, int] = (160, 120)) -> UInt8:
    """A frame of a rendered street, (H, W, 3)."""
    frames: UInt8 = render(1, 2, size)[0].frames
    return np.asarray(frames[1])


def wild_sources() -> list[Source]:
    """Three key frames that have little in common."""
    return [source(SHAPE, N_LABELS, seed, weight) for seed, weight in enumerate(WEIGHTS)]


def near_sources() -> list[Source]:
    """Three key frames in which whole areas agree."""
    return [source(SHAPE, 3, seed, weight, far=0.5, blob=5.0) for seed, weight in enumerate(WEIGHTS)]


def carried() -> tuple[NDArray[Any], ...]:
    """Chains of all frames to the third of six."""
    steps = [chain(SHAPE, seed, far=1.0) for seed in range(5)]
    return tuple(own for _, own in sorted(chains_to(2, 0, 5, steps, SHAPE).items()))


def flow() -> tuple[NDArray[Any], ...]:
    """Flow between two frames, coarse and fine, their grey, and what has changed."""
    first, second = (reduced(own, SETTINGS.flow_pixels) for own in render(1, 2, (320, 240))[0].frames)
    steps = [step_flow(second, first, SHAPE, fine) for fine in (False, True)]
    greys = [grey_cells(own, SHAPE) for own in (first, second)]
    return *steps, *greys, np.array([change(greys[1], greys[0], step) for step in steps])


def fused() -> tuple[NDArray[Any], ...]:
    """Key frames fused, and the confidence of that."""
    found = list[NDArray[Any]]()
    for sources in (wild_sources(), near_sources()):
        answer, nearest = fuse(grey(SHAPE, 3), sources, SETTINGS), sources[0]
        share = confidence_at(answer.probabilities, confidence_of(nearest.probabilities), nearest.chain)
        found += [*answer, share]
    return tuple(found)


def dominated() -> tuple[NDArray[Any], ...]:
    """Which key frame tells most for each cell."""
    looks = grey(SHAPE, 3)
    return tuple(
        dominant(looks, fuse(looks, sources, SETTINGS).top, sources, SETTINGS)
        for sources in (wild_sources(), near_sources())
    )


def answers() -> list[Fused]:
    """Probabilities of a network, and what was fused."""
    own = probabilities(SHAPE, N_LABELS, seed=7)
    return [
        Fused(own, top_classes(own)),
        *(fuse(grey(SHAPE, 3), sources, SETTINGS) for sources in (wild_sources(), near_sources())),
    ]


def painted() -> tuple[NDArray[Any], ...]:
    """Labels of several sizes."""
    found = []
    for answer in answers():
        for height, width in ((120, 160), (121, 163), (17, 23)):
            labels = np.empty((height, width), np.uint8)
            paint(*answer, labels)
            found.append(labels)
    return tuple(found)


def sharpened() -> tuple[NDArray[Any], ...]:
    """The same along the edges of a frame."""
    found = []
    for answer in answers():
        for height, width in ((120, 160), (240, 320)):
            labels = np.empty((height, width), np.uint8)
            paint_edges(*answer, frame(), labels, SETTINGS)
            found.append(labels)
    return tuple(found)


KERNELS: dict[str, Callable[[], tuple[NDArray[Any], ...]]] = {
    "chains": carried,
    "flow": flow,
    "fusion": fused,
    "dominant": dominated,
    "paint": painted,
    "edges": sharpened,
}


def digest(name: str) -> str:
    """Of everything that a kernel gives."""
    parts = [f"{own.shape} {own.dtype}".encode() + np.ascontiguousarray(own).tobytes() for own in KERNELS[name]()]
    return sha256(b"".join(parts)).hexdigest()


def record() -> None:
    """Write what all kernels give now."""
    digests = {name: digest(name) for name in KERNELS}
    FILE.write_text(json.dumps({"cpu": cpu_model(), "digests": digests}, indent=1) + "\n")


if __name__ == "__main__":
    record()
