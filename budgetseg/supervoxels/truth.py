"""Ground truth of supervoxels: the majority label of their pixels, and how much of the truth they can express."""

from collections.abc import Sequence

import numpy as np

from budgetseg.types import IGNORE, Int32, Int64, UInt8

__all__ = ["achievable_accuracy", "count_labels", "majority_labels"]


def count_labels(ids: Int32, labels: UInt8, n_labels: int, labelled: Sequence[int] | None = None) -> Int64:
    """Number of labelled pixels of each class in every supervoxel, (N, L) int64.

    Parameters
    ----------
    ids : (T, H, W), 0..N-1
    labels : (K, H, W), class index or `IGNORE`
    n_labels : number of classes, L
    labelled : the K frames that `labels` belong to; all T if None
    """
    n = int(ids.max()) + 1
    counts = np.zeros(n * n_labels, np.int64)
    for t, truth in zip(range(len(ids)) if labelled is None else labelled, labels, strict=True):
        kept = truth != IGNORE
        counts += np.bincount(ids[t][kept].astype(np.int64) * n_labels + truth[kept], minlength=len(counts))
    return counts.reshape(n, n_labels)


def majority_labels(counts: Int64) -> UInt8:
    """Most frequent class of each supervoxel, (N,), of equal ones the lower; `IGNORE` if no pixel is labelled."""
    majority: UInt8 = counts.argmax(axis=1).astype(np.uint8)
    majority[counts.sum(axis=1) == 0] = IGNORE
    return majority


def achievable_accuracy(counts: Int64) -> float:
    """Share of labelled pixels that are right if every supervoxel has its majority label (ASA)."""
    return float(counts.max(axis=1).sum() / max(counts.sum(), 1))
