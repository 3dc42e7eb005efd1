"""What is known of a machine when frames are made ready."""

import numpy as np
import pytest

from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.warm_up import calibrate, warm_up
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, UInt8
from tests.spaces.frames.worlds import CELLS, N_PIXELS, SHARES, shades

WORK = ("flow", "fusing", "pixels", "edges", "copies")


class Shades:
    """A network that answers about any frame at once."""

    shape = (*CELLS, 3)

    def __call__(self, frame: UInt8) -> Float32:
        return shades(frame)

    def cut_off(self) -> None:
        """Nothing takes long."""


def space_without_prices(names: tuple[str, ...], threads: int) -> Frames:
    return Frames({name: Shades() for name in names}, SHARES, Prices(), threads)


def test_nothing_is_learned_from_compiling() -> None:
    space = space_without_prices(("small",), 1)
    warm_up(space)
    assert not any(space.costs(1).key(work) in space.prices for work in (*WORK, "small"))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("names", [("small",), ("small", "large")])
def test_everything_has_a_price_once_it_was_timed(names: tuple[str, ...], threads: int) -> None:
    space = space_without_prices(names, threads)
    assert calibrate(space, (160, 120), 8, 1)
    costs = space.costs(N_PIXELS)
    for work in (*WORK, *names):
        assert costs.key(work) in space.prices
    for carry in (FLOW, COPY):
        assert costs.finish_s(100, 50, 200.0, carry, 100) > costs.finish_s(100, 50, 200.0, carry, 0) > 0
    assert min(costs.copy_s(1), costs.flow_s(1)) > 0


def test_where_everything_has_a_price_a_short_look_is_enough() -> None:
    space = space_without_prices(("small",), 1)
    assert calibrate(space, (160, 120), 8, 1)
    before = space.costs(N_PIXELS).network_s("small")
    assert not calibrate(space, (160, 120), 8, 1)
    assert space.costs(N_PIXELS).network_s("small") != before  # prices follow the machine


def test_a_network_that_is_new_is_timed() -> None:
    space = space_without_prices(("small",), 1)
    calibrate(space, (160, 120), 8, 1)
    more = Frames({"small": Shades(), "new": Shades()}, SHARES, space.prices)
    assert calibrate(more, (160, 120), 8, 1)
    assert 0 < more.costs(1).network_s("new") < np.inf
