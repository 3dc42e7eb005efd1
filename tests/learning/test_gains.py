"""What descriptors add to each other: scores of whole videos, and what a linear policy is told of them."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from budgetseg.evaluation.experiment import label_table
from budgetseg.learning.gains import Gains, find_gains
from budgetseg.learning.judge import Judge
from budgetseg.simulate import Arena
from tests.simulate.arenas import MODEL, NAMES, table_with_needs

TABLES = [table_with_needs(25, seed) for seed in (0, 1)]
ARENAS = [Arena.of(MODEL, table) for table in TABLES]
SOME = ("colour", "hof", "dcnn")


def bits(*names: str) -> int:
    return sum(1 << NAMES.index(name) for name in names)


@pytest.mark.parametrize("cores", [1, 2])
def test_the_score_of_a_subset_is_that_of_the_unbounded_crf_with_it(cores: int) -> None:
    judge = Judge(ARENAS, SOME, 0.3, cores)
    gains = find_gains(judge)
    for n in (1, 2, 3):
        for names in combinations(SOME, n):
            score = 0.0
            for table in TABLES:
                labels = label_table(MODEL, table, np.full(25, bits(*names), np.int32))
                score += float(table.truth[np.arange(25), labels] @ judge.worth[labels])
            assert gains.scores[bits(*names)] == pytest.approx(score)
    assert np.isfinite(gains.scores).sum() == 8
    assert np.isnan(gains.scores[bits("colour", "hog")])


def test_who_has_nothing_doubts_most() -> None:
    gains = find_gains(Judge(ARENAS, NAMES, 0.3))
    assert np.argmax(gains.doubts) == 0
    assert gains.doubts[0] == pytest.approx(np.log(1.02))


def test_the_best_subsets_are_among_those_that_may_be_computed() -> None:
    gains = find_gains(Judge(ARENAS, SOME, 0.3))
    best = gains.best(3)
    some = gains.scores[1:]
    assert list(gains.scores[best]) == sorted(some[np.isfinite(some)], reverse=True)[:3]
    assert not any(own & ~bits(*SOME) for own in best)
    assert len(gains.best(100)) == 7  # not the empty one


def made(values: dict[tuple[str, ...], float]) -> Gains:
    """Of three descriptors, without any doubt; what is not said is worth nothing."""
    names = ("a", "b", "c")
    scores = np.zeros(8)
    for some, value in values.items():
        scores[sum(1 << names.index(name) for name in some)] = value
    return Gains(names, ("a", "b"), np.where(np.arange(8) < 4, scores, np.nan), np.zeros(8))


def test_what_a_descriptor_adds_depends_on_what_is_there() -> None:
    gains = made({("a",): 0.5, ("b",): 0.4, ("a", "b"): 0.6})
    assert gains.of("a") == pytest.approx({"": np.log(0.5), "b": np.log(0.2 / 0.5)})
    assert gains.of("b") == pytest.approx({"": np.log(0.4), "a": np.log(0.1 / 0.4)})


def test_what_harms_counts_as_next_to_nothing() -> None:
    gains = made({("a",): 0.5, ("b",): 0.4, ("a", "b"): 0.3})
    assert gains.of("b") == pytest.approx({"": np.log(0.4), "a": np.log(Gains.least / 0.4)})


def test_what_doubt_says_already_is_left_out() -> None:
    gains = made({("a",): 0.5, ("b",): 0.4, ("a", "b"): 0.6})
    doubtful = replace(gains, doubts=np.array([0.0, -1.0, -2.0, -3.0, 0, 0, 0, 0]))
    assert doubtful.of("a")["b"] == pytest.approx(gains.of("a")["b"] + 2.0)
    assert doubtful.of("b")["a"] == pytest.approx(gains.of("b")["a"] + 1.0)
