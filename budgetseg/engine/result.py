"""A labelled video, at one budget: what every run gives, and what everything after it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from budgetseg.engine.plan import Plan
from budgetseg.engine.space import Evidence
from budgetseg.engine.trace import WindowTrace
from budgetseg.timing.ledger import Ledger
from budgetseg.types import Classes, Float32, UInt8

__all__ = ["Result"]


@dataclass(frozen=True, eq=False)
class Result:
    """A labelled video.

    Attributes
    ----------
    labels : (T, H, W) uint8, class index
    ledger : what the time was spent on
    classes : what the indices mean
    space : that labelled, `frames` or `regions`
    plan : what was read, and how it was worked on
    windows : what was done, window by window; the same for all budgets of a run
    evidence : what the labels of each window were made from
    memory : what a later run can go on from, for each window; the same for all budgets of a run
    least : confidence where nothing was done: the share of the most frequent class in training
    """

    labels: UInt8
    ledger: Ledger
    classes: Classes
    space: str
    plan: Plan
    windows: Sequence[WindowTrace]
    evidence: Sequence[Evidence | None]
    memory: Sequence[Any]
    least: float

    @cached_property
    def confidence(self) -> Float32:
        """The probability of the label at every pixel, (T, H, W) float32."""
        found = np.full(self.labels.shape, self.least, np.float32)
        first = 0
        for window, own in zip(self.windows, self.evidence, strict=True):
            if own is not None:
                part = own.confidence(self.labels.shape[1:])[: len(found) - first]
                found[first : first + len(part)] = part
            first += window.n_frames
        return found
