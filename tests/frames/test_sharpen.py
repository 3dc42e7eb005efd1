"""Labels along the edges of a frame."""

import numpy as np
import pytest
from budgetseg.frames.carry import paint, top_classes
from budgetseg.frames.sharpen import ALIKE, NEAR, UNLIKE, paint_sharp

from budgetseg.types import Float32, Float64, UInt8


def painted(probabilities: Float32, frame: UInt8) -> UInt8:
    labels = np.empty(frame.shape[:2], np.uint8)
    paint_sharp(probabilities, top_classes(probabilities), frame, labels)
    return labels


def by_definition(probabilities: Float32, frame: UInt8) -> Float64:
    """Weights of classes at every pixel, (H, W, L), from the sixteen cells around it."""
    (h, w, n_labels), (height, width) = probabilities.shape, frame.shape[:2]
    shades = frame.reshape(h, height // h, w, width // w, 3).mean(axis=(1, 3))
    out = np.zeros((height, width, n_labels))
    for row, column in np.ndindex(height, width):
        y, x = np.clip((row + 0.5) * h / height - 0.5, 0, h - 1), np.clip((column + 0.5) * w / width - 0.5, 0, w - 1)
        for j in range(int(y) - 1, int(y) + 3):
            for i in range(int(x) - 1, int(x) + 3):
                cell = min(max(j, 0), h - 1), min(max(i, 0), w - 1)
                apart = ((frame[row, column].astype(float) - shades[cell]) ** 2).sum()
                alike = np.exp(-apart / (2 * ALIKE**2)) + UNLIKE
                out[row, column] += np.exp(-((y - j) ** 2 + (x - i) ** 2) / (2 * NEAR**2)) * alike * probabilities[cell]
    return out


@pytest.mark.parametrize("seed", range(3))
def test_pixels_where_classes_meet_are_a_mean_of_cells_by_place_and_colour(seed: int) -> None:
    rng = np.random.default_rng(seed)
    said = rng.dirichlet(np.ones(3), (5, 6)).astype(np.float32)
    frame = np.repeat(np.repeat(rng.integers(0, 256, (10, 12, 3)), 2, 0), 2, 1).astype(np.uint8)
    weights, labels, plain = by_definition(said, frame), painted(said, frame), np.empty(frame.shape[:2], np.uint8)
    paint(said, top_classes(said), plain)
    best = np.sort(weights, axis=-1)
    is_clear = best[..., -1] > 1.05 * best[..., -2]  # colours of cells are rounded
    same = (labels == weights.argmax(axis=-1)) | (labels == plain)  # plain between four cells that agree
    assert same[is_clear].all()
    assert (labels != plain).any()


def test_a_border_between_cells_moves_to_the_edge_in_the_frame() -> None:
    said = np.zeros((8, 8, 2), np.float32)
    said[:, :4] = 0.9, 0.1
    said[:, 4:] = 0.1, 0.9
    frame = np.full((64, 64, 3), 40, np.uint8)
    frame[:, 35:] = 200  # three pixels right of where the cells meet
    labels = painted(said, frame)
    assert (labels[:, :34] == 0).all()
    assert (labels[:, 36:] == 1).all()


def test_cells_amid_their_class_need_no_probabilities() -> None:
    rng = np.random.default_rng(0)
    said = np.zeros((6, 8, 3), np.float32)
    said[:, :4], said[:, 4:] = (1, 0, 0), (0, 0, 1)
    frame = rng.integers(0, 256, (48, 64, 3), np.uint8)
    whole, top = painted(said, frame), top_classes(said)
    bare, labels = np.where(np.abs(np.arange(8) - 3.5)[None, :, None] < 1, said, 0), np.empty((48, 64), np.uint8)
    paint_sharp(bare.astype(np.float32), top, frame, labels)
    np.testing.assert_array_equal(labels, whole)
