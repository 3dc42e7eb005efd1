"""Static plans: what they decide, and which of them a budget takes."""

import math
from dataclasses import replace

import pytest

from budgetseg.errors import UsageError
from budgetseg.policy.episode import Selection
from budgetseg.policy.static import StaticPlan, plan_for, read_plan
from budgetseg.simulate import play
from tests.simulate.arenas import NAMES, random_arena

HAND_MADE = NAMES[:4]


def plan(fraction: float, among: tuple[str, ...] = NAMES, costs: str = "shared") -> StaticPlan:
    return StaticPlan(fraction, ("colour",), "random", among, costs)


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [(0.001, 0.02), (0.03, 0.02), (0.046, 0.05), (0.4, 0.05), (0.46, 0.5), (1.0, 0.5), (math.inf, 0.5)],
)
def test_the_plan_for_a_budget_is_not_for_much_more(fraction: float, expected: float) -> None:
    plans = [plan(0.5), plan(0.02), plan(0.05)]
    found = plan_for(plans, fraction, NAMES)
    assert found is not None
    assert found.budget_fraction == expected


def test_only_plans_of_the_same_descriptors_and_costs_count() -> None:
    plans = [plan(0.2, HAND_MADE), plan(0.2, NAMES, "unshared")]
    assert plan_for(plans, 0.2, NAMES) is None
    assert plan_for([], 0.2, NAMES) is None
    assert plan_for(plans, 0.2, HAND_MADE[::-1]) is plans[0]
    assert plan_for(plans, 0.2, set(NAMES), "unshared") is plans[1]
    plain = replace(plans[0], rest=False)
    assert plan_for([plain], 0.2, HAND_MADE) is None
    assert plan_for([*plans, plain], 0.2, HAND_MADE, rest=False) is plain


def test_a_plan_that_does_not_say_so_spends_the_rest() -> None:
    stored = {"budget_fraction": 0.1, "descriptors": ["hog"], "order": "large", "among": ["colour", "hog"]}
    assert read_plan(stored).selection == Selection("large", reopen=True)  # as all did once
    assert read_plan(stored | {"rest": False}).selection == Selection("large", reopen=False)


def test_a_plan_computes_its_descriptors_and_no_others_before_anything_is_reopened() -> None:
    arena = random_arena(60)
    own = StaticPlan(0.3, ("dcnn", "hog"), "large", NAMES)
    assert own.selection == Selection("large", 1.0, True)
    episode = arena.begin(0.3 * arena.full_s(own.descriptors), NAMES, replace(own.selection, reopen=False))
    play(episode, arena.probabilities, own.policy(NAMES, 3))
    subsets = episode.state.subsets
    assert (subsets & ~0b10010 == 0).all()
    assert (subsets == 0b10010).sum() > 5


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"budget_fraction": 0.0}, "a plan must be for a budget of more than 0. Got 0.0"),
        ({"budget_fraction": math.inf}, "a plan must be for a budget of more than 0. Got inf"),
        ({"descriptors": ()}, "a plan must be of some of colour, hog. Got "),
        ({"descriptors": ("hof",)}, "a plan must be of some of colour, hog. Got hof"),
        ({"order": "best"}, "no order of selection 'best'; choose from random"),
        ({"costs": "free"}, "no costs 'free'; choose from shared, unshared"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(wrong: dict[str, object], line: str) -> None:
    right = {"budget_fraction": 0.1, "descriptors": ("hog",), "order": "large", "among": ("colour", "hog")}
    with pytest.raises(UsageError) as error:
        StaticPlan(**right | wrong)  # type: ignore[arg-type]
    assert str(error.value).startswith(line)
