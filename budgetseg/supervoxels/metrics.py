"""Quality of supervoxels against semantic labels, by the usual measures.

    n      number of supervoxels
    BR3D   share of label-boundary voxels with a supervoxel boundary in the 3x3x3 box around them
    UE     mean over classes of (total size of the supervoxels that touch the class - its size) / its size
    UEnp   sum over classes and supervoxels of min(inside, outside), over the number of voxels
    SA3D   mean over classes of the share of the class covered by supervoxels whose majority is that class
    ASA    share of voxels whose class is the majority class of their supervoxel
    EV     share of the variance of the colours that the supervoxels' mean colours explain (ignored voxels included)
    bd     share of pixels on supervoxel boundaries within a frame; boundary recall is only fair at like bd
    dur    mean number of frames a supervoxel lives

Voxels labelled `IGNORE` are left out except where said.

References
----------
Xu and Corso, LIBSVX: a supervoxel library and benchmark for early video processing, IJCV 2016.
"""

import cv2
import numpy as np

from budgetseg.errors import UsageError
from budgetseg.supervoxels.truth import achievable_accuracy, count_labels
from budgetseg.types import IGNORE, Bool, Int32, Int64, UInt8
from budgetseg.video.draw import boundaries

__all__ = ["measure"]


def measure(ids: Int32, labels: UInt8, frames: UInt8) -> dict[str, float]:
    """All measures of ids (T, H, W), 0..N-1, against labels (T, H, W) on frames (T, H, W, 3)."""
    n = int(ids.max()) + 1
    counts = count_labels(ids, labels, IGNORE)
    counts = counts[:, counts.any(axis=0)]
    if counts.shape[1] == 0:
        raise UsageError("no pixel has a label to measure against; give labels other than IGNORE")
    return {
        "n": n,
        "BR3D": _boundary_recall(ids, labels),
        **_overlap(counts),
        "ASA": achievable_accuracy(counts),
        "EV": _explained_variation(ids, frames, n),
        "bd": float(np.mean([boundaries(frame).mean() for frame in ids])),
        "dur": sum(len(np.unique(frame)) for frame in ids) / n,
    }


def _overlap(counts: Int64) -> dict[str, float]:
    sizes = counts.sum(axis=1)
    class_sizes = counts.sum(axis=0)
    majority = counts.argmax(axis=1)
    touched = np.where(counts > 0, sizes[:, None], 0).sum(axis=0)
    won = np.bincount(majority, counts.max(axis=1), len(class_sizes))
    return {
        "UE": float(np.mean((touched - class_sizes) / class_sizes)),
        "UEnp": float(np.minimum(counts, sizes[:, None] - counts).sum() / sizes.sum()),
        "SA3D": float(np.mean(won / class_sizes)),
    }


def _boundary_recall(ids: Int32, labels: UInt8) -> float:
    """Boundary recall, computed frame by frame, since the masks of a whole clip would be larger than the clip."""
    found = hit = 0
    marks = [_wide(_boundary(*pair)) for pair in _with_next(ids)]
    for t, (here, then) in enumerate(_with_next(labels)):
        truth = _boundary(here, then, skip=IGNORE)
        near = np.logical_or.reduce(marks[max(t - 1, 0) : t + 2])
        found += int(truth.sum())
        hit += int((truth & near).sum())
    return hit / max(found, 1)


def _with_next(volume: UInt8 | Int32) -> list[tuple[UInt8 | Int32, UInt8 | Int32]]:
    """Every frame with the one after it; the last with itself."""
    return [(volume[t], volume[min(t + 1, len(volume) - 1)]) for t in range(len(volume))]


def _boundary(here: UInt8 | Int32, then: UInt8 | Int32, skip: int | None = None) -> Bool:
    """Pixels that differ from the right, lower or next one, neither of the two being `skip`."""
    found = _differs(here, then, skip)
    found[:, :-1] |= _differs(here[:, :-1], here[:, 1:], skip)
    found[:-1] |= _differs(here[:-1], here[1:], skip)
    return found


def _differs(a: UInt8 | Int32, b: UInt8 | Int32, skip: int | None) -> Bool:
    return np.asarray(a != b if skip is None else (a != b) & (a != skip) & (b != skip))


def _wide(mask: Bool) -> Bool:
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)), np.bool_)


def _explained_variation(ids: Int32, frames: UInt8, n: int) -> float:
    sizes = np.bincount(ids.ravel(), minlength=n)
    between = 0.0
    total = 0.0
    for channel in range(3):
        values = frames[..., channel].ravel().astype(np.float64)
        means = np.bincount(ids.ravel(), values, n) / np.maximum(sizes, 1)
        between += float((sizes * (means - values.mean()) ** 2).sum())
        total += float(((values - values.mean()) ** 2).sum())
    return between / total if total > 0 else 1.0
