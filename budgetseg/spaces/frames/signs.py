"""Signs of how right the labels of a video are, from what a run has seen of it. No label is known to be right."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from budgetseg.engine.result import Result
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.types import IGNORE, Float64, Int64, UInt8

__all__ = ["Layout", "Signs", "layout_of", "signs_of"]


@dataclass(frozen=True)
class Layout:
    """How finely it is looked at where classes lie.

    Attributes
    ----------
    rows, columns : parts of a frame
    frames : of a video, at most, spread over it
    points : looked at in each part, along each side
    """

    rows: int = 6
    columns: int = 8
    frames: int = 64
    points: int = 8


@dataclass(frozen=True, eq=False)
class Signs:
    """What the labels of a video show.

    Attributes
    ----------
    confidence : mean probability of the labels, 0 to 1
    lost : points that labels lose by being carried, as far as that was found out on the video
    layout : (rows, columns, L) share that each class has of each part of the frame; each part adds up to one
    """

    confidence: float
    lost: float
    layout: Float64


def signs_of(result: Result, lost_at_border: float, frames: slice = slice(None)) -> Signs | None:
    """Signs of a result of the frames space, or of some of its frames; None where nothing was predicted.

    Parameters
    ----------
    result : of a run
    lost_at_border : points that a window loses that has the labels of another one
    frames : which ones; all windows must have predictions then
    """
    known = [found for found in result.evidence if isinstance(found, FrameEvidence)]
    if not known:
        return None
    cells = np.concatenate([found.cells.mean(axis=(1, 2), dtype=np.float64) / 255 for found in known])[frames]
    lost = np.concatenate([np.zeros(len(own.cells)) if own.lost is None else own.lost for own in known])[frames]
    labels = result.labels[frames]
    n_copied = max(len(labels) - len(lost), 0)
    layout = layout_of(labels, len(result.classes))
    return Signs(float(cells.mean()), float(lost.sum() + n_copied * lost_at_border) / (len(lost) + n_copied), layout)


def layout_of(labels: UInt8, n_labels: int, how: Layout | None = None) -> Float64:
    """Where classes lie in labels (T, H, W): the share of each in each part of the frame, (rows, columns, L).

    Pixels without a label do not count; a part that has no labels at all has all classes alike.
    """
    how = how or Layout()
    some = _spread(len(labels), how.frames)
    ys = _spread(labels.shape[1], how.rows * how.points)
    xs = _spread(labels.shape[2], how.columns * how.points)
    found = np.empty((how.rows, how.columns, n_labels))
    seen = labels[np.ix_(some, ys, xs)]
    rows = np.linspace(0, len(ys), how.rows + 1).astype(int)
    columns = np.linspace(0, len(xs), how.columns + 1).astype(int)
    for r, (top, bottom) in enumerate(pairwise(rows)):
        for c, (left, right) in enumerate(pairwise(columns)):
            part = seen[:, top:bottom, left:right].ravel()
            counts = np.bincount(part[part != IGNORE], minlength=n_labels)[:n_labels]
            found[r, c] = counts / counts.sum() if counts.any() else 1 / n_labels
    return found


def _spread(n: int, most: int) -> Int64:
    """Indices of at most so many of n things, evenly spread."""
    count = min(n, most)
    return ((np.arange(count) + 0.5) * n / count).astype(np.int64)
