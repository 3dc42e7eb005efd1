"""What is understood of a network, and what it makes of a rendered street."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.errors import ModelError
from budgetseg.files import atomic_file
from budgetseg.networks.card import card_for
from budgetseg.networks.inspect import Fact, card_to_edit, facts
from budgetseg.networks.run import OnnxNetwork
from budgetseg.timing.clock import WallClock

__all__ = ["Inspected", "inspect_network"]

STREET = (640, 480)
"""Width and height of the rendered street."""


@dataclass(frozen=True)
class Inspected:
    """A network that was looked at.

    Attributes
    ----------
    facts : what was understood of it
    seconds : for the street, on one core
    shares : of each class in the street, the largest first; classes that are not there are left out
    card : that was written, or that was there
    is_new : whether it was written
    """

    facts: Sequence[Fact]
    seconds: float
    shares: Mapping[str, float]
    card: Path
    is_new: bool

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "facts": [asdict(fact) for fact in self.facts],
            "seconds": self.seconds,
            "shares": dict(self.shares),
            "card": str(self.card),
            "is_new": self.is_new,
        }


def inspect_network(file: Path, card: Path, overwrite: bool = False) -> Inspected:
    """Look at the network in a file, or of a card, and write a card to edit; one that is there is kept as it is.

    Parameters
    ----------
    file : an ONNX file, or a card
    card : to write
    overwrite : whether to replace a card that is there
    """
    known = card_for(file)
    network = OnnxNetwork(known)
    frame = render(0, 1, STREET)[0].frames[0]
    bound = network.at(STREET)
    bound(frame)
    clock = WallClock()
    probabilities = bound(frame)
    seconds = clock.now_s()
    if not np.isfinite(probabilities).all():
        raise ModelError(f"{known.file}: gives NaN for a rendered street; check its weights, and how it was exported")
    counts = np.bincount(probabilities.argmax(axis=2).ravel(), minlength=len(network.names))
    order = np.argsort(-counts, kind="stable")
    shares = {network.names[k]: counts[k] / counts.sum() for k in order.tolist() if counts[k]}
    is_new = overwrite or not card.exists()
    if is_new:
        _write_card(network, card, int(np.flatnonzero(counts).max()) + 1)
    return Inspected(facts(network), seconds, shares, card, is_new)


def _write_card(network: OnnxNetwork, card: Path, n_seen: int) -> None:
    """Write a card to edit; `n_seen` classes of an index map were seen."""
    with atomic_file(card) as part:
        place = os.path.relpath(network.card.file.absolute(), card.parent.absolute())
        part.write_text(card_to_edit(network, Path(place).as_posix(), n_seen), encoding="utf-8")
