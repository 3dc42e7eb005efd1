"""The plan that promises most within a budget."""

import pytest
from budgetseg.frames.plan import (
    ALONE,
    CARRIES,
    COARSE,
    COPY,
    FINE,
    MOST_LOST,
    STRIDES,
    Prices,
    carries_at,
    choose,
    loss,
    recipes_for,
)

RECIPES = recipes_for(["dcnn", "dcnn_large"])
FLOW_S = {FINE: 0.001, COARSE: 0.0005, COPY: 0.0}


def prices(n_frames: int, decode_s: float = 0.002, have: dict[tuple[str, int], int] | None = None) -> Prices:
    return Prices(
        lambda stride, carry: n_frames / stride * (decode_s + FLOW_S[carry]),
        lambda carry, k: n_frames * (0.00005 if carry == COPY else 0.0005 * max(2.0, 7 / k) / 2),
        0.0003,
        {"dcnn": 0.005, "dcnn_large": 0.02},
        have or {},
    )


@pytest.mark.parametrize("ms", [0.3, 0.5, 1, 2, 3, 5, 10, 20, 50, 100])
def test_a_plan_fits_or_there_is_none(ms: float) -> None:
    plan = choose(100, 0.1 * ms, prices(100), RECIPES)
    if plan is not None:
        assert plan.foreseen_s <= 0.1 * ms
        assert 1 <= plan.n_keys <= -(-100 // plan.stride)
    assert choose(100, 1e-4, prices(100), RECIPES) is None


def test_more_time_never_promises_less() -> None:
    plans = [choose(100, 0.1 * ms, prices(100), RECIPES) for ms in range(1, 60)]
    scores = [plan.score for plan in plans if plan is not None]
    assert scores == sorted(scores)


def test_from_the_richest_to_the_poorest() -> None:
    rich, middle, poor = (choose(100, budget_s, prices(100), RECIPES) for budget_s in (10.0, 0.25, 0.06))
    assert rich is not None
    assert (rich.recipe.network, rich.recipe.views, rich.n_keys, rich.stride) == ("dcnn_large", 2, 100, 1)
    assert middle is not None
    assert middle.recipe.network == "dcnn"
    assert poor is not None
    assert poor.stride > middle.stride


def test_what_was_asked_before_is_free() -> None:
    before = choose(100, 1.0, prices(100), RECIPES, STRIDES[:1])
    after = choose(100, 1.0, prices(100, have={("dcnn_large", 1): 50}), RECIPES, STRIDES[:1])
    assert before is not None
    assert after is not None
    assert after.n_keys >= before.n_keys + 20


def test_a_network_that_is_not_ours_is_asked_in_one_view_and_in_two() -> None:
    assert [(recipe.network, recipe.views) for recipe in recipes_for(["mynet", "other"])] == [
        ("mynet", 1),
        ("mynet", 2),
    ]


@pytest.mark.parametrize("ms", [8, 12, 16])
def test_where_frames_lie_apart_the_small_network_sees_all_rather_than_the_large_one_some(ms: float) -> None:
    film, slides = (choose(100, 0.1 * ms, prices(100), RECIPES, apart=apart) for apart in (1.0, 20.0))
    assert film is not None
    assert slides is not None
    assert (film.recipe.network, film.n_keys < 100) == ("dcnn_large", True)
    assert (slides.recipe.network, slides.n_keys, slides.stride) == ("dcnn", 100, 1)


@pytest.mark.parametrize("carry", CARRIES)
@pytest.mark.parametrize("apart", [1.0, 20.0])
def test_more_key_frames_never_lose_more(carry: str, apart: float) -> None:
    losses = [loss(100 / n_keys - 1, 0, carry, apart) for n_keys in range(1, 101)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == (ALONE if carry == COPY else 0)


@pytest.mark.parametrize("carry", CARRIES)
def test_strangers_lose_no_more_than_there_is_to_lose_and_key_frames_nothing(carry: str) -> None:
    alone = ALONE if carry == COPY else 0.0
    for every in (2, 4, 100):
        losses = [loss(every - 1, 0, carry, apart) for apart in (1.0, 3.0, 10.0, 40.0, 1e6)]
        assert losses == sorted(losses)
        assert losses[-1] == pytest.approx(alone + MOST_LOST * (1 - 1 / every))


def test_what_is_copied_is_the_same_however_many_frames_were_decoded() -> None:
    assert loss(9, 0, COPY) == loss(9, 4, COPY)
    assert loss(9, 0, COARSE) < loss(9, 4, COARSE)


def test_fine_flow_is_for_film() -> None:
    assert carries_at(1.0) == CARRIES
    assert carries_at(20.0) == (COARSE, COPY)
    assert choose(100, 10.0, prices(100), RECIPES, apart=20.0).carry != FINE  # type: ignore[union-attr]
