"""Which network is asked about which frame: what was planned, the frames between, and nothing twice."""

import numpy as np
import pytest
from budgetseg.frames.evidence import Ask, Evidence
from budgetseg.frames.plan import FINE, Plan
from budgetseg.frames.questions import Questions

from tests.frames.worlds import CELLS, COSTS, SIZE, Clock, engine

N = 24


@pytest.fixture
def questions() -> Questions:
    """About a window all of whose frames were read."""
    frames = {t: np.zeros((*SIZE[::-1], 3), np.uint8) for t in range(N)}
    return Questions(engine(Clock(), COSTS), Evidence(N, CELLS, frames))


def plan_of(questions: Questions, network: str, n_keys: int) -> Plan:
    recipe = next(recipe for recipe in questions.recipes if recipe.network == network)
    return Plan(recipe, n_keys, 1, FINE, True, 0.0, 0.0)


def test_key_frames_come_first_then_the_frames_between(questions: Questions) -> None:
    plan = plan_of(questions, "dcnn", 4)
    asked = [ask.frame for ask in questions.worthy(plan) if ask.network == "dcnn"][:N]
    assert sorted(asked[:4]) == [3, 9, 15, 21]
    assert sorted(asked) == list(range(N))


def test_what_was_issued_is_not_asked_again_unless_it_is_taken_back(questions: Questions) -> None:
    plan, asks = plan_of(questions, "dcnn", N), [Ask("dcnn", t) for t in range(10)]
    assert list(questions.issue(asks)) == asks
    again = {ask.frame for ask in questions.worthy(plan) if ask.network == "dcnn"}
    assert again == set(range(10, N))
    questions.take_back(Ask("dcnn", 4))
    assert {ask.frame for ask in questions.worthy(plan) if ask.network == "dcnn"} == {4, *range(10, N)}


def test_small_change_is_of_cheaper_networks_about_frames_that_nobody_was_asked_about(questions: Questions) -> None:
    plan = plan_of(questions, "dcnn_large", 3)
    list(questions.issue([Ask("dcnn_large", 5), Ask("dcnn_large", 15)]))
    small = list(questions.small_change(plan))
    assert {ask.network for ask in small} == {"dcnn"}
    assert {ask.frame for ask in small} == set(range(N)) - {5, 15}
    assert list(questions.small_change(plan_of(questions, "dcnn", 3))) == []


def test_a_network_that_failed_is_no_small_change(questions: Questions) -> None:
    questions.drop("dcnn")
    assert not questions.may_ask("dcnn")
    assert questions.may_ask("dcnn_large")
    assert list(questions.small_change(plan_of(questions, "dcnn_large", 3))) == []


def test_the_next_question_is_the_cheapest_that_is_left(questions: Questions) -> None:
    plan = plan_of(questions, "dcnn_large", 3)
    assert questions.next_s(plan, COSTS.__getitem__) == COSTS["dcnn"]
    list(questions.issue(Ask("dcnn", t) for t in range(N)))
    assert questions.next_s(plan, COSTS.__getitem__) == COSTS["dcnn_large"]
    list(questions.issue(Ask("dcnn_large", t, mirrored) for t in range(N) for mirrored in (False, True)))
    assert questions.next_s(plan, COSTS.__getitem__) == 0.0
