"""Folds of labelled frames, for networks that predict frames they were not trained on."""

from collections.abc import Sequence

import numpy as np

from budgetseg.folds import assign_folds
from budgetseg.types import IGNORE, Int32, UInt8

__all__ = ["frame_folds"]


def frame_folds(labels: Sequence[UInt8], n_folds: int) -> list[Int32]:
    """Fold 0..n_folds-1 of every frame of every video, given the labels (K, H, W) of each video."""
    presence = np.array([np.bincount(np.unique(video), minlength=IGNORE + 1)[:IGNORE] > 0 for video in labels])
    times = [(np.arange(len(video)) + 0.5) / max(len(video), 1) for video in labels]
    return assign_folds(presence, [len(video) for video in labels], times, n_folds)
