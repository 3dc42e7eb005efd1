"""Room for labels, in memory and beyond it."""

import numpy as np
import pytest

from budgetseg.engine import memory as space
from budgetseg.errors import OutputError


@pytest.mark.parametrize("value", [0, 7])
def test_labels_beyond_memory_behave_as_those_in_it(monkeypatch: pytest.MonkeyPatch, value: int) -> None:
    near = space.room_for(5, (3, 4), value)
    monkeypatch.setattr(space, "IN_MEMORY", 10)
    far = space.room_for(5, (3, 4), value)
    assert isinstance(far, np.memmap)
    assert not isinstance(near, np.memmap)
    for labels in (near, far):
        labels[2:4] = 9
    np.testing.assert_array_equal(near, far)


def test_no_room_is_said_before_the_work() -> None:
    with pytest.raises(OutputError, match=r"no room for labels, 10000000 GB .*; free some, or set TMPDIR"):
        space.room_for(10**7, (10**5, 10**4), 0)
