"""Temporal consistency: whether labels move with the picture, or flicker.

A pixel is consistent if its label is that of the place where optical flow finds it in the frame before. Only flow that
can be trusted counts: the flow back leads to where it began, and both places look alike. Flow is found once for each
video, whoever labels it, and outside every budget.
"""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from budgetseg.engine.threads import for_each, one_thread_each
from budgetseg.types import Bool, Float32, Int32, UInt8

__all__ = ["Trust", "agreement", "temporal_consistency", "trusted_origins"]


@dataclass(frozen=True)
class Trust:
    """Which flow is trusted. Flow is OpenCV's DIS with the preset MEDIUM.

    Attributes
    ----------
    most_pixels : flow is found, and labels are compared, on frames reduced to no more pixels than this
    slack : square of the pixels by which flow there and back may miss where it began
    share : the same for long flow, as a share of the squares of both lengths (Sundaram, Brox and Keutzer 2010)
    contrast : grey levels by which both places may differ
    least : share of a frame that must be trusted, else it counts as one that has nothing to do with the frame before
    """

    most_pixels: int = 480 * 360
    slack: float = 0.5
    share: float = 0.01
    contrast: float = 15.0
    least: float = 0.3


def trusted_origins(frames: UInt8, threads: int = 1, trust: Trust | None = None) -> Int32:
    """Where each pixel of a frame was in the frame before, (T - 1, h, w), as row * w + column; -1 if not trusted.

    Parameters
    ----------
    frames : (T, H, W, 3)
    threads : cores to use
    trust : None for the default
    """
    trust = trust or Trust()
    height, width = _size(frames.shape[1], frames.shape[2], trust.most_pixels)
    origins: Int32 = np.full((max(len(frames) - 1, 0), height, width), -1, np.int32)

    def find(t: int) -> None:
        later, earlier = (_grey(frames[k], (height, width)) for k in (t + 1, t))
        found = _origins(later, earlier, trust)
        if (found >= 0).mean() >= trust.least:
            origins[t] = found

    with one_thread_each():
        for_each(range(len(origins)), find, threads)
    return origins


def agreement(labels: UInt8, origins: Int32) -> tuple[int, int]:
    """How many pixels agree with where they come from, and how many have a trusted origin.

    Parameters
    ----------
    labels : (T, H, W)
    origins : (T - 1, h, w), of `trusted_origins`
    """
    height, width = origins.shape[1:]
    n_alike, n_trusted = 0, 0
    before = None
    for t, own in enumerate(labels):
        small = cv2.resize(own, (width, height), interpolation=cv2.INTER_NEAREST)
        if before is not None:
            known = origins[t - 1] >= 0
            n_alike += int((small[known] == before.ravel()[origins[t - 1][known]]).sum())
            n_trusted += int(known.sum())
        before = small
    return n_alike, n_trusted


def temporal_consistency(n_alike: int, n_trusted: int) -> float | None:
    """The share of pixels that agree, 0 to 1; None where no flow can be trusted, as in frames a second apart."""
    return n_alike / n_trusted if n_trusted else None


def _size(height: int, width: int, most_pixels: int) -> tuple[int, int]:
    shrink = min(1.0, (most_pixels / (height * width)) ** 0.5)
    return max(1, int(height * shrink)), max(1, int(width * shrink))


def _grey(frame: UInt8, size: tuple[int, int]) -> UInt8:
    grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.resize(grey, size[::-1], interpolation=cv2.INTER_AREA), np.uint8)


def _origins(later: UInt8, earlier: UInt8, trust: Trust) -> Int32:
    """Places in the earlier of two grey frames (h, w), -1 where flow is not trusted."""
    height, width = later.shape
    back = _flow(later, earlier)
    forth = _flow(earlier, later)
    rows, columns = np.indices(later.shape, dtype=np.float32)
    x, y = columns + back[..., 0], rows + back[..., 1]
    again = cv2.remap(forth, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    seen = cv2.remap(earlier, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    missed = ((back + again) ** 2).sum(axis=2)
    lengths = (back**2).sum(axis=2) + (again**2).sum(axis=2)
    is_inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    is_closed = missed <= trust.share * lengths + trust.slack
    is_alike = np.abs(later.astype(np.float32) - seen.astype(np.float32)) <= trust.contrast
    trusted: Bool = is_inside & is_closed & is_alike
    places = np.rint(y) * width + np.rint(x)
    return np.where(trusted, places, -1).astype(np.int32)


def _flow(first: UInt8, second: UInt8) -> Float32:
    """Where the pixels of a grey frame lie in another one, (h, w, 2) as (dx, dy)."""
    height, width = first.shape
    estimator: Any = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
    least = 32  # pixels of a side that DIS needs
    below, right = max(least - height, 0), max(least - width, 0)
    pair = [cv2.copyMakeBorder(image, 0, below, 0, right, cv2.BORDER_REPLICATE) for image in (first, second)]
    return np.asarray(estimator.calc(*pair, None)[:height, :width], np.float32)
