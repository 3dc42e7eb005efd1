"""Videos as they would be in other light, out of focus, with noise, other colours, or squeezed."""

from dataclasses import dataclass

import cv2
import numpy as np

from budgetseg.types import Float32, UInt8

__all__ = ["DISTURBANCES", "Disturbance", "disturbed"]


@dataclass(frozen=True)
class Disturbance:
    """What is done to the frames of a video.

    Attributes
    ----------
    name : of it
    gamma : exponent of the brightness; above 1 darkens
    gain : times as bright
    contrast : times as far from mid grey
    saturation : times as far from grey; 0 takes all colour away
    tint : times as much red, green and blue
    blur : standard deviation of the blur, as a share of the height
    noise : standard deviation of the noise, of 255
    jpeg : quality of JPEG, 0 to 100; None for none
    """

    name: str = "plain"
    gamma: float = 1.0
    gain: float = 1.0
    contrast: float = 1.0
    saturation: float = 1.0
    tint: tuple[float, float, float] = (1.0, 1.0, 1.0)
    blur: float = 0.0
    noise: float = 0.0
    jpeg: int | None = None


DISTURBANCES = (
    Disturbance(),
    Disturbance("bright", gamma=0.5),
    Disturbance("dark", gamma=2.0),
    Disturbance("flat", contrast=0.5),
    Disturbance("blurred", blur=0.006),
    Disturbance("very blurred", blur=0.012),
    Disturbance("noisy", noise=12.0),
    Disturbance("very noisy", noise=30.0),
    Disturbance("grey", saturation=0.0),
    Disturbance("warm", tint=(1.2, 1.0, 0.75)),
    Disturbance("cold", tint=(0.75, 1.0, 1.25)),
    Disturbance("squeezed", jpeg=10),
    Disturbance("dusk", gain=0.35, noise=8.0),
)
"""From none to so much that networks fail: a calibration must have seen both."""


def disturbed(frames: UInt8, how: Disturbance, seed: int = 0) -> UInt8:
    """Frames (T, H, W, 3) after a disturbance; `seed` is of the noise."""
    rng = np.random.default_rng(seed)
    return np.stack([_squeezed(_noisy(_recoloured(frame, how), how, rng), how) for frame in frames])


def _recoloured(frame: UInt8, how: Disturbance) -> Float32:
    """A frame, 0 to 1, in other light and out of focus."""
    values = (frame / np.float32(255)) ** np.float32(how.gamma)
    values = 0.5 + (values - 0.5) * how.contrast
    grey = values.mean(axis=2, keepdims=True)
    values = (grey + (values - grey) * how.saturation) * how.gain * np.array(how.tint, np.float32)
    clipped: Float32 = np.clip(values, 0, 1).astype(np.float32)
    return clipped if how.blur == 0 else np.asarray(cv2.GaussianBlur(clipped, (0, 0), how.blur * len(frame)))


def _noisy(values: Float32, how: Disturbance, rng: np.random.Generator) -> UInt8:
    """A frame of 255 from one of 0 to 1, with noise."""
    if how.noise:
        values = values + rng.standard_normal(values.shape, np.float32) * (how.noise / 255)
    return np.asarray(np.clip(255 * values + 0.5, 0, 255), np.uint8)


def _squeezed(frame: UInt8, how: Disturbance) -> UInt8:
    """A frame after JPEG."""
    if how.jpeg is None:
        return frame
    _, code = cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, how.jpeg])
    return np.asarray(cv2.imdecode(code, cv2.IMREAD_COLOR), np.uint8)
