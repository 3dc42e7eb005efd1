"""Several networks of known prices for labelled videos, none of which has seen them.

There are fold networks of one size only. So others are made of them: `half` and `quarter` see frames of half and a
quarter of the width and height, as cheaper networks do. `mirrored` is asked about each frame and its mirror image, at
twice the price. How much better the dearer ones are differs from video to video, as it does for networks of different
sizes.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np

from benchmarks.cases import Case, composite_cases, plain_cases
from benchmarks.key_frames import Table
from benchmarks.takes import Float16
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.types import Float32, UInt8

__all__ = ["PRICES", "family_tables"]

PRICES = {"quarter": 0.0625, "half": 0.25, "dcnn": 1.0, "mirrored": 2.0}
"""Of the networks of a family, in prices of a fold network."""

Ask = Callable[[OnnxNetwork, UInt8], Float32]


def _quarter(network: OnnxNetwork, frame: UInt8) -> Float32:
    return _reduced(network, frame, 4)


def _half(network: OnnxNetwork, frame: UInt8) -> Float32:
    return _reduced(network, frame, 2)


def _reduced(network: OnnxNetwork, frame: UInt8, times: int) -> Float32:
    height, width = frame.shape[:2]
    small = cv2.resize(frame, (width // times, height // times), interpolation=cv2.INTER_AREA)
    return network(np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8))


def _plain(network: OnnxNetwork, frame: UInt8) -> Float32:
    return network(frame)


def _mirrored(network: OnnxNetwork, frame: UInt8) -> Float32:
    other = network(np.ascontiguousarray(frame[:, ::-1]))
    return np.asarray((network(frame) + other[:, ::-1]) / 2, np.float32)


WAYS: dict[str, Ask] = {"quarter": _quarter, "half": _half, "dcnn": _plain, "mirrored": _mirrored}


def family_tables(data: Path, dataset: str, seeds: Sequence[int] = ()) -> list[Table]:
    """Training videos with labels and composites of them, with the answers of a family of unseeing networks."""
    networks: dict[Path, OnnxNetwork] = {}
    cases = plain_cases(data, dataset)
    return [_table(case, networks) for case in (*cases, *composite_cases(cases, seeds))]


def _table(case: Case, networks: dict[Path, OnnxNetwork]) -> Table:
    (paths,) = case.networks.values()
    for path in paths:
        if path not in networks:
            networks[path] = OnnxNetwork(read_card(path), 1)
    answers: dict[str, Float16] = {
        name: np.stack(
            [way(networks[path], frame).astype(np.float16) for path, frame in zip(paths, case.frames, strict=True)]
        )
        for name, way in WAYS.items()
    }
    kind = f"{case.kind} {case.dataset}"
    return Table(case.name, kind, case.frames, case.truth, answers, len(case.shares), case.rate)
