"""Seeded arrays for the kernels, and plain forms of what the kernels do."""

import cv2
import numpy as np

from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.fusion import Source
from budgetseg.propagate.settings import Propagation
from budgetseg.types import Bool, Float32, Int64

SETTINGS = Propagation()


def probabilities(shape: tuple[int, int], n_labels: int, seed: int, blob: float = 2.0) -> Float32:
    """Smooth maps that sum to one, (h, w, L)."""
    noise = np.random.default_rng(seed).normal(size=(*shape, n_labels)).astype(np.float32)
    smooth = np.stack([cv2.GaussianBlur(noise[..., k], (0, 0), blob) for k in range(n_labels)], axis=2)
    powers = np.exp(20 * smooth)
    return np.ascontiguousarray(powers / powers.sum(axis=2, keepdims=True), np.float32)


def grey(shape: tuple[int, int], seed: int) -> Float32:
    """Grey levels of cells, (h, w)."""
    return np.random.default_rng(seed).uniform(0, 255, shape).astype(np.float32)


def chain(shape: tuple[int, int], seed: int, far: float = 3.0) -> Float32:
    """A chain that leads about so many cells away, (h, w, 2)."""
    return np.random.default_rng(seed).normal(0, far, (*shape, 2)).astype(np.float32)


def source(
    shape: tuple[int, int], n_labels: int, seed: int, weight: float = 1.0, far: float = 3.0, blob: float = 2.0
) -> Source:
    """A key frame with any probabilities, looks and chain."""
    own = probabilities(shape, n_labels, seed, blob)
    return Source(own, top_classes(own), grey(shape, seed + 1000), chain(shape, seed + 2000, far), weight)


def sampled(image: Float32, chain: Float32) -> Float32:
    """An image (h, w) or (h, w, L) where a chain leads, by plain interpolation."""
    h, w = image.shape[:2]
    y, x = np.mgrid[:h, :w]
    y = np.clip(y + chain[..., 1], 0, h - 1)
    x = np.clip(x + chain[..., 0], 0, w - 1)
    y0, x0 = y.astype(int), x.astype(int)
    y1, x1 = np.minimum(y0 + 1, h - 1), np.minimum(x0 + 1, w - 1)
    fy, fx = y - y0, x - x0
    parts = (
        ((1 - fy) * (1 - fx), image[y0, x0]),
        ((1 - fy) * fx, image[y0, x1]),
        (fy * (1 - fx), image[y1, x0]),
        (fy * fx, image[y1, x1]),
    )
    return np.asarray(sum((weight[..., None] if image.ndim == 3 else weight) * part for weight, part in parts))


def leads_inside(chain: Float32) -> Bool:
    """Whether a chain leads to a place less than a cell away from the frame, (h, w)."""
    h, w = chain.shape[:2]
    y, x = np.mgrid[:h, :w]
    y, x = y + chain[..., 1], x + chain[..., 0]
    return np.asarray((y > -1) & (y < h) & (x > -1) & (x < w))


def trust_in(own: Source, looks: Float32, settings: Propagation = SETTINGS) -> Float32:
    """Weight of a key frame in each cell of a frame with such looks, (h, w)."""
    alike = 1 / (1 + abs(sampled(own.grey, own.chain) - looks) / settings.contrast)
    return np.asarray(own.weight * alike * np.where(leads_inside(own.chain), 1, settings.outside))


def interpolated(maps: Float32, height: int, width: int) -> Int64:
    """Most probable classes (H, W) of maps (h, w, L) that are enlarged first."""
    return np.asarray(cv2.resize(maps, (width, height)).argmax(axis=2))
