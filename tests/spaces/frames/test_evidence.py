"""How confident labels are, at the size of the video."""

import numpy as np
import pytest

from budgetseg.spaces.frames.evidence import FrameEvidence
from tests.spaces.frames.worlds import CELLS, SIZE


def test_confidence_lies_between_nothing_and_all_and_has_the_size_of_the_video() -> None:
    cells = np.random.default_rng(0).integers(0, 256, (3, *CELLS), np.uint8)
    found = FrameEvidence(cells).confidence(SIZE[::-1])
    assert found.shape == (3, *SIZE[::-1])
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()
    assert found.mean() == pytest.approx(cells.mean() / 255, abs=0.01)


def test_a_cell_that_is_certain_gives_pixels_that_are() -> None:
    cells = np.zeros((1, *CELLS), np.uint8)
    cells[0, 4:9, 6:12] = 255
    found = FrameEvidence(cells).confidence(SIZE[::-1])[0]
    assert (found[18:34, 26:46] == 1).all()
    assert (found[:14] == 0).all()


def test_where_labels_come_from_is_known_only_where_it_was_asked_for() -> None:
    evidence = FrameEvidence(np.zeros((1, *CELLS), np.uint8))
    assert evidence.key_frames is None
    assert evidence.networks is None
