"""What the first predictions take to fuse and paint is tried, and the end is priced by it."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.engine.loop import Outcome
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.types import Action, Batch
from tests.spaces.clocks import Machine, quiet_prices
from tests.spaces.frames.worlds import SECONDS, open_state, rates_of, shades, slides, space_of, street, work_takes_time

N = 24
FRAMES = street(N)
SLOWER = {"pixels": 2.0, "edges": 3.0}


def predicted(machine: Machine, n_keys: int, n_rehearsals: int, end_s: float = 10.0) -> FrameState:
    """A window of which some frames were predicted, on a machine that paints more slowly than is known."""
    space = space_of(FRAMES, machine, quiet_prices(rates_of()))
    space = replace(space, settings=replace(space.settings, rehearsals=n_rehearsals)).for_run()
    state = open_state(space, slides(FRAMES, machine), machine.clock)
    assert state.prepare(end_s, end_s)
    for t in range(n_keys):
        batch = Batch.of([Action(t, 0)], [SECONDS["small"]])
        state.add(batch, Outcome(Prediction.of(shades(FRAMES[t])), np.array([SECONDS["small"]]), np.zeros(1)))
    return state


def test_painting_that_is_slower_than_known_is_known_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS, SLOWER)
    work_takes_time(monkeypatch, machine)
    price_of = {n: predicted(machine, 3, n).finish_s() for n in (0, 3)}
    true_s = N * sum(SECONDS[kind] * SLOWER[kind] for kind in SLOWER)
    assert price_of[0] < 0.8 * true_s
    assert price_of[3] > 0.9 * true_s


def test_only_the_first_predictions_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS)
    work_takes_time(monkeypatch, machine)
    predicted(machine, n_keys=8, n_rehearsals=2)
    assert machine.done["edges"] == 2


def test_nothing_is_tried_where_it_would_take_much_of_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS)
    work_takes_time(monkeypatch, machine)
    predicted(machine, n_keys=3, n_rehearsals=3, end_s=0.06)
    assert machine.done["edges"] == 0
