"""Accuracy of a labelling: per class, averaged over classes, over all pixels, and by overlap."""

from dataclasses import dataclass

import numpy as np

from budgetseg.types import IGNORE, Float64, Int32, Int64, UInt8

__all__ = ["Accuracy", "accuracy_of", "confusion_of", "confusion_of_pixels"]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Accuracy over labelled pixels, 0 to 1; nan if there are none.

    Attributes
    ----------
    overall : share of the pixels that are right, the global accuracy
    class_average : mean over the classes that occur of the share of their pixels that are right
    miou : mean over the classes that occur of intersection over union
    per_class : (L,) share of the pixels of each class that are right; nan for those that do not occur
    """

    overall: float
    class_average: float
    miou: float
    per_class: Float64


def confusion_of(truth: Int64, labels: Int32) -> Int64:
    """Numbers of pixels by true class and label, (L, L), from labelled pixels (N, L) and labels (N,) of supervoxels."""
    n_labels = truth.shape[1]
    confusion = np.zeros((n_labels, n_labels), np.int64)
    for label in np.unique(labels):
        confusion[:, label] = truth[labels == label].sum(axis=0)
    return confusion


def confusion_of_pixels(truth: UInt8, labels: UInt8, n_labels: int) -> Int64:
    """Numbers of pixels by true class and label, (L, L), of two labellings of one shape, without unlabelled pixels."""
    kept = truth != IGNORE
    pairs = truth[kept].astype(np.int64) * n_labels + labels[kept]
    return np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels)


def accuracy_of(confusion: Int64) -> Accuracy:
    """Accuracy from a confusion matrix (L, L), which may be summed over videos."""
    right = np.diag(confusion)
    true = confusion.sum(axis=1)
    predicted = confusion.sum(axis=0)
    there = true > 0
    per_class = np.full(len(true), np.nan)
    per_class[there] = right[there] / true[there]
    overlap = right[there] / (true + predicted - right)[there]
    if not there.any():
        return Accuracy(np.nan, np.nan, np.nan, per_class)
    overall = float(right.sum() / true.sum())
    return Accuracy(overall, float(per_class[there].mean()), float(overlap.mean()), per_class)
