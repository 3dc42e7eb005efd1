"""What each kind of work on frames is predicted to take."""

import pytest

from budgetseg.spaces.frames.costs import COPY, FLOW, FrameCosts
from budgetseg.timing.clock import ManualClock
from budgetseg.timing.ledger import Account, Ledger
from tests.spaces.clocks import quiet_prices
from tests.spaces.frames.worlds import N_CELLS, N_PIXELS, SECONDS, frozen_prices

COSTS = FrameCosts(frozen_prices(), N_PIXELS, N_CELLS, threads=1)


def test_work_is_predicted_by_its_price_and_amount() -> None:
    assert COSTS.flow_s(3) == pytest.approx(3 * SECONDS["flow"])
    assert COSTS.fuse_s(2.5) == pytest.approx(2.5 * SECONDS["fusing"])
    assert COSTS.paint_s(4) == pytest.approx(4 * SECONDS["pixels"])
    assert COSTS.edges_s(4) == pytest.approx(4 * SECONDS["edges"])
    assert COSTS.copy_s(7) == pytest.approx(7 * SECONDS["copies"])
    assert COSTS.network_s("large") == SECONDS["large"]


def test_larger_frames_take_longer_to_paint_but_not_for_networks_and_fusing() -> None:
    large = FrameCosts(frozen_prices(), 4 * N_PIXELS, N_CELLS, threads=1)
    assert large.paint_s(1) == pytest.approx(4 * COSTS.paint_s(1))
    assert large.edges_s(1) == pytest.approx(4 * COSTS.edges_s(1))
    assert large.network_s("small") == COSTS.network_s("small")
    assert large.fuse_s(1) == COSTS.fuse_s(1)


def test_flow_is_found_on_reduced_frames() -> None:
    small, large, huge = (FrameCosts(frozen_prices(), n, N_CELLS, 1, flow_pixels=1000) for n in (800, 1600, 6400))
    assert huge.flow_s(1) == large.flow_s(1) == pytest.approx(small.flow_s(1) / 2)


def test_the_end_where_predictions_are_carried_along_flow_is_fusing_and_painting_all_frames() -> None:
    plain_s = COSTS.finish_s(24, 5, 40.0, FLOW, 0)
    assert plain_s == pytest.approx(24 * SECONDS["pixels"] + 40 * SECONDS["fusing"])
    assert COSTS.finish_s(24, 5, 40.0, FLOW, 24) == pytest.approx(plain_s + 24 * SECONDS["edges"])


def test_the_end_where_labels_are_copied_is_painting_key_frames_and_copying_the_others() -> None:
    plain_s = COSTS.finish_s(24, 5, 40.0, COPY, 0)
    assert plain_s == pytest.approx(5 * SECONDS["pixels"] + 19 * SECONDS["copies"])
    assert COSTS.finish_s(24, 5, 40.0, COPY, 24) == pytest.approx(plain_s + 5 * SECONDS["edges"])


def test_threads_share_stages_and_a_network_runs_on_one_of_them() -> None:
    one, two = (FrameCosts(frozen_prices(), N_PIXELS, N_CELLS, threads) for threads in (1, 2))
    assert two.network_s("small") == one.network_s("small") == SECONDS["small"]
    assert two.flow_s(5) == pytest.approx(one.flow_s(5) / 2)
    assert two.finish_s(24, 5, 40.0, FLOW, 24) == pytest.approx(one.finish_s(24, 5, 40.0, FLOW, 24) / 2)


def test_prices_are_seconds_of_one_thread_however_many_have_measured_them() -> None:
    for threads in (1, 2):
        prices = quiet_prices({})
        costs, ledger = FrameCosts(prices, N_PIXELS, N_CELLS, threads), Ledger(None)
        costs.book(Account(ManualClock(), prices, ledger), "flow", float(N_PIXELS), 0.6 / threads)
        assert prices.usual("frames flow", float(N_PIXELS)) == pytest.approx(0.6)
        assert ledger.stages["flow"].spent_s == pytest.approx(0.6 / threads)


def test_on_a_machine_that_is_slower_now_everything_takes_longer() -> None:
    prices = frozen_prices()
    prices.slowdown.factor = 3.0
    slow = FrameCosts(prices, N_PIXELS, N_CELLS, threads=1)
    assert slow.network_s("small") == pytest.approx(3 * COSTS.network_s("small"))
    assert slow.finish_s(24, 5, 40.0, FLOW, 24) == pytest.approx(3 * COSTS.finish_s(24, 5, 40.0, FLOW, 24))
