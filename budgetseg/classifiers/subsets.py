"""H: one multinomial logistic regression for every subset of descriptors, asked in one call."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from budgetseg.classifiers.logistic import softmax
from budgetseg.errors import UsageError
from budgetseg.types import Bool, Float32, Float64, Int32, Int64

__all__ = ["SubsetClassifiers"]

LEAST_OPINION = 1e-3  # probability below which a network's doubt says no more


@dataclass(frozen=True, eq=False)
class SubsetClassifiers:
    """Class probabilities from whichever descriptors were computed.

    A subset is a whole number: bit d is set where descriptor d was computed. Subset 0, where none was, knows the place
    of a supervoxel alone. Inputs are the place, then the descriptors, d figures in all.

    Attributes
    ----------
    names : of the D descriptors
    lengths : of the place and of each descriptor
    centre, scale : (d,) float32; inputs enter as (input - centre) / scale, a descriptor sharing one scale
    weights : (2^D, d, L) float32, zero where a subset has no descriptor
    bias : (2^D, L) float32
    prior : (L,) share of each class among the labelled pixels of training
    favour : (2^D, L) float32, added to scores so that rare classes are not forgotten; probabilities are calibrated
        without it
    opinions : descriptors that are probabilities of the classes themselves; they enter as logarithms
    """

    names: tuple[str, ...]
    lengths: tuple[int, ...]
    centre: Float32
    scale: Float32
    weights: Float32
    bias: Float32
    prior: Float64
    favour: Float32
    opinions: tuple[str, ...] = ()

    @property
    def n_subsets(self) -> int:
        """2^D."""
        return int(self.bias.shape[0])

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.bias.shape[1])

    @property
    def starts(self) -> Int64:
        """(D + 1,); the columns of descriptor k in `scaled` are starts[k] to starts[k + 1]."""
        return np.cumsum([0, *self.lengths[1:]], dtype=np.int64)

    def subset_of(self, names: Collection[str]) -> int:
        """The subset of these descriptors."""
        for name in names:
            if name not in self.names:
                raise UsageError(f"the model knows no descriptor '{name}'; choose from {', '.join(self.names)}")
        return sum(1 << d for d, name in enumerate(self.names) if name in names)

    def scaled(self, values: Mapping[str, Float32]) -> Float32:
        """All descriptors as the classifiers see them, (N, d - place), side by side."""
        inputs = np.concatenate([entering(values, name, self.opinions) for name in self.names], axis=1)
        mine = slice(self.lengths[0], None)
        return np.asarray((inputs - self.centre[mine]) / self.scale[mine], np.float32)

    def calibrated(self) -> "SubsetClassifiers":
        """The same, favouring no class: what its probabilities say is then as frequent as they say."""
        return replace(self, favour=np.zeros_like(self.favour))

    def predict(self, values: Mapping[str, Float32], place: Float32, subsets: Int32) -> Float32:
        """Probabilities (N, L) of N supervoxels; values that are not in a supervoxel's subset are not looked at."""
        probabilities = np.empty((len(place), self.n_labels), np.float32)
        for subset in np.unique(subsets):
            rows = np.flatnonzero(subsets == subset)
            probabilities[rows] = self._predict_alike(values, place, int(subset), rows)
        return probabilities

    def predict_all(self, values: Mapping[str, Float32], place: Float32) -> Float32:
        """Probabilities for every subset, (N, 2^D, L): what a simulation asks again and again."""
        everyone = np.arange(len(place))
        each = [self._predict_alike(values, place, subset, everyone) for subset in range(self.n_subsets)]
        return np.stack(each, axis=1)

    def _predict_alike(self, values: Mapping[str, Float32], place: Float32, subset: int, rows: Int64) -> Float32:
        used = [name for d, name in enumerate(self.names) if subset >> d & 1]
        own = {name: values[name][rows] for name in used}
        inputs = np.concatenate([place[rows], *(entering(own, name, self.opinions) for name in used)], axis=1)
        check_finite(inputs, own, rows)
        columns = columns_of(subset, self.lengths)
        scaled = (inputs - self.centre[columns]) / self.scale[columns]
        return softmax(scaled @ self.weights[subset][columns] + self.bias[subset] + self.favour[subset])


def entering(values: Mapping[str, Float32], name: str, opinions: Collection[str]) -> Float32:
    """A descriptor as H takes it, before centring and scaling."""
    own = values[name]
    return np.log(np.maximum(own, np.float32(LEAST_OPINION))) if name in opinions else own


def columns_of(subset: int, lengths: tuple[int, ...]) -> Bool:
    """Which of the d inputs a subset has: the place, and the descriptors of its bits."""
    has = [True, *(bool(subset >> d & 1) for d in range(len(lengths) - 1))]
    return np.repeat(has, lengths)


def check_finite(inputs: Float32, values: Mapping[str, Float32], rows: Int64) -> None:
    """Refuse what a descriptor should never have said, by name; `rows` are the numbers of the supervoxels."""
    if np.isfinite(inputs).all():
        return
    for name, own in values.items():
        bad = rows[~np.isfinite(own).all(axis=1)]
        if len(bad):
            raise UsageError(f"descriptor '{name}' of supervoxel {bad[0]} is not finite; correct the descriptor")
