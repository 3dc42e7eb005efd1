"""Labels along the edges of a frame."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.edges import paint_edges
from budgetseg.propagate.paint import paint
from budgetseg.propagate.settings import Propagation
from budgetseg.types import Float32, Float64, UInt8
from tests.propagate.arrays import SETTINGS


def painted(probabilities: Float32, frame: UInt8, settings: Propagation = SETTINGS) -> UInt8:
    labels = np.empty(frame.shape[:2], np.uint8)
    paint_edges(probabilities, top_classes(probabilities), frame, labels, settings)
    return labels


def by_definition(probabilities: Float32, frame: UInt8, settings: Propagation = SETTINGS) -> Float64:
    """Weights of classes at every pixel, (H, W, L), from the sixteen cells around it."""
    (h, w, n_labels), (height, width) = probabilities.shape, frame.shape[:2]
    shades = frame.reshape(h, height // h, w, width // w, 3).mean(axis=(1, 3))
    out = np.zeros((height, width, n_labels))
    for row, column in np.ndindex(height, width):
        y = np.clip((row + 0.5) * h / height - 0.5, 0, h - 1)
        x = np.clip((column + 0.5) * w / width - 0.5, 0, w - 1)
        for j in range(int(y) - 1, int(y) + 3):
            for i in range(int(x) - 1, int(x) + 3):
                cell = min(max(j, 0), h - 1), min(max(i, 0), w - 1)
                distance = ((frame[row, column].astype(float) - shades[cell]) ** 2).sum()
                alike = np.exp(-distance / (2 * settings.edge_alike**2)) + settings.edge_unlike
                near = np.exp(-((y - j) ** 2 + (x - i) ** 2) / (2 * settings.edge_near**2))
                out[row, column] += near * alike * probabilities[cell]
    return out


@pytest.mark.parametrize("settings", [SETTINGS, replace(SETTINGS, edge_near=1.0, edge_alike=20.0)])
@pytest.mark.parametrize("seed", range(3))
def test_pixels_where_classes_meet_are_a_mean_of_cells_by_place_and_colour(seed: int, settings: Propagation) -> None:
    rng = np.random.default_rng(seed)
    maps = rng.dirichlet(np.ones(3), (5, 6)).astype(np.float32)
    frame = np.repeat(np.repeat(rng.integers(0, 256, (10, 12, 3)), 2, 0), 2, 1).astype(np.uint8)
    weights, labels = by_definition(maps, frame, settings), painted(maps, frame, settings)
    plain = np.empty(frame.shape[:2], np.uint8)
    paint(maps, top_classes(maps), plain)
    best = np.sort(weights, axis=-1)
    is_clear = best[..., -1] > 1.05 * best[..., -2]  # colours of cells are rounded
    same = (labels == weights.argmax(axis=-1)) | (labels == plain)  # plain between four cells that agree
    assert same[is_clear].all()
    assert (labels != plain).any()


def test_a_border_between_cells_moves_to_the_edge_in_the_frame() -> None:
    maps = np.zeros((8, 8, 2), np.float32)
    maps[:, :4] = 0.9, 0.1
    maps[:, 4:] = 0.1, 0.9
    frame = np.full((64, 64, 3), 40, np.uint8)
    frame[:, 35:] = 200  # three pixels right of where the cells meet
    labels = painted(maps, frame)
    assert (labels[:, :34] == 0).all()
    assert (labels[:, 36:] == 1).all()


def test_a_frame_of_another_size_gives_about_the_same_labels() -> None:
    maps = np.zeros((8, 8, 2), np.float32)
    maps[:, :4] = 0.9, 0.1
    maps[:, 4:] = 0.1, 0.9
    frame = np.full((128, 128, 3), 40, np.uint8)
    frame[:, 70:] = 200
    labels = np.empty((64, 64), np.uint8)
    paint_edges(maps, top_classes(maps), frame, labels, SETTINGS)
    assert (labels[:, :34] == 0).all()
    assert (labels[:, 36:] == 1).all()


def test_cells_amid_their_class_need_no_probabilities() -> None:
    rng = np.random.default_rng(0)
    maps = np.zeros((6, 8, 3), np.float32)
    maps[:, :4] = (1, 0, 0)
    maps[:, 4:] = (0, 0, 1)
    frame = rng.integers(0, 256, (48, 64, 3), np.uint8)
    near = np.abs(np.arange(8) - 3.5)[None, :, None] < 1
    bare, labels = np.where(near, maps, 0).astype(np.float32), np.empty((48, 64), np.uint8)
    paint_edges(bare, top_classes(maps), frame, labels, SETTINGS)
    assert np.array_equal(labels, painted(maps, frame))
