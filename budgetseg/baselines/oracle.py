"""Key frames that somebody would choose who knows the true labels: what choosing could gain at most, or nearly.

One key frame after the other is added, each time the one that raises mean IoU most, with predictions carried and fused
as by the engine. No clock is read, and all is judged in cells. It is greedy: another set may be better still.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.chains import chains_to
from budgetseg.propagate.fusion import Source, fuse, neighbours
from budgetseg.propagate.settings import Propagation
from budgetseg.propagate.timeline import Timeline
from budgetseg.types import IGNORE, Float32, Float64, Int64, UInt8

__all__ = ["Scene", "greedy_keys"]


@dataclass(frozen=True, eq=False)
class Scene:
    """A video about which everything is known, in cells (h, w).

    Attributes
    ----------
    answers : (T, h, w, L) of one network, float32
    grey : (T, h, w)
    steps : T - 1 flows (h, w, 2), from each frame but the first to the one before
    timeline : where frames lie
    truth : (T, h, w) true classes
    settings : of carrying and fusing
    """

    answers: Float32
    grey: Float32
    steps: Sequence[Float32]
    timeline: Timeline
    truth: UInt8
    settings: Propagation = field(default_factory=Propagation)


def greedy_keys(scene: Scene, n_keys: int) -> list[int]:
    """Numbers of key frames, in the order in which they are chosen: every beginning is a choice of its own."""
    chosen: list[int] = []
    trials = _Trials(scene)
    for _ in range(min(n_keys, len(scene.answers))):
        others = [t for t in range(len(scene.answers)) if t not in chosen]
        best = max(others, key=trials.miou)
        trials.take(best)
        chosen.append(best)
    return chosen


class _Trials:
    """The key frames so far, and what one more would change.

    Parameters
    ----------
    scene : that they are chosen for
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._n_labels = scene.answers.shape[-1]
        self._tops = [top_classes(answer) for answer in scene.answers]
        self._keys: list[int] = []
        self._sources: list[list[tuple[int, int]]] = [[] for _ in scene.answers]
        self._confusions: Int64 = np.zeros((len(scene.answers), self._n_labels, self._n_labels), np.int64)
        self._chains: dict[int, dict[int, Float32]] = {}
        self._known: dict[int, tuple[set[int], Int64]] = {}

    def miou(self, key: int) -> float:
        """Mean IoU with one more key frame."""
        if key not in self._known:
            changed, sources = self._changed(key)
            gain = sum(self._confusion(t, sources[t]) - self._confusions[t] for t in sorted(changed))
            self._known[key] = changed, np.asarray(gain)
            del self._chains[key]  # those of all frames would take much memory
        return _miou(self._confusions.sum(axis=0) + self._known[key][1])

    def take(self, key: int) -> None:
        """Add a key frame."""
        changed, sources = self._changed(key)
        for t in changed:
            self._confusions[t] = self._confusion(t, sources[t])
        insort(self._keys, key)
        self._sources = sources
        # Elsewhere nothing is fused differently, so what was tried there still holds.
        self._known = {other: known for other, known in self._known.items() if not known[0] & changed}

    def _changed(self, key: int) -> tuple[set[int], list[list[tuple[int, int]]]]:
        """Frames that are fused from other key frames once there is one more, and those of all frames then."""
        scene = self._scene
        sources = neighbours([sorted([*self._keys, key])], scene.timeline, scene.settings.reach)
        changed = {t for t, own in enumerate(sources) if own != self._sources[t]}
        height, width = scene.truth.shape[1:]
        self._chains[key] = chains_to(key, min(changed | {key}), max(changed | {key}), scene.steps, (height, width))
        return changed, sources

    def _confusion(self, t: int, pairs: Sequence[tuple[int, int]]) -> Int64:
        """Numbers of cells by true class and label of one frame, (L, L)."""
        scene = self._scene
        keys = [key for _, key in pairs]
        top = self._tops[t]
        if keys != [t]:
            sources = [
                Source(
                    scene.answers[key],
                    self._tops[key],
                    scene.grey[key],
                    self._chains[key][t],
                    1 / (scene.timeline.distance(key, t) + scene.settings.near),
                )
                for key in keys
            ]
            top = fuse(scene.grey[t], sources, scene.settings).top
        truth = scene.truth[t]
        kept = truth != IGNORE
        pairs_of = truth[kept].astype(np.int64) * self._n_labels + top[kept]
        return np.bincount(pairs_of, minlength=self._n_labels**2).reshape(self._n_labels, self._n_labels)


def _miou(confusion: Int64) -> float:
    right: NDArray[np.int64] = np.diag(confusion)
    true = confusion.sum(axis=1)
    whole: Float64 = (true + confusion.sum(axis=0) - right).astype(np.float64)
    return float((right[true > 0] / whole[true > 0]).mean())
