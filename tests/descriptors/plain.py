"""Clips that move as told, and the histograms of Wang et al. 2011 around points, written out plainly."""

import cv2
import numpy as np

from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.motion.tracks import TrackPoints
from budgetseg.supervoxels import neighbourhood_graph
from budgetseg.types import Float32, Float64, Int32, Supervoxels, UInt8

STILL = 0.4
BLOCK = 4

BOXES = [
    ((20, 120, 160), (50, 70, 70, 100)),
    ((7, 61, 83), (0, 20, 63, 83)),
    ((2, 60, 80), (20, 40, 0, 20)),
    ((4, 301, 400), (280, 301, 200, 220)),
    ((3, 601, 703), (300, 320, 680, 703)),
]
"""Frames, height and width of a clip, and rows and columns of a supervoxel in it."""


def texture(height: int, width: int, seed: int = 0) -> UInt8:
    """A picture, (H, W, 3), of coloured blobs a few pixels wide."""
    noise = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    blobs = cv2.GaussianBlur(noise.astype(np.float32), (0, 0), 2)
    picture: UInt8 = np.clip(128 + 50 * (blobs - blobs.mean()) / blobs.std(), 0, 255).astype(np.uint8)
    return picture


def moving(shape: tuple[int, int, int], move: tuple[int, int], seed: int = 0) -> UInt8:
    """A clip, (T, H, W, 3), of a texture that moves by (dx, dy) pixels from frame to frame."""
    n_frames, height, width = shape
    far_x, far_y = (abs(step) * n_frames for step in move)
    world = texture(height + 2 * far_y, width + 2 * far_x, seed)
    corners = [(far_y - t * move[1], far_x - t * move[0]) for t in range(n_frames)]
    return np.stack([world[y : y + height, x : x + width] for y, x in corners])


def still(frame: UInt8, n_frames: int = 20) -> UInt8:
    """A clip in which nothing happens."""
    return np.repeat(frame[None], n_frames, axis=0)


def scene_of(frames: UInt8, ids: Int32 | None = None) -> Scene:
    """A scene with ids given by hand; without them one supervoxel in the middle of the frame, 0, and the rest, 1."""
    if ids is None:
        ids = np.ones(frames.shape[:3], np.int32)
        height, width = frames.shape[1:3]
        ids[:, height // 4 : -(height // 4), width // 4 : -(width // 4)] = 0
    return Scene.of(frames, Supervoxels(ids, neighbourhood_graph(ids)))


def track_list(tracks: TrackPoints) -> list[Float32]:
    """The points of each track, (length, 2)."""
    return np.split(tracks.points, tracks.first[1:-1])


def votes(dx: Float64, dy: Float64) -> Float64:
    """(H, W, 8): the length of each vector, shared linearly between the two bins next to its direction."""
    eighths = np.arctan2(dy, dx) * 4 / np.pi
    away = np.stack([np.abs((eighths - bin_ + 4) % 8 - 4) for bin_ in range(8)], axis=2)
    shared: Float64 = np.hypot(dx, dy)[:, :, None] * np.maximum(1 - away, 0)
    return shared


def edge_votes(values: Float64) -> Float64:
    """Votes of the central differences of (H, W) values, whose border is repeated."""
    wide = np.pad(values, 1, mode="edge")
    return votes(wide[1:-1, 2:] - wide[1:-1, :-2], wide[2:, 1:-1] - wide[:-2, 1:-1])


def gradient_votes(grey: UInt8) -> Float64:
    """What each pixel adds to HOG, (H, W, 8)."""
    return edge_votes(grey.astype(np.float64))


def flow_votes(flow: Float32) -> Float64:
    """What each vector adds to HOF, (h, w, 9)."""
    dx, dy = np.moveaxis(flow.astype(np.float64), 2, 0)
    still = np.hypot(dx, dy) < STILL
    return np.dstack([votes(dx, dy) * ~still[:, :, None], still])


def flow_edge_votes(flow: Float32) -> Float64:
    """What each vector adds to MBH, (h, w, 16)."""
    dx, dy = np.moveaxis(flow.astype(np.float64), 2, 0)
    return np.dstack([edge_votes(dx), edge_votes(dy)])


def square_sum(values: Float64, top: int, left: int, side: int) -> Float64:
    """Sum of a square of (h, w, bins) values; what lies outside the frame counts nothing."""
    rows, columns = (slice(max(begin, 0), max(begin + side, 0)) for begin in (top, left))
    total: Float64 = values[rows, columns].sum(axis=(0, 1))
    return total


def block_sums(values: Float64, side: int) -> Float64:
    """Sums of squares of `side` values a side next to each other."""
    rows, columns = (range(0, n, side) for n in values.shape[:2])
    return np.array([[square_sum(values, y, x, side) for x in columns] for y in rows])


def patches_along(path: Float32, values: list[Float64], reduce: int = 1) -> Float64:
    """Small and large patch along a track, (8 · bins,), each of length one: 2x2 cells of 16 and of 32 pixels a side.

    `values` holds what is summed of each frame of the track, one value for every `reduce` pixels a side. A patch is
    centred on the corner of blocks that is nearest to its point.
    """
    patches = np.zeros((2, 2, 2, values[0].shape[2]))
    for value, point in zip(values, path, strict=True):
        y, x = (BLOCK * ((int(place) + BLOCK // 2) // BLOCK) for place in point)
        for scale, row, column in np.ndindex(2, 2, 2):
            cell = 16 << scale
            corner = (y + (row - 1) * cell) // reduce, (x + (column - 1) * cell) // reduce
            patches[scale, row, column] += square_sum(value, *corner, cell // reduce)
    return np.concatenate([patch.ravel() / (np.linalg.norm(patch) or 1) for patch in patches])
