"""Features of voxels for merging: Lab colour and local texture, as 8-bit planes."""

import cv2
import numpy as np

from budgetseg.types import UInt8

__all__ = ["N_FEATURES", "feature_planes"]

N_FEATURES = 4
_SMOOTHING = 0.5  # standard deviation in pixels, as LIBSVX's default
_TEXTURE_GAIN = 8  # local contrast is a few grey levels; the factor spreads it over the 8 bits


def feature_planes(frames: UInt8, reduce: int = 1) -> UInt8:
    """L, a, b and texture of every pixel of every frame, (T, 4, h, w).

    Parameters
    ----------
    frames : (T, H, W, 3) uint8, RGB
    reduce : average blocks of `reduce` x `reduce` pixels first; h = ceil(H / reduce), w = ceil(W / reduce)
    """
    height, width = (-(-side // reduce) for side in frames.shape[1:3])
    planes = np.empty((len(frames), N_FEATURES, height, width), np.uint8)
    for frame, out in zip(frames, planes, strict=True):
        _fill_planes(_shrink(frame, reduce), out)
    return planes


def _fill_planes(frame: UInt8, out: UInt8) -> None:
    smooth = cv2.GaussianBlur(frame, (3, 3), _SMOOTHING)
    out[:3] = cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB).transpose(2, 0, 1)
    contrast = cv2.absdiff(out[0], cv2.blur(out[0], (5, 5)))
    cv2.blur(cv2.convertScaleAbs(contrast, alpha=_TEXTURE_GAIN), (7, 7), dst=out[3])


def _shrink(frame: UInt8, factor: int) -> UInt8:
    """Block means; the last blocks are completed by repeating the border."""
    if factor == 1:
        return frame
    height, width = frame.shape[:2]
    below = -height % factor
    right = -width % factor
    if below or right:
        frame = np.asarray(cv2.copyMakeBorder(frame, 0, below, 0, right, cv2.BORDER_REPLICATE), np.uint8)
    size = (width + right) // factor, (height + below) // factor
    return np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
