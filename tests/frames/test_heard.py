"""What frames hear of key frames."""

import numpy as np
import pytest
from budgetseg.frames.heard import heard, n_heard, reach_at


def test_a_frame_hears_the_nearest_key_frames_and_all_within_reach() -> None:
    hears = heard({"dcnn": [0, 2, 10]}, 12)
    assert hears[0] == hears[1] == [("dcnn", 0), ("dcnn", 2)]
    assert hears[6] == [("dcnn", 2), ("dcnn", 10)]
    assert hears[10] == [("dcnn", 10)]
    assert hears[11] == [("dcnn", 10)]


def test_of_a_network_that_counts_less_only_what_is_near_is_heard() -> None:
    hears = heard({"dcnn": [4, 5], "dcnn_large": [0, 9]}, 10)
    assert hears[5] == [("dcnn", 4), ("dcnn", 5), ("dcnn_large", 0), ("dcnn_large", 9)]
    assert hears[0] == [("dcnn_large", 0)]


def test_where_frames_lie_apart_key_frames_hear_themselves_and_the_others_the_nearest() -> None:
    hears = heard({"dcnn": [0, 1, 4, 5], "dcnn_large": [0, 9]}, 10, apart=20.0)
    assert reach_at(20.0) == 0
    assert hears[0] == [("dcnn", 0), ("dcnn_large", 0)]
    assert hears[4] == [("dcnn", 4)]
    assert hears[2] == [("dcnn", 1), ("dcnn", 4), ("dcnn_large", 0), ("dcnn_large", 9)]
    assert hears[7] == [("dcnn", 5), ("dcnn_large", 0), ("dcnn_large", 9)]


@pytest.mark.parametrize("apart", [1.0, 1.6, 3.0, 20.0])
@pytest.mark.parametrize("frames_a_key", [1, 1.5, 2, 3.1, 3.5, 4, 8, 20])
def test_how_many_are_heard_is_about_foretold(apart: float, frames_a_key: float) -> None:
    hears = heard({"dcnn": [round(key) for key in np.arange(0, 401, frames_a_key)]}, 401, apart)
    n_sources = sum(len(own) for t, own in enumerate(hears) if own != [("dcnn", t)])
    assert n_heard(frames_a_key, apart) == pytest.approx(n_sources / 401, rel=0.2)
