"""How right a labelling is: per class, on average, over all pixels, and by overlap."""

from dataclasses import dataclass

import numpy as np

from budgetseg.types import IGNORE, Float64, Int32, Int64, UInt8

__all__ = ["Accuracy", "accuracy_of", "confusion_of", "confusion_of_pixels"]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Figures over labelled pixels, 0 to 1; nan where there are none.

    Attributes
    ----------
    overall : share of pixels that are right, the global accuracy
    class_average : mean over the classes that occur of the share of their pixels that are right
    miou : mean over the classes that occur of intersection over union
    per_class : (L,) share of the pixels of each class that are right; nan for those that do not occur
    """

    overall: float
    class_average: float
    miou: float
    per_class: Float64


def confusion_of(truth: Int64, labels: Int32) -> Int64:
    """Pixels by true class and label, (L, L), from the labelled pixels (N, L) of supervoxels and their labels (N,)."""
    n_labels = truth.shape[1]
    confusion = np.zeros((n_labels, n_labels), np.int64)
    for label in np.unique(labels):
        confusion[:, label] = truth[labels == label].sum(axis=0)
    return confusion


def confusion_of_pixels(truth: UInt8, labels: UInt8, n_labels: int) -> Int64:
    """Pixels by true class and label, (L, L), from two labellings of one shape; those without a class are left out."""
    kept = truth != IGNORE
    pairs = truth[kept].astype(np.int64) * n_labels + labels[kept]
    return np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels)


def accuracy_of(confusion: Int64) -> Accuracy:
    """Figures of a confusion (L, L), summed over as many videos as one likes."""
    right, true, predicted = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
    there = true > 0
    per_class = np.full(len(true), np.nan)
    per_class[there] = right[there] / true[there]
    overlap = right[there] / (true + predicted - right)[there]
    if not there.any():
        return Accuracy(np.nan, np.nan, np.nan, per_class)
    overall = float(right.sum() / true.sum())
    return Accuracy(overall, float(per_class[there].mean()), float(overlap.mean()), per_class)
