"""A video labelled at one budget: what a run returns, and what outputs, reports and evaluation read."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetseg.engine.detections import detections_of
from budgetseg.engine.plan import Plan
from budgetseg.engine.promise import Promise
from budgetseg.engine.space import Evidence
from budgetseg.engine.trace import WindowTrace
from budgetseg.timing.ledger import Ledger
from budgetseg.types import Classes, Float32, UInt8
from budgetseg.video import VideoSource
from budgetseg.video.player import player_html

if TYPE_CHECKING:
    from supervision import Detections

__all__ = ["Result", "Results"]


@dataclass(frozen=True, eq=False)
class Result:
    """A video labelled at one budget.

    Attributes
    ----------
    labels : (T, H, W) uint8, class index of every pixel
    ledger : how the time was spent
    classes : names and colours of the class indices
    space : the space that labelled the video, `frames` or `regions`
    plan : which frames were read, and how they were labelled
    windows : trace of each window; the same for all budgets of a run
    evidence : what the labels of each window were made from; None for a window labelled by the prior
    memory : for each window, what a later run needs to continue; the same for all budgets of a run
    least : confidence of a label from the prior: the share of the most frequent class in training, 0 to 1
    expected : share of pixels that is expected to be right; None where no figure can be given
    source : the video, which the player of a notebook shows; None to show labels alone
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
    expected: Promise | None = None
    source: VideoSource | None = None

    def __repr__(self) -> str:
        """A line, since arrays and traces would fill a screen."""
        n_frames, height, width = self.labels.shape
        return (
            f"<Result: {n_frames} frames of {width}x{height} in {len(self.classes)} classes, labelled by {self.space}, "
            f"{self.ledger.spent_s:.2f} s spent of {self.budget}>"
        )

    @cached_property
    def confidence(self) -> Float32:
        """The probability of the label at every pixel, (T, H, W) float32."""
        confidence = np.full(self.labels.shape, self.least, np.float32)
        first = 0
        for window, evidence in zip(self.windows, self.evidence, strict=True):
            if evidence is not None:
                part = evidence.confidence(self.labels.shape[1:])[: len(confidence) - first]
                confidence[first : first + len(part)] = part
            first += window.n_frames
        return confidence

    def to_supervision(self, frame: int) -> "Detections":
        """The labels of a frame as `supervision.Detections`: mask, box, class and mean confidence of each class."""
        return detections_of(self.labels[frame], self.confidence[frame], self.classes)

    @property
    def budget(self) -> str:
        """The budget in words."""
        seconds = self.ledger.budget_s
        return "no bound" if seconds is None or not np.isfinite(seconds) else f"{seconds:g} s"

    def _repr_html_(self) -> str:
        """The player that a notebook shows."""
        return Results([self])._repr_html_()


class Results(list[Result]):
    """Results of one run at several budgets, in rising order. A notebook shows them in a player with a slider."""

    def _repr_html_(self) -> str:
        if not self:
            return ""
        last = self[-1]
        return player_html(last.source, [own.labels for own in self], [own.budget for own in self], last.classes)
