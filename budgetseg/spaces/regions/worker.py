"""The worker computes descriptors, and H's probabilities from them."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from threading import Event, Thread, get_ident

import numpy as np
from numba import njit

from budgetseg.classifiers.samples import place_of
from budgetseg.classifiers.subsets import LEAST_OPINION, SubsetClassifiers
from budgetseg.descriptors.live import LiveDescriptors, SpentTogether
from budgetseg.engine.loop import LATE, Outcome
from budgetseg.policy.episode import Episode
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.timing.clock import Clock
from budgetseg.timing.deadline import LateError
from budgetseg.types import Batch, Float32, Int32, Int64

__all__ = ["Worker"]


class DroppedError(Exception):
    """A descriptor cannot be computed; the message is the reason."""


class Worker:
    """Computes descriptors of a scene, and H's probabilities from them.

    Parameters
    ----------
    live : computes descriptors
    classifiers : H
    clock : measures calls; a simulated one is charged with their predicted seconds
    settings : how long plug-ins may take
    guarded : names of plug-in descriptors, which may fail or never return

    Attributes
    ----------
    inputs : (N, d) float32, descriptors that were computed, as H scales them, side by side
    n_asked, asking_s : number of predictions of H, and the seconds of all calls beside their descriptors
    """

    def __init__(
        self,
        live: LiveDescriptors,
        classifiers: SubsetClassifiers,
        clock: Clock,
        settings: RegionSettings | None = None,
        guarded: Sequence[str] = (),
    ) -> None:
        graph = live.scene.supervoxels.graph
        h = classifiers
        n_place = h.lengths[0]
        self.live = live
        self.names = h.names
        self.guarded = frozenset(guarded)
        self._clock = clock
        self._settings = settings or RegionSettings()
        self.inputs = np.zeros((len(graph), sum(h.lengths) - n_place), np.float32)
        self._place = (place_of(graph) - h.centre[:n_place]) / h.scale[:n_place]
        self._starts = h.starts
        self._opinion = np.array([name in h.opinions for name in h.names])
        self._scaling = h.centre[n_place:], h.scale[n_place:]
        self._h = h.weights, h.bias + h.favour
        self.n_asked = 0
        self.asking_s = 0.0

    def __call__(self, episode: Episode, batch: Batch) -> Outcome:
        """Do a batch. Supervoxels with the same descriptor are done in one call; those of plug-ins one by one."""
        outcome = self._compute_batch(episode, batch)
        if not self._clock.is_simulated:
            return outcome
        self._clock.charge(float(batch.planned_s.sum()))
        return outcome._replace(spent_s=batch.planned_s, shared_s=np.zeros(len(batch.places)))

    def _compute_batch(self, episode: Episode, batch: Batch) -> Outcome:
        n = len(batch.places)
        descriptors = batch.sources.tolist()
        if descriptors.count(descriptors[0]) == n and self.names[descriptors[0]] not in self.guarded:
            return self._predict(episode, batch.places, descriptors[0])
        whole = self._nothing(n)
        for d in dict.fromkeys(descriptors):
            actions = [k for k, other in enumerate(descriptors) if other == d]
            is_guarded = self.names[d] in self.guarded
            for call in [[k] for k in actions] if is_guarded else [actions]:
                part = self._predict(episode, batch.places[call], d)
                whole.values[call], whole.spent_s[call], whole.shared_s[call] = part[:3]
                whole.missing.update((call[k], why) for k, why in part.missing.items())
                if part.missing and is_guarded:  # a plug-in that hangs is not called again
                    whole.missing.update((k, part.missing[0]) for k in actions if k > call[0])
                    break
        return whole

    def _nothing(self, n: int) -> Outcome:
        """An outcome of n actions, to be filled in."""
        return Outcome(np.full((n, self._h[1].shape[1]), np.nan, np.float32), np.zeros(n), np.zeros(n), {})

    def _predict(self, episode: Episode, regions: Int64, d: int) -> Outcome:
        """The outcome of descriptor d of several supervoxels."""
        n = len(regions)
        began_s = self._clock.now_s()
        try:
            spent = self._compute(episode, regions, d)
            done = regions[: len(spent.vectors)]
            probabilities, is_finite = self._take(spent.vectors, done, d, episode.state.subsets[done] | 1 << d)
        except (LateError, DroppedError) as error:
            why = LATE if isinstance(error, LateError) else str(error)
            return self._nothing(n)._replace(missing=dict.fromkeys(range(n), why))
        took_s = self._clock.now_s() - began_s
        shared_s = np.zeros(n)
        n_done = len(done)
        for k, bill in spent.bills.items():
            shared_s[k] = bill.total_s
        self.n_asked += n_done
        self.asking_s = self.asking_s + took_s - spent.took_s
        outcome = Outcome(probabilities, (took_s - shared_s.sum()) / n_done + shared_s, shared_s, {})
        if not is_finite:
            bad = np.flatnonzero(~(np.isfinite(spent.vectors).all(axis=1) & np.isfinite(probabilities).all(axis=1)))
            outcome.missing.update(dict.fromkeys(bad.tolist(), "is not finite"))
        if n_done == n:
            return outcome
        outcome.missing.update(dict.fromkeys(range(n_done, n), LATE))
        return outcome._replace(values=np.concatenate([probabilities, self._nothing(n - n_done).values]))

    def _take(self, vectors: Float32, regions: Int64, d: int, subsets: Int32) -> tuple[Float32, bool]:
        """H's probabilities with descriptor d of K supervoxels, (K, L), and whether all numbers are finite."""
        length = int(self._starts[d + 1] - self._starts[d])
        if vectors.shape[1:] != (length,):
            raise DroppedError(f"is {vectors.shape[1:]}, not ({length},)")
        if len(vectors) != len(regions):
            raise DroppedError(f"has {len(vectors)} vectors for {len(regions)} supervoxels")
        scaling = *self._scaling, bool(self._opinion[d])
        is_finite = _enter(vectors, regions, self._starts[d], *scaling, self.inputs)
        probabilities: Float32 = _classify(self.inputs, self._place, regions, subsets, self._starts, *self._h)
        return probabilities, bool(is_finite and np.isfinite(probabilities.sum()))

    def _compute(self, episode: Episode, regions: Int64, d: int) -> SpentTogether:
        name = self.names[d]
        try:
            if name in self.guarded:
                patience_s = self._settings.patience * episode.cost_s(int(regions[0]), d) + self._settings.patience_s
                spent = self._guarded(name, regions, patience_s, episode.left_s)
            else:
                spent = self.live.compute_all(regions, name)
            if spent.vectors.dtype == np.float32:
                return spent
            return replace(spent, vectors=np.asarray(spent.vectors, np.float32))  # a plug-in may return anything
        except (DroppedError, LateError):
            raise
        except Exception as error:  # a plug-in may raise anything, and the run must go on
            raise DroppedError(f"failed ({type(error).__name__}: {error})") from error

    def _guarded(self, name: str, regions: Int64, patience_s: float, left_s: float) -> SpentTogether:
        """Compute a plug-in descriptor in a thread of its own, which is abandoned if it does not return in time."""
        result: Future[SpentTogether] = Future()
        is_done = Event()
        most_s = min(patience_s, left_s)

        def compute() -> None:
            try:
                result.set_result(self.live.compute_all(regions, name))
            except Exception as error:
                result.set_exception(error)
            self.live.left_behind.discard(get_ident())  # a later thread may be given its number
            is_done.set()

        end_s = self._clock.now_s() + most_s
        thread = Thread(target=compute, daemon=True)  # for a thread of a pool, the program would wait at its end
        thread.start()
        while not self._clock.wait(is_done, max(end_s - self._clock.now_s(), 0.0)):
            if self._clock.now_s() >= end_s:
                if thread.ident is not None and thread.is_alive():
                    self.live.left_behind.add(thread.ident)
                raise DroppedError(f"did not return within {most_s:.2f} s")
        return result.result()


