"""Descriptors computed now, and what H makes of them."""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from threading import Thread, get_ident

import numpy as np
from numba import njit

from budgetseg.classifiers.samples import place_of
from budgetseg.classifiers.subsets import LEAST_OPINION, SubsetClassifiers
from budgetseg.descriptors.live import LateError, LiveDescriptors, Spent
from budgetseg.inference.episode import Choice, Episode
from budgetseg.inference.loop import Outcome
from budgetseg.types import Float32

__all__ = ["DroppedError", "LiveSource"]

PATIENCE_S = 1.0  # beyond ten times what a guarded descriptor was foretold


class DroppedError(Exception):
    """A descriptor cannot be had; the message says why."""


class LiveSource:
    """Computes a descriptor of a scene and asks H.

    Parameters
    ----------
    live : the descriptors
    classifiers : H
    guarded : names of descriptors that are not trusted to return: those of plug-ins

    Attributes
    ----------
    inputs : (N, d) float32, what was computed, as H scales it, side by side
    n_asked, asking_s : how often H was asked, and the seconds that calls took beside their descriptors
    """

    def __init__(self, live: LiveDescriptors, classifiers: SubsetClassifiers, guarded: Sequence[str] = ()) -> None:
        graph, h = live.scene.supervoxels.graph, classifiers
        n_place = h.lengths[0]
        self.live, self.names, self.guarded = live, h.names, frozenset(guarded)
        self.inputs = np.zeros((len(graph), sum(h.lengths) - n_place), np.float32)
        self._place = (place_of(graph) - h.centre[:n_place]) / h.scale[:n_place]
        self._starts = h.starts
        self._opinion = np.array([name in h.opinions for name in h.names])
        self._h = h.weights, h.bias + h.favour, h.centre[n_place:], h.scale[n_place:]
        self.n_asked, self.asking_s = 0, 0.0

    def __call__(self, episode: Episode, choice: Choice) -> Outcome:
        """The outcome, in wall-clock seconds; DroppedError where the descriptor failed."""
        region, d = choice
        started = time.perf_counter()
        vector, own_s, shared_s = self._compute(episode, region, d)
        subset = int(episode.state.subsets[region]) | 1 << d
        said = self._take(vector, region, d, subset)
        took_s = time.perf_counter() - started
        self.n_asked, self.asking_s = self.n_asked + 1, self.asking_s + took_s - own_s - shared_s
        return Outcome(said, took_s, shared_s)

    def _take(self, vector: Float32, region: int, d: int, subset: int) -> Float32:
        start, stop = self._starts[d], self._starts[d + 1]
        if vector.shape != (stop - start,):
            raise DroppedError(f"is {vector.shape}, not ({stop - start},)")
        place, inputs = self._place[region], self.inputs[region]
        opinion = bool(self._opinion[d])
        said: Float32 = _say(vector, place, inputs, self._starts, *self._h, d, subset, opinion)
        if said[0] != said[0]:
            raise DroppedError("is not finite")
        return said

    def _compute(self, episode: Episode, region: int, d: int) -> tuple[Float32, float, float]:
        """A vector, and the seconds that are booked elsewhere: its own, and those for what others use, or make."""
        name = self.names[d]
        try:
            if name in self.guarded:
                spent = self._guarded(name, region, 10 * episode.cost_s(region, d) + PATIENCE_S, episode.left_s)
            else:
                spent = self.live.compute(region, name)
            # A plug-in may return anything, too.
            vector = np.asarray(spent.vector, np.float32)
            return vector, spent.private_s, sum(spent.shared_s.values()) + spent.waited_s
        except (DroppedError, LateError):
            raise
        except Exception as error:  # a plug-in may raise anything, and the run must go on
            raise DroppedError(f"failed ({type(error).__name__}: {error})") from error

    def _guarded(self, name: str, region: int, patience_s: float, left_s: float) -> Spent:
        """As above, in a thread of its own that is left behind if it does not return in time."""
        answer: Future[Spent] = Future()

        def compute() -> None:
            try:
                answer.set_result(self.live.compute(region, name))
            except Exception as error:
                answer.set_exception(error)
            self.live.left_behind.discard(get_ident())  # others may be given its number

        thread = Thread(target=compute, daemon=True)  # of a pool, the program would wait for it at its end
        thread.start()
        try:
            return answer.result(max(min(patience_s, left_s), 0.0))
        except Late:
            if thread.ident is not None and thread.is_alive():
                self.live.left_behind.add(thread.ident)
            raise DroppedError(f"did not return within {min(patience_s, left_s):.2f} s") from None


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _say(vector, place, inputs, starts, weights, bias, centre, scale, d, subset, opinion):  # type: ignore[no-untyped-def]
    """Put a descriptor among the inputs and give H's probabilities, (L,); nan where it is not finite."""
    for c in range(starts[d], starts[d + 1]):
        value = vector[c - starts[d]]
        if not np.isfinite(value):
            return np.full(bias.shape[1], np.nan, np.float32)
        if opinion:
            value = np.log(max(value, np.float32(LEAST_OPINION)))
        inputs[c] = (value - centre[c]) / scale[c]
    n_place, n_labels = len(place), bias.shape[1]
    scores = bias[subset].copy()
    for c in range(n_place):
        for label in range(n_labels):
            scores[label] += place[c] * weights[subset, c, label]
    for k in range(len(starts) - 1):
        if subset >> k & 1:
            for c in range(starts[k], starts[k + 1]):
                for label in range(n_labels):
                    scores[label] += inputs[c] * weights[subset, n_place + c, label]
    top = scores.max()
    total = np.float32(0)
    for label in range(n_labels):
        scores[label] = np.exp(scores[label] - top)
        total += scores[label]
    for label in range(n_labels):
        scores[label] /= total
    return scores
