"""The regions space: what it promises the engine, whatever the video."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.engine.request import Request
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget
from tests.spaces.regions.worlds import (
    N_FRAMES,
    N_PIXELS,
    NAMES,
    SIZE,
    lines_of,
    model_of,
    open_state,
    rates_of,
    request_of,
    space_of,
    street,
    video_of,
)

FRAMES = street()
MODEL = model_of()
VIDEO = video_of(FRAMES)


def test_descriptors_are_sources_in_the_order_of_h() -> None:
    space = space_of(MODEL)
    assert space.sources == NAMES
    assert np.allclose(space.prior, MODEL.classifiers.prior)
    assert space.prior.dtype == np.float32


def test_a_space_of_another_tier_is_the_same_but_for_its_supervoxels() -> None:
    space = replace(space_of(MODEL), tier="quality")
    assert space.tiers == ("quality", "fast")
    assert space.of_tier(None) is space.of_tier("quality") is space
    fast = space.of_tier("fast")
    assert (fast.tier, fast.prices) == ("fast", space.prices)
    assert space_of(MODEL).tiers == ("fast",)


def test_supervoxels_are_priced_by_tier_and_threads_and_by_blocks_of_pixels() -> None:
    space = space_of(MODEL, threads=2)
    key, work = space.cutting(3, (360, 480))
    assert key == "supervoxels fast 2"
    assert work < 3 * 360 * 480
    assert replace(space, tier="quality").cutting(3, (360, 480)) == ("supervoxels quality 2", 3 * 360 * 480)
    assert space.cutting(6, (360, 480))[1] == 2 * work


def test_painting_is_the_work_of_one_of_the_threads_that_it_is_worth() -> None:
    space = space_of(MODEL, threads=2)
    assert space.painting(1_000_000) == ("pixels", 1_000_000)
    assert space.painting(100_000_000) == ("pixels", 50_000_000)


def test_without_a_deadline_nothing_is_given_up() -> None:
    requests = (
        request_of(np.inf),
        request_of(0.001, scope="descriptors"),
        Request((Budget(0.1, is_share=True),), density=25.0),
    )
    for request in requests:
        plan = space_of(MODEL).plan(VIDEO, request)
        assert (plan.size, plan.stride, plan.density, plan.prior) == (SIZE[::-1], 1, 25.0, False)


@pytest.mark.parametrize(("decode_s", "is_prior"), [(0.01, False), (0.03, False), (1.0, True)])
def test_decoding_that_is_believed_to_take_too_long_is_tried_where_it_may_be_four_times_too_dear(
    decode_s: float, is_prior: bool
) -> None:
    """Where nothing would be read, what reading costs would never be known better."""
    rates = rates_of() | {"decode .array": decode_s / N_PIXELS}
    space = space_of(MODEL, prices=Prices(rates, lines_of(), frozen=True))
    assert space.plan(VIDEO, request_of(0.02)).prior == is_prior


def test_windows_are_as_long_as_memory_allows_or_as_is_asked_for() -> None:
    space = space_of(MODEL)
    plan = space.plan(VIDEO, request_of(np.inf))
    assert space.window_length(request_of(1.0), plan) == space.settings.window_pixels // N_PIXELS
    assert space.window_length(request_of(1.0, window=5), plan) == 5
    small = replace(space, settings=RegionSettings(window_pixels=1))
    assert small.window_length(request_of(1.0), plan) == small.settings.shortest_window
    read = replace(plan, size=(32, 48), read_size=(64, 96))
    assert space.window_length(request_of(1.0), read) == space.window_length(request_of(1.0), plan)


def test_a_reader_gives_the_frames_that_a_plan_works_on_at_their_size() -> None:
    space = space_of(MODEL)
    plan = replace(space.plan(VIDEO, request_of(np.inf)), stride=4, size=(32, 48))
    reader = space.reader(VIDEO, plan)
    found = dict(reader.read(range(4)))
    assert [found[k].shape for k in range(4)] == [(32, 48, 3)] * 4
    whole = dict(space.reader(VIDEO, replace(plan, size=(64, 96))).read(range(4)))
    assert all(np.array_equal(whole[k], FRAMES[4 * k]) for k in range(4))


def test_a_window_is_opened_with_nothing_read() -> None:
    read = list[int]()
    space, video = space_of(MODEL), video_of(FRAMES, lambda: read.append(1))
    state = open_state(space, video, request_of(1.0))
    assert not read
    assert state.scene is None
    assert (state.n_frames, state.n_places) == (N_FRAMES, 0)