@njit(cache=True, nogil=True)
def _enter(vectors, regions, start, centre, scale, opinion, inputs):  # type: ignore[no-untyped-def]
    """Write a descriptor of K supervoxels to `inputs`, from column `start` on, as H scales it. Whether it is finite."""
    is_finite = True
    for row, i in enumerate(regions):
        for c in range(vectors.shape[1]):
            value = vectors[row, c]
            is_finite &= np.isfinite(value)
            if opinion:
                value = np.log(max(value, np.float32(LEAST_OPINION)))
            inputs[i, start + c] = (value - centre[start + c]) / scale[start + c]
    return is_finite


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _classify(inputs, place, regions, subsets, starts, weights, bias):  # type: ignore[no-untyped-def]
    """H's probabilities of K supervoxels, (K, L)."""
    n_place = place.shape[1]
    n_labels = bias.shape[1]
    probabilities = np.empty((len(regions), n_labels), np.float32)
    for row, i in enumerate(regions):
        subset = subsets[row]
        scores = probabilities[row]
        scores[:] = bias[subset]
        for c in range(n_place):
            for label in range(n_labels):
                scores[label] += place[i, c] * weights[subset, c, label]
        for k in range(len(starts) - 1):
            if subset >> k & 1:
                for c in range(starts[k], starts[k + 1]):
                    for label in range(n_labels):
                        scores[label] += inputs[i, c] * weights[subset, n_place + c, label]
        top = scores.max()
        total = np.float32(0)
        for label in range(n_labels):
            scores[label] = np.exp(scores[label] - top)
            total += scores[label]
        for label in range(n_labels):
            scores[label] /= total
    return probabilities
