"""Folds of videos: what was learned must be judged on what it has not seen."""

from collections.abc import Sequence

import numpy as np

from budgetseg.types import Bool, Float64, Int32

__all__ = ["assign_folds"]


def assign_folds(presence: Bool, lengths: Sequence[int], times: Sequence[Float64], n_folds: int) -> list[Int32]:
    """Fold 0..n_folds-1 of every item of every video.

    Whole videos share a fold, balanced by frames, as long as every class is also found outside its fold. Where a class
    occurs in one fold only (videos that have little in common), each video is cut into blocks of time instead.

    Parameters
    ----------
    presence : (V, L), whether a class occurs in a video
    lengths : frames of each video
    times : for each video, when its items (frames, supervoxels) are, 0 to 1
    n_folds : how many
    """
    by_video = _by_video(lengths, n_folds)
    for fold in range(n_folds):
        inside, outside = presence[by_video == fold], presence[by_video != fold]
        if not len(inside) or not len(outside) or np.any(inside.any(axis=0) & ~outside.any(axis=0)):
            return [np.clip((own * n_folds).astype(np.int32), 0, n_folds - 1) for own in times]
    return [np.full(len(own), fold, np.int32) for own, fold in zip(times, by_video, strict=True)]


def _by_video(lengths: Sequence[int], n_folds: int) -> Int32:
    """The longest video first, each to the fold that has least."""
    folds, filled = np.zeros(len(lengths), np.int32), [0] * n_folds
    for video in sorted(range(len(lengths)), key=lambda video: (-lengths[video], video)):
        folds[video] = filled.index(min(filled))
        filled[folds[video]] += lengths[video]
    return folds
