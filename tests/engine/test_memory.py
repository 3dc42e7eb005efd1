"""Room for labels, in memory and beyond it; and no collection of garbage while a clock runs."""

import gc

import numpy as np
import pytest

from budgetseg.engine.memory import made_ready, n_bytes, no_collection, room_for
from budgetseg.errors import OutputError


@pytest.mark.parametrize("value", [0, 7])
def test_labels_beyond_memory_behave_as_those_in_it(value: int) -> None:
    near, far = (room_for(5, (3, 4), value, most_bytes) for most_bytes in (60, 59))
    assert not isinstance(near, np.memmap)
    assert isinstance(far, np.memmap)
    for labels in (near, far):
        assert (labels.shape, labels.dtype) == ((5, 3, 4), np.uint8)
        assert (labels == value).all()
        labels[2:4] = 9
    np.testing.assert_array_equal(near, far)


@pytest.mark.parametrize("most_bytes", [0, 60])
def test_labels_of_any_class_have_the_shape_of_the_video(most_bytes: int) -> None:
    assert room_for(5, (3, 4), most_bytes=most_bytes).shape == (5, 3, 4)


def test_no_room_is_an_error_before_the_work() -> None:
    with pytest.raises(OutputError, match=r"no space for labels, 10000000 GB .*; free some, or set TMPDIR"):
        room_for(10**7, (10**5, 10**4), 0)


def test_labels_in_a_file_take_no_memory() -> None:
    assert n_bytes([room_for(5, (3, 4)), room_for(2, (3, 4)), room_for(9, (3, 4), most_bytes=0)]) == 84


def test_the_user_reads_how_much_memory_was_made_ready() -> None:
    assert made_ready(1_230_000_000) == "memory for labels, 1.2 GB, was allocated outside the budget"


@pytest.mark.parametrize("was_on", [True, False])
def test_garbage_is_not_collected_within_the_block_and_as_before_after_it(was_on: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with pytest.raises(KeyError), no_collection():
            _fail_without_collection()
        assert gc.isenabled() == was_on
    finally:
        (gc.enable if before else gc.disable)()


def _fail_without_collection() -> None:
    assert not gc.isenabled()
    raise KeyError
