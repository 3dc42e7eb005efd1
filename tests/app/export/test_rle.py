"""COCO's own program reads the masks that are written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from budgetseg.app.export.rle import run_lengths, to_text

# Its compiled part is older than the numpy here.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 1), st.integers(0, 1000))
def test_any_mask_comes_back(height: int, width: int, share: float, seed: int) -> None:
    mask = np.random.default_rng(seed).random((height, width)) < share
    text = to_text(run_lengths(mask))
    assert np.array_equal(coco.decode({"size": [height, width], "counts": text}), mask)
    assert coco.encode(np.asfortranarray(mask, np.uint8))["counts"].decode() == text


@pytest.mark.parametrize("value", [False, True])
def test_large_masks_of_one_value_come_back(value: bool) -> None:
    mask = np.full((1080, 1920), value)
    assert np.array_equal(coco.decode({"size": mask.shape, "counts": to_text(run_lengths(mask))}), mask)
