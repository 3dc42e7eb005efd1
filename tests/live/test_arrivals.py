"""Frames that wait: few, in their order where there is time, else the newest."""

import numpy as np
import pytest

from budgetseg.live.arrivals import Inbox
from budgetseg.types import UInt8


def black() -> UInt8:
    return np.zeros((4, 4, 3), np.uint8)


def filled(n: int, most: int = 8, apart_s: float = 0.01) -> Inbox:
    inbox = Inbox(most)
    for k in range(n):
        inbox.put(k * apart_s, 0.0, black)
    return inbox


def test_no_more_frames_wait_than_may() -> None:
    inbox = filled(100)
    assert inbox.n_dropped == 92
    taken = [inbox.take(0.0, 0.001, 1.0) for _ in range(9)]
    assert [None if own is None else own.number for own in taken] == [*range(92, 100), None]


def test_where_all_can_be_labelled_soon_they_keep_their_order() -> None:
    inbox = filled(3)
    first = inbox.take(0.0, 0.01, 0.05)
    assert first is not None
    assert first.number == 0


def test_where_they_cannot_the_newest_goes_first_and_the_others_are_dropped() -> None:
    inbox = filled(3)
    first = inbox.take(0.0, 0.02, 0.05)
    assert first is not None
    assert first.number == 2
    assert inbox.n_dropped == 2


def test_frames_that_cannot_have_labels_in_time_are_dropped() -> None:
    inbox = filled(3)
    first = inbox.take(0.015, 0.001, 1.0)
    assert first is not None
    assert first.number == 2
    inbox = filled(3)
    assert inbox.take(1.0, 0.001, 1.0) is None
    assert inbox.n_dropped == 3


def test_the_interval_follows_the_source() -> None:
    assert filled(50, apart_s=0.04).interval_s == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("rate", "most_fps", "let_in"), [(30, 10, 100), (30, 29.97, 300), (25, 25, 250), (10, 30, 100)]
)
def test_no_more_frames_a_second_are_let_in_than_wanted(rate: float, most_fps: float, let_in: int) -> None:
    inbox = Inbox(8, most_fps=most_fps)
    rng = np.random.default_rng(0)
    for k in range(10 * int(rate)):
        inbox.put(k / rate + float(rng.uniform(-0.1, 0.1)) / rate, 0.0, black)
    assert inbox.n_arrived == pytest.approx(let_in, rel=0.02)
