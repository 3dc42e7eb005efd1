"""H: a multinomial logistic regression for every subset of descriptors, behind one call."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from budgetseg.classifiers.logistic import softmax
from budgetseg.errors import UsageError
from budgetseg.types import Bool, Float32, Float64, Int32, Int64

__all__ = ["SubsetClassifiers"]

LEAST_OPINION = 1e-3  # probabilities of a network below this count as this: smaller ones carry no more information


@dataclass(frozen=True, eq=False)
class SubsetClassifiers:
    """Predicts class probabilities from any subset of the descriptors.

    A subset is a whole number: bit d is set if descriptor d was computed. Subset 0 predicts from the place of a
    supervoxel alone. Inputs are the place, then the descriptors, d figures in all.

    Attributes
    ----------
    names : of the D descriptors
    lengths : of the place and of each descriptor
    centre, scale : (d,) float32; inputs enter as (input - centre) / scale, with one scale for all of a descriptor
    weights : (2^D, d, L) float32, zero for descriptors that a subset does not have
    bias : (2^D, L) float32
    prior : (L,) share of each class among the labelled pixels of training
    favour : (2^D, L) float32, added to scores in favour of rare classes; probabilities are calibrated without it
    opinions : names of descriptors that are class probabilities themselves; they enter as logarithms
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
        """Number of subsets, 2^D."""
        return int(self.bias.shape[0])

    @property
    def n_labels(self) -> int:
        """Number of classes, L."""
        return int(self.bias.shape[1])

    @property
    def starts(self) -> Int64:
        """(D + 1,); the columns of descriptor k in `scaled` are starts[k] to starts[k + 1]."""
        return np.cumsum([0, *self.lengths[1:]], dtype=np.int64)

    def subset_of(self, names: Collection[str]) -> int:
        """The subset of named descriptors, as bits; UsageError for a name that the model does not have."""
        for name in names:
            if name not in self.names:
                raise UsageError(f"the model knows no descriptor '{name}'; choose from {', '.join(self.names)}")
        return sum(1 << d for d, name in enumerate(self.names) if name in names)

    def scaled(self, values: Mapping[str, Float32]) -> Float32:
        """All descriptors as the classifiers use them, centred and scaled, (N, d - N_PLACE), side by side."""
        inputs = np.concatenate([entering(values, name, self.opinions) for name in self.names], axis=1)
        columns = slice(self.lengths[0], None)
        return np.asarray((inputs - self.centre[columns]) / self.scale[columns], np.float32)

    def calibrated(self) -> "SubsetClassifiers":
        """The same classifiers without favour for rare classes, so that their probabilities are calibrated."""
        return replace(self, favour=np.zeros_like(self.favour))

    def predict(self, values: Mapping[str, Float32], place: Float32, subsets: Int32) -> Float32:
        """Probabilities (N, L) of N supervoxels.

        Parameters
        ----------
        values : descriptors by name, (N, length) each; only those in a supervoxel's subset are read
        place : (N, N_PLACE)
        subsets : (N,) descriptors that each supervoxel has, as bits
        """
        probabilities = np.empty((len(place), self.n_labels), np.float32)
        for subset in np.unique(subsets):
            rows = np.flatnonzero(subsets == subset)
            probabilities[rows] = self._predict_subset(values, place, int(subset), rows)
        return probabilities

    def predict_all(self, values: Mapping[str, Float32], place: Float32) -> Float32:
        """Probabilities for every subset, (N, 2^D, L): the table that a simulation looks results up in."""
        rows = np.arange(len(place))
        by_subset = [self._predict_subset(values, place, subset, rows) for subset in range(self.n_subsets)]
        return np.stack(by_subset, axis=1)

    def _predict_subset(self, values: Mapping[str, Float32], place: Float32, subset: int, rows: Int64) -> Float32:
        used = [name for d, name in enumerate(self.names) if subset >> d & 1]
        selected = {name: values[name][rows] for name in used}
        inputs = np.concatenate([place[rows], *(entering(selected, name, self.opinions) for name in used)], axis=1)
        check_finite(inputs, selected, rows)
        columns = columns_of(subset, self.lengths)
        scaled = (inputs - self.centre[columns]) / self.scale[columns]
        return softmax(scaled @ self.weights[subset][columns] + self.bias[subset] + self.favour[subset])


def entering(values: Mapping[str, Float32], name: str, opinions: Collection[str]) -> Float32:
    """A descriptor as it enters H, before centring and scaling: class probabilities enter as logarithms."""
    vectors = values[name]
    return np.log(np.maximum(vectors, np.float32(LEAST_OPINION))) if name in opinions else vectors


def columns_of(subset: int, lengths: tuple[int, ...]) -> Bool:
    """Which of the d inputs a subset has, (d,) bool: the place, and the descriptors of its bits."""
    has = [True, *(bool(subset >> d & 1) for d in range(len(lengths) - 1))]
    return np.repeat(has, lengths)


def check_finite(inputs: Float32, values: Mapping[str, Float32], rows: Int64) -> None:
    """Raise UsageError with the name of a descriptor that is not finite; `rows` are the numbers of the supervoxels."""
    if np.isfinite(inputs).all():
        return
    for name, vectors in values.items():
        bad = rows[~np.isfinite(vectors).all(axis=1)]
        if len(bad):
            raise UsageError(f"descriptor '{name}' of supervoxel {bad[0]} is not finite; correct the descriptor")
