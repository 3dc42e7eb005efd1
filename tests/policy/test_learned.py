"""Learned policies: what they are for, and what may be expected of them."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.policy.features import n_features
from budgetseg.policy.learned import SELECTIONS, Expected, LearnedPolicy, Uses, budget_for, expected_at, learned_for
from budgetseg.policy.linear import LinearPolicy
from tests.policy.worlds import EVERYTHING, any_policy, made_video

EXPECTED = (Expected(0.01, 0.2, 0.3), Expected(0.1, 0.4, 0.7), Expected(1.0, 0.6, 0.9))


def policy(n_descriptors: int = 2, n_labels: int = 3) -> LinearPolicy:
    return LinearPolicy(np.zeros((n_descriptors + 1, n_features(n_descriptors, n_labels, True)), np.float32), True)


def learned(
    method: str = "budget-wanted", among: tuple[str, ...] = ("colour", "hog"), costs: str = "shared"
) -> LearnedPolicy:
    return LearnedPolicy(method, among, costs, policy(), EXPECTED)


BAD_USES = [
    (),
    (Uses(0.2, -1), Uses(0.2, 1)),
    (Uses(0.2, -1), Uses(0.1, 1)),
    (Uses(-0.1, -1),),
    (Uses(0.1, -1), Uses(np.inf, 1)),
    (Uses(np.nan, -1),),
]


def few(descriptors: int) -> tuple[Uses, ...]:
    """These alone, at every budget."""
    return (Uses(0.0, descriptors),)


def test_each_method_has_its_order_of_selection() -> None:
    orders = {method: learned(method).at(0.5)[1].order for method in SELECTIONS}
    assert orders == {"budget-rndrnk": "random", "budget-nhbrnk": "unsure", "budget-wanted": "wanted"}
    assert [learned(method).at(0.5)[1].reopen for method in SELECTIONS] == [
        False,
        False,
        True,
    ]  # the paper's do not


def test_what_it_does_without_is_not_computed() -> None:
    video = made_video(0)
    own = LearnedPolicy("budget-wanted", ("a", "b"), "shared", any_policy(video, 0, extended=True), (), few(0b101))
    episode = video.begin(EVERYTHING, own.at(1.0)[1])
    video.run(episode, own.policy)
    assert (episode.state.subsets == 0b101).all()
    assert episode.full_s == video.begin(EVERYTHING).full_s  # budgets are shares of the same
    assert learned().at(0.1)[1].enabled == -1
    assert replace(learned(), uses=few(0b01)).at(0.1)[1] == replace(SELECTIONS["budget-wanted"], enabled=0b01)
    with pytest.raises(UsageError, match=r"^a policy must use one of the 2 descriptors at least\. Got 100$"):
        replace(learned(), uses=(Uses(0.1, 0b11), Uses(0.2, 0b100))).check(2, 3)


@pytest.mark.parametrize(
    ("fraction", "enabled"), [(0.001, 0b11), (0.1, 0b11), (0.18, 0b11), (0.19, 0b10), (0.5, 0b10), (np.inf, 0b01)]
)
def test_what_it_computes_is_for_the_largest_budget_that_is_nearly_there(fraction: float, enabled: int) -> None:
    own = replace(learned(), uses=(Uses(0.05, 0b11), Uses(0.2, 0b10), Uses(0.9, 0b01)))
    assert own.at(fraction)[1].enabled == enabled


@pytest.mark.parametrize("uses", BAD_USES)
def test_budgets_of_what_it_uses_must_rise(uses: tuple[Uses, ...]) -> None:
    with pytest.raises(UsageError, match=r"^a policy must list the descriptors it uses, for rising budgets from 0 on$"):
        replace(learned(), uses=uses)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^no learned method 'best'; choose from budget-rndrnk, budget-nhbrnk"):
        learned("best")
    with pytest.raises(UsageError, match=r"^no costs 'free'; choose from shared, unshared$"):
        learned(costs="free")
    for value in (np.nan, np.inf):
        weights = policy().weights.copy()
        weights[1, 2] = value
        with pytest.raises(UsageError, match=r"^weights of a policy must be finite$"):
            LearnedPolicy("budget-wanted", ("hog",), "shared", LinearPolicy(weights, True))


@pytest.mark.parametrize(
    "expected",
    [
        [Expected(0.1, np.nan, 0.5)],
        [Expected(0.0, 0.5, 0.5)],
        [Expected(np.inf, 0.5, 0.5)],
        [Expected(0.2, 0.5, 0.5), Expected(0.1, 0.5, 0.5)],
        [Expected(0.1, 0.5, 0.5), Expected(0.1, 0.5, 0.5)],
    ],
    ids=str,
)
def test_accuracies_for_budgets_that_do_not_rise_are_refused(expected: list[Expected]) -> None:
    with pytest.raises(UsageError, match=r"^accuracies to be expected must be finite, for rising budgets above 0$"):
        LearnedPolicy("budget-wanted", ("hog",), "shared", policy(), tuple(expected))


def test_weights_must_be_for_as_many_descriptors_and_classes() -> None:
    learned().check(2, 3)
    for sizes in ((2, 4), (3, 3)):
        with pytest.raises(UsageError, match=r"^weights of a policy must be \(\d+, \d+\)\. Got \(3, \d+\)$"):
            learned().check(*sizes)


def test_a_policy_is_found_by_method_descriptors_in_any_order_and_costs() -> None:
    every = [
        learned(method, among, costs)
        for method in SELECTIONS
        for among in (("colour", "hog"), ("colour", "hog", "dcnn"))
        for costs in ("shared", "unshared")
    ]
    assert learned_for(every, "budget-nhbrnk", ["dcnn", "hog", "colour"], "unshared") is every[7]
    assert learned_for(every, "budget-nhbrnk", ["hog", "colour"]) is every[4]
    assert learned_for(every, "budget-nhbrnk", ["hog"]) is None
    assert learned_for(every[:1], "budget-rndrnk", ["hog", "colour"], "unshared") is None


def test_what_to_expect_lies_between_the_budgets_that_are_known() -> None:
    for known in EXPECTED:
        assert expected_at(EXPECTED, known.budget_fraction) == pytest.approx(known)
    assert expected_at(EXPECTED, 0.1 * np.sqrt(10))[1:] == pytest.approx((0.5, 0.8))
    for fraction in (0.0, 1e-6, 0.005):
        assert expected_at(EXPECTED, fraction) == (fraction, 0.2, 0.3)
    assert expected_at(EXPECTED, 50.0) == (50.0, 0.6, 0.9)


def test_the_smallest_budget_that_promises_enough() -> None:
    assert budget_for(EXPECTED, 0.1) == pytest.approx(0.01)
    assert budget_for(EXPECTED, 0.9) == pytest.approx(1.0)
    assert budget_for(EXPECTED, 0.91) is None
    assert budget_for((), 0.1) is None
    for accuracy in (0.35, 0.6, 0.75, 0.85):
        found = budget_for(EXPECTED, accuracy)
        assert found is not None
        assert expected_at(EXPECTED, found).overall >= accuracy > expected_at(EXPECTED, found / 1.05).overall
