"""Footage: what is read, and what a few pairs of neighbours tell before all is paid for."""

from itertools import pairwise

import numpy as np
import pytest

from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.types import UInt8
from tests.spaces.clocks import Machine
from tests.spaces.frames.worlds import SECONDS, film, open_state, slides, space_of, street, work_takes_time

FRAMES = street(24)
SPARSE: UInt8 = np.random.default_rng(0).permutation(street(240)[::10])


def test_pairs_of_slides_are_read_before_anything_is_planned() -> None:
    footage = open_state(space_of(FRAMES), slides(FRAMES)).footage
    footage.probe(np.inf)
    numbers = footage.numbers()
    assert len(numbers) == 6
    assert [b - a for a, b in pairwise(numbers)][::2] == [1, 1, 1]
    assert numbers[0] < len(FRAMES) / 3 < numbers[2] < numbers[3] < 2 * len(FRAMES) / 3 < numbers[5]


def test_of_a_film_pairs_are_compared_that_were_read() -> None:
    footage = open_state(space_of(FRAMES), film(FRAMES)).footage
    footage.probe(np.inf)
    assert footage.numbers() == []
    footage.read_every(1, np.inf, np.inf)
    footage.probe(np.inf)
    assert footage.n_pairs() == len(FRAMES) - 1 - 3


def test_pairs_tell_how_much_of_what_changes_is_motion() -> None:
    moving, jumbled = (open_state(space_of(frames), slides(frames)).footage for frames in (FRAMES, SPARSE))
    shares = []
    for footage in (moving, jumbled):
        footage.probe(np.inf)
        shares.append(footage.timeline(FLOW).step / footage.timeline(COPY).step)
    assert shares[0] < 0.8 < shares[1]


@pytest.mark.parametrize("slower", [1.0, 10.0])
def test_probing_takes_no_more_than_its_share(slower: float, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS, {"decode": slower, "flow": slower})
    work_takes_time(monkeypatch, machine)
    space = space_of(FRAMES, machine)
    footage = open_state(space, slides(FRAMES, machine), machine.clock).footage
    footage.probe(0.2)
    longest = slower * (SECONDS["decode"] + SECONDS["flow"])
    assert 0 < machine.clock.now_s() <= space.settings.look_share * 0.2 + longest


def test_where_time_is_short_nothing_is_probed() -> None:
    footage = open_state(space_of(FRAMES), slides(FRAMES)).footage
    footage.probe(0.01)
    assert footage.numbers() == []
