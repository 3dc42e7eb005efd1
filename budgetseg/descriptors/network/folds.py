"""Which frames a network has not seen: what it says about those it was trained on must not train anything else."""

from collections.abc import Sequence

import numpy as np

from budgetseg.types import IGNORE, Int32, UInt8

__all__ = ["assign_folds"]


def assign_folds(labels: Sequence[UInt8], n_folds: int) -> list[Int32]:
    """Fold 0..n_folds-1 of every frame of every video, given the labels (K, H, W) of each video.

    Whole videos share a fold, balanced by frames, as long as every class is also found outside its fold. Where a class
    occurs in one fold only (videos that have little in common), each video is cut into blocks of time instead.
    """
    by_video = _by_video([len(video) for video in labels], n_folds)
    presence = [np.bincount(np.unique(video), minlength=IGNORE + 1)[:IGNORE] > 0 for video in labels]
    for fold in range(n_folds):
        inside = [seen for seen, own in zip(presence, by_video, strict=True) if own == fold]
        outside = [seen for seen, own in zip(presence, by_video, strict=True) if own != fold]
        if not inside or not outside or np.any(np.any(inside, axis=0) & ~np.any(outside, axis=0)):
            return [_blocks(len(video), n_folds) for video in labels]
    return [np.full(len(video), fold, np.int32) for video, fold in zip(labels, by_video, strict=True)]


def _by_video(lengths: list[int], n_folds: int) -> list[int]:
    """The longest video first, each to the fold that has least."""
    folds, filled = [0] * len(lengths), [0] * n_folds
    for video in sorted(range(len(lengths)), key=lambda video: (-lengths[video], video)):
        folds[video] = filled.index(min(filled))
        filled[folds[video]] += lengths[video]
    return folds


def _blocks(length: int, n_folds: int) -> Int32:
    return (np.arange(length) * n_folds // max(length, 1)).astype(np.int32)
