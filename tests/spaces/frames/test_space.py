"""The frames space: what it promises the engine, whatever the video."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.engine.request import Request
from budgetseg.engine.run import run
from budgetseg.errors import UsageError
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import CostClock
from budgetseg.types import Budget, Float32, UInt8
from tests.spaces.frames.worlds import (
    CELLS,
    CLASSES,
    N_CELLS,
    N_PIXELS,
    SHARES,
    SIZE,
    TableNetwork,
    film,
    frozen_prices,
    request_of,
    shades,
    slides,
    space_of,
    street,
)

FRAMES = street(12)


def test_networks_are_sources_in_the_order_of_their_prices() -> None:
    space = space_of(FRAMES)
    assert space.sources == ("small", "large")
    assert [network.shape for network in space.networks_in_order] == [(*CELLS, 3)] * 2
    assert space.cells == CELLS
    assert np.array_equal(space.prior, SHARES)


def test_a_prediction_is_the_output_of_the_network_times_what_classes_count() -> None:
    space = space_of(FRAMES)
    found = space.predict(1, FRAMES[3])
    assert np.allclose(found, shades(FRAMES[3]) * space.class_weights)
    assert found.flags.c_contiguous
    assert found.dtype == np.float32


def test_rare_classes_count_more_by_a_share_that_is_set() -> None:
    shares = np.array([0.9, 0.099, 0.001], np.float32)
    plain, balanced = (
        replace(space_of(FRAMES), class_shares=shares, settings=FrameSettings(balance=balance)).class_weights
        for balance in (0.0, 0.1)
    )
    assert np.allclose(plain, 1)
    assert balanced[2] == balanced.max() == 1
    assert balanced[2] > balanced[1] > balanced[0] > 0.4


def test_an_output_that_is_not_finite_is_refused() -> None:
    class Odd(TableNetwork):
        def __call__(self, frame: UInt8) -> Float32:
            return super().__call__(frame) * np.float32(np.nan)

    space = Frames({"odd": Odd(FRAMES)}, SHARES, frozen_prices())
    with pytest.raises(ArithmeticError, match="NaN or infinity"):
        space.predict(0, FRAMES[0])


def test_costs_are_those_of_frames_of_a_size_and_of_the_cells_of_its_networks() -> None:
    costs = space_of(FRAMES, threads=2).costs(N_PIXELS)
    assert (costs.n_pixels, costs.n_cells, costs.threads) == (N_PIXELS, N_CELLS, 2)


def test_a_plan_begins_with_all_frames_at_full_size() -> None:
    space = space_of(FRAMES)
    for video in (slides(FRAMES), film(FRAMES)):
        plan = space.plan(video, request_of(0.001))
        assert (plan.n_frames, plan.size, plan.stride, plan.prior) == (12, SIZE[::-1], 1, False)


def test_a_budget_of_descriptors_is_refused_with_a_remedy() -> None:
    request = Request((Budget(1.0),), "descriptors")
    with pytest.raises(UsageError, match="use --space regions"):
        run(space_of(FRAMES), slides(FRAMES), request, CLASSES, CostClock())


def test_windows_are_as_long_as_memory_allows_or_as_is_asked_for() -> None:
    space = space_of(FRAMES)
    plan = space.plan(slides(FRAMES), request_of(1.0))
    usual = space.window_length(request_of(1.0), plan)
    assert usual > 1000
    assert space.window_length(request_of(1.0, window=7), plan) == 7
    half = replace(space, settings=FrameSettings(window_bytes=space.settings.window_bytes // 2))
    assert half.window_length(request_of(1.0), plan) == pytest.approx(usual / 2, abs=1)
    small = replace(space, settings=FrameSettings(window_bytes=1))
    assert small.window_length(request_of(1.0), plan) == small.settings.shortest_window


def test_more_networks_and_larger_frames_make_shorter_windows() -> None:
    space, one = space_of(FRAMES), space_of(FRAMES, names=("small",))
    plan = space.plan(slides(FRAMES), request_of(1.0))
    assert one.window_length(request_of(1.0), plan) > space.window_length(request_of(1.0), plan)
    large = replace(plan, size=(1080, 1920))
    assert space.window_length(request_of(1.0), large) < 100
