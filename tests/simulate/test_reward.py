"""What a run was worth: the labels that it leads to, and how many of them are right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.crf import Memory
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of
from budgetseg.evaluation.experiment import label_table
from budgetseg.policy.linear import random_policy
from budgetseg.policy.state import State
from budgetseg.simulate import Arena, Reward, play, reward, worth_of
from tests.simulate.arenas import MODEL, NAMES, random_arena, table_with_needs


def end_of(arena: Arena, fraction: float, seed: int = 0) -> State:
    episode = arena.begin(fraction * arena.full_s(NAMES), NAMES, seed=seed)
    play(episode, arena.probabilities, random_policy(len(NAMES), 3))
    return episode.state


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, np.inf])
def test_labels_are_those_of_the_table_with_what_was_computed(fraction: float) -> None:
    arena = random_arena()
    state = end_of(arena, fraction)
    expected = label_table(MODEL, table_with_needs(), state.subsets)
    assert np.array_equal(reward(arena, state).labels, expected)


def test_right_pixels_are_the_diagonal_of_the_confusion() -> None:
    arena = random_arena()
    found = reward(arena, end_of(arena, 0.2))
    assert np.array_equal(found.right, np.diag(confusion_of(arena.truth, found.labels)))


def test_memory_changes_nothing_and_a_start_never_raises_the_energy() -> None:
    arena, memory = random_arena(), Memory()
    for seed in range(5):
        state = end_of(arena, 0.3, seed)
        plain = reward(arena, state)
        assert np.array_equal(reward(arena, state, memory=memory).labels, plain.labels)
        assert np.array_equal(reward(arena, state, plain.labels, memory).labels, plain.labels)


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=6), st.integers(0, 99))
def test_the_score_lies_between_global_accuracy_and_the_average_over_classes(truth: list[list[int]], seed: int) -> None:
    pixels, rng = np.array(truth), np.random.default_rng(seed)
    labels = rng.integers(0, 3, len(pixels)).astype(np.int32)
    confusion = confusion_of(pixels, labels)
    accuracy, found = accuracy_of(confusion), Reward(labels, np.diag(confusion))
    for balance in (0.0, 0.3, 1.0):
        expected = (1 - balance) * accuracy.overall + balance * accuracy.class_average
        assert found.score(worth_of(pixels, balance)) == pytest.approx(expected if pixels.any() else 0)


def test_scores_of_videos_add_up_to_that_of_all_their_pixels() -> None:
    arenas = [random_arena(seed=seed) for seed in range(3)]
    truth = np.concatenate([arena.truth for arena in arenas])
    ends = [reward(arena, end_of(arena, 0.2)) for arena in arenas]
    expected = accuracy_of(confusion_of(truth, np.concatenate([end.labels for end in ends])))
    assert sum(end.score(worth_of(truth)) for end in ends) == pytest.approx(expected.overall)
    assert sum(end.score(worth_of(truth, 1.0)) for end in ends) == pytest.approx(expected.class_average)
