"""What predictions are worth on the video at hand: what a dearer network adds, and what carrying loses.

There are no labels. But where there are two answers about one frame, the better of them tells how good both are: by its
own probabilities, its labels have some expected mean IoU, and the labels of the other one have less.
"""

from collections import deque
from collections.abc import Collection, Mapping

import numpy as np
from numba import njit

from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.settings import Losses
from budgetseg.types import Float32, UInt8

__all__ = ["Worth", "expected_iou"]


class Worth:
    """What is known of the video at hand, from answers about the same frames; priors of `Losses` until then.

    Parameters
    ----------
    losses : the priors, and how far estimates are trusted
    remembered : comparisons of each kind that count, the last ones; None for all
    """

    def __init__(self, losses: Losses, remembered: int | None = None) -> None:
        self._losses = losses
        self._remembered = remembered
        self._gains: dict[tuple[int, int], deque[float]] = {}
        self._carried: dict[str, deque[tuple[float, float]]] = {}

    @property
    def n_compared(self) -> int:
        """Pairs of networks that were compared on some frame."""
        return len(self._gains)

    def compare(self, cheap: int, dear: int, labels: UInt8, better: Float32) -> None:
        """Take in the answers of two networks about one frame.

        Parameters
        ----------
        cheap, dear : numbers of the networks
        labels : (h, w) of the cheaper one
        better : (h, w, L) probabilities of the dearer one
        """
        self._gains.setdefault((cheap, dear), deque(maxlen=self._remembered)).append(self._points(labels, better))

    def carried(self, carry: str, expected: float, labels: UInt8, own: Float32) -> None:
        """Take in the labels that a frame would have from another one, beside its own prediction.

        Parameters
        ----------
        carry : how they came from the other frame
        expected : points that this loses, by the priors
        labels : (h, w), carried from the other frame
        own : (h, w, L) probabilities of its own prediction
        """
        self._carried.setdefault(carry, deque(maxlen=self._remembered)).append((expected, self._points(labels, own)))

    def is_compared(self, cheap: int, dear: int) -> bool:
        """Whether two networks were compared."""
        return (cheap, dear) in self._gains

    def gains(self, prices_s: Mapping[str, float]) -> list[float]:
        """Points of mean IoU by which each network is better than the cheapest.

        What was measured when the model was made counts as some frames of the video at hand. Where nothing was, a
        network that was not compared here gains with each doubling of the price, as `Losses.doubling` has it.

        Parameters
        ----------
        prices_s : by network, from the cheapest to the dearest
        """
        names = list(prices_s)
        found = [0.0] * bool(names)
        for k in range(1, len(names)):
            known = [(cheap, gains) for (cheap, dear), gains in self._gains.items() if dear == k]
            cheap, gains = max(known, key=lambda own: own[0], default=(k - 1, deque()))
            found.append(found[cheap] + self._gain(names[cheap], names[k], gains, prices_s))
        return found

    def _gain(self, cheap: str, dear: str, gains: Collection[float], prices_s: Mapping[str, float]) -> float:
        """Points by which a network is better than another one, with which it was compared on some frames."""
        measured = self._losses.gains
        if cheap in measured and dear in measured:
            n_prior = self._losses.prior_frames
            prior = measured[dear] - measured[cheap]
            return (n_prior * prior + sum(gains)) / max(n_prior + len(gains), 1e-9)
        if gains:
            return float(np.mean(list(gains)))
        ratio = max(prices_s[dear] / max(prices_s[cheap], 1e-9), 1.0)
        return self._losses.doubling * float(np.log2(ratio))

    def scales(self) -> Mapping[str, float]:
        """Times as much as the priors have it that carrying loses here, by how predictions are carried.

        A way that was not tried is taken to lose as much as the others: that one looks better only tells of the video.
        """
        together = [pair for known in self._carried.values() for pair in known]
        return {carry: self._scale(self._carried.get(carry, together)) for carry in (FLOW, COPY)}

    def _scale(self, known: Collection[tuple[float, float]]) -> float:
        if not known:
            return 1.0
        expected, found = np.sum(list(known), axis=0)
        prior = self._losses.prior_points
        return float((found + prior) / (expected + prior))

    def _points(self, labels: UInt8, better: Float32) -> float:
        """Points of mean IoU that labels have less than the best ones, by the probabilities (h, w, L) of these."""
        best = better.argmax(axis=2).astype(np.uint8)
        lost = expected_iou(best, better, self._losses.rare) - expected_iou(labels, better, self._losses.rare)
        return 100 * self._losses.trust * max(lost, 0.0)


@njit(cache=True, nogil=True)
def expected_iou(labels: UInt8, probabilities: Float32, rare: float) -> float:
    """Mean IoU of labels (h, w) if classes are distributed as probabilities (h, w, L), at any scale, tell.

    Where these are all 0, nothing is known, and labels do not count; nor do classes of which there is less than a share
    of `rare`.
    """
    h, w, n_labels = probabilities.shape
    right = np.zeros(n_labels)
    there = np.zeros(n_labels)
    given = np.zeros(n_labels)
    for y in range(h):
        for x in range(w):
            total = np.float32(0)
            for k in range(n_labels):
                total += probabilities[y, x, k]
            if total <= 0:
                continue
            label = labels[y, x]
            given[label] += 1
            right[label] += probabilities[y, x, label] / total
            for k in range(n_labels):
                there[k] += probabilities[y, x, k] / total
    mean, n = 0.0, 0
    for k in range(n_labels):
        if there[k] > rare * h * w:
            mean += right[k] / (there[k] + given[k] - right[k])
            n += 1
    return mean / max(n, 1)
