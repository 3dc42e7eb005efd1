"""The plan that promises most within a budget."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.spaces.frames.costs import COPY, FLOW, FrameCosts
from budgetseg.spaces.frames.plan import Options, choose, loss, unread_loss
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices

N = 100
SIZE = (60, 100)
CELLS = 1500
SETTINGS = FrameSettings()
LOSSES = SETTINGS.losses
MARGINS = Margins(finish=1.1, action=1.1)
SECONDS = {"small": 0.005, "large": 0.02}
PIXELS = SIZE[0] * SIZE[1]
PRICES = Prices(
    {
        "frames small": SECONDS["small"],
        "frames large": SECONDS["large"],
        "frames flow": 0.001 / PIXELS,
        "frames fusing": 0.0002 / CELLS,
        "frames pixels": 0.0002 / PIXELS,
        "frames edges": 0.0003 / PIXELS,
        "frames copies": 0.00005 / PIXELS,
    },
    frozen=True,
)
COSTS = FrameCosts(PRICES, PIXELS, CELLS, threads=1)
READ_S = {stride: 0.002 * -(-N // stride) for stride in STRIDES}
OPTIONS = Options(N, SIZE, ("small", "large"), read_s=READ_S, gains={"small": 0.0, "large": 2.2})


def best(left_s: float, options: Options = OPTIONS, settings: FrameSettings = SETTINGS) -> Plan | None:
    return choose(options, left_s, COSTS, settings, MARGINS)


def sure(left_s: float, options: Options = OPTIONS, settings: FrameSettings = SETTINGS) -> Plan:
    """The best plan, where there is one."""
    plan = best(left_s, options, settings)
    assert plan is not None
    return plan


def every_frame_s(network: str) -> float:
    """Seconds of a network on every frame of the video, with nothing carried."""
    return READ_S[1] + N * SECONDS[network] + MARGINS.finish * COSTS.finish_s(N, N, 0.0, COPY, 0)


@pytest.mark.parametrize("left_s", [0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0])
def test_a_plan_fits_or_there_is_none(left_s: float) -> None:
    plan = best(left_s)
    if plan is not None:
        assert plan.cost_s <= left_s
        assert 1 <= plan.n_keys <= -(-N // plan.stride)
        assert plan.network in SECONDS
        assert plan.carry in (FLOW, COPY)
    assert best(1e-4) is None


def test_more_time_never_promises_less() -> None:
    plans = [best(0.1 * tenths) for tenths in range(1, 60)]
    scores = [plan.score for plan in plans if plan is not None]
    assert len(scores) > 50
    assert scores == sorted(scores)


def test_without_a_bound_the_dearest_network_sees_every_frame_and_labels_follow_edges() -> None:
    plan = sure(np.inf)
    assert (plan.network, plan.n_keys, plan.stride, plan.edges) == ("large", N, 1, True)


def test_less_time_means_fewer_key_frames_then_a_cheaper_network_then_fewer_frames_read() -> None:
    rich, middle, poor = (sure(left_s) for left_s in (10.0, 0.6, 0.06))
    assert (rich.network, rich.n_keys, rich.stride) == ("large", N, 1)
    assert middle.n_keys < N
    assert poor.network == "small"
    assert poor.stride > middle.stride


@pytest.mark.parametrize("network", SECONDS)
@pytest.mark.parametrize("gap", [1.0, 5.0, 40.0])
def test_no_plan_promises_less_than_a_network_on_every_frame_that_fits(network: str, gap: float) -> None:
    quality = OPTIONS.gains[network]
    floor = quality - LOSSES.alone
    for more in (1.001, 1.2, 2.0):
        plan = sure(more * every_frame_s(network), replace(OPTIONS, distance=gap))
        assert plan.score >= floor - 1e-9


@pytest.mark.parametrize("left_s", [0.9, 1.2, 1.6])
def test_where_frames_have_little_in_common_a_cheap_network_sees_all_rather_than_a_dear_one_some(left_s: float) -> None:
    film, slides = sure(left_s), sure(left_s, replace(OPTIONS, distance=20.0))
    assert (film.network, film.n_keys < N) == ("large", True)
    assert (slides.network, slides.n_keys, slides.stride) == ("small", N, 1)


def test_predictions_that_are_there_cost_nothing() -> None:
    options = replace(OPTIONS, strides=STRIDES[:1])
    before, after = sure(1.0, options), sure(1.0, replace(options, have={"large": 50}))
    assert after.network == "large"
    assert after.n_keys >= before.n_keys + 20


def test_what_was_read_and_flow_that_was_found_cost_nothing() -> None:
    new = replace(OPTIONS, strides=[1], networks=("small",), carries=(FLOW,))
    there = replace(new, read_s={1: 0.0}, n_pairs={1: 0})
    saved_s = READ_S[1] + COSTS.flow_s(N - 1)
    assert sure(0.5, there).n_keys > sure(0.5, new).n_keys
    assert sure(0.5 + saved_s, new).n_keys == sure(0.5, there).n_keys


def test_only_networks_strides_and_carries_that_there_are_are_planned_with() -> None:
    plan = sure(1.0, replace(OPTIONS, networks=("small",), strides=(4,), carries=(COPY,)))
    assert (plan.network, plan.stride, plan.carry) == ("small", 4, COPY)
    assert plan.n_keys <= 25


def test_without_a_network_there_is_no_plan() -> None:
    assert best(10.0, replace(OPTIONS, networks=())) is None


def test_the_end_is_planned_with_its_margin() -> None:
    cautious = choose(OPTIONS, 0.8, COSTS, SETTINGS, replace(MARGINS, finish=2.0))
    assert cautious is not None
    assert cautious.score < sure(0.8).score


# What plans believe


@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_what_carrying_loses_here_scales_what_is_lost_between_key_frames_alone(scale: float) -> None:
    usual, here = (loss(4.0, FLOW, 2.0, LOSSES, times) for times in (1.0, scale))
    assert here == pytest.approx(scale * usual)
    assert loss(1.0, FLOW, 2.0, LOSSES, scale) == 0


def test_a_network_that_is_no_better_here_is_not_planned_with() -> None:
    assert sure(1.2).network == "large"
    assert sure(1.2, replace(OPTIONS, gains={"small": 0.0, "large": 0.0})).network == "small"


def test_where_a_cheap_network_sees_all_the_time_that_is_left_goes_to_a_dear_one() -> None:
    options = replace(OPTIONS, networks=("small",))
    both = replace(OPTIONS, gains={"small": 0.0, "large": 8.0}, distance=40.0)
    seconds = 1.3 * every_frame_s("small")
    alone, more = sure(seconds, options), sure(seconds, both)
    assert (more.network, more.n_keys) == ("small", N)
    assert more.score > alone.score


@pytest.mark.parametrize("carry", [FLOW, COPY])
@pytest.mark.parametrize("distance", [1.0, 20.0])
def test_more_key_frames_never_lose_more(carry: str, distance: float) -> None:
    lost = [loss(N / n_keys, carry, distance, LOSSES) for n_keys in range(1, N + 1)]
    assert lost == sorted(lost, reverse=True)
    assert lost[-1] == pytest.approx(LOSSES.alone if carry == COPY else 0)


@pytest.mark.parametrize("carry", [FLOW, COPY])
@pytest.mark.parametrize("every", [2, 4, 100])
def test_frames_that_have_nothing_in_common_lose_no_more_than_there_is_to_lose(carry: str, every: int) -> None:
    alone = LOSSES.alone if carry == COPY else 0.0
    lost = [loss(every, carry, distance, LOSSES) for distance in (1.0, 3.0, 10.0, 40.0, 1e6)]
    assert lost == sorted(lost)
    assert lost[-1] == pytest.approx(alone + LOSSES.most * (1 - 1 / every))


def test_what_is_copied_is_the_same_however_many_frames_were_read() -> None:
    assert unread_loss(0.5, COPY, 3.0, LOSSES) == unread_loss(0.8, COPY, 3.0, LOSSES) == 0


def test_frames_that_are_neither_read_nor_asked_about_lose_by_flow_that_is_even_between_others() -> None:
    lost = [unread_loss(share, FLOW, 1.0, LOSSES) for share in (0.0, 0.5, 0.8)]
    assert 0 == lost[0] < lost[1] < lost[2] < LOSSES.skipped
    assert unread_loss(0.5, FLOW, 20.0, LOSSES) > 5 * lost[1]


@pytest.mark.parametrize("carry", [FLOW, COPY])
def test_where_there_are_cuts_frames_are_not_left_out_lightly(carry: str) -> None:
    lost = [unread_loss(share, carry, 1.0, LOSSES, crossing=0.03) for share in (0.0, 0.5, 0.8)]
    assert 0 == lost[0] < 2 < lost[1] < lost[2]
    without = sure(0.3, replace(OPTIONS, networks=("small",)))
    assert without.stride > sure(0.3, replace(OPTIONS, networks=("small",), n_cuts=20)).stride


def test_at_the_same_distance_flow_loses_less_than_copying() -> None:
    for every in (1.5, 2.0, 6.0, 21.0):
        assert loss(every, FLOW, 1.0, LOSSES) < loss(every, COPY, 1.0, LOSSES)
