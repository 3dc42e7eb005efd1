"""Learning of the CRF: it finds what one price for all pairs cannot say."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.crf import expand
from budgetseg.crf.learning import CrfRecipe, Example, learn_crf, potts
from budgetseg.crf.potentials import Crf, Nodes, make_potentials
from budgetseg.types import Int64
from tests.graphs import graph_of

SURE = np.array([[0.9, 0.03, 0.06, 0.01], [0.03, 0.9, 0.06, 0.01], [0.03, 0.06, 0.9, 0.01]])
NOISY = np.array([[0.38, 0.28, 0.33, 0.01], [0.28, 0.38, 0.33, 0.01], [0.2, 0.19, 0.6, 0.01]])


def chain(labels: Int64, seed: int) -> Example:
    """Supervoxels of one size in a row; one of two is hard to tell from others, and sometimes taken for class 2.

    The fourth class never occurs. All supervoxels look the same, so that prices of pairs alone count.
    """
    rng, n = np.random.default_rng(seed), len(labels)
    rows = SURE[labels]
    hard = np.arange(n) % 4 == 1
    rows[hard] = NOISY[labels[hard]]
    fooled = hard & (labels == 0) & (rng.random(n) < 0.5)
    rows[fooled] = NOISY[2]
    steps = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    graph = graph_of(steps, np.arange(n)[:, None] * [0, 0, 1])
    graph = replace(graph, sizes=np.full(n, 10), contact=np.full(n - 1, 3))
    evidence = Nodes(
        rows.astype(np.float32), np.zeros((n, 1), np.float32), np.ones(n, np.int32), np.array([0, 1], np.int64)
    )
    return Example(evidence, graph, 10 * np.eye(4, dtype=np.int64)[labels])


def stripes(seed: int) -> Example:
    """Classes 0 and 1 in turn where they meet at all; 0 and 2 in long runs."""
    return chain(np.concatenate([np.arange(80) % 2, np.zeros(80, int), np.full(40, 2)]), seed)


def start(price: float = 0.6) -> Crf:
    return potts(np.zeros((1, 4), np.float32), price)


def accuracy(crf: Crf, example: Example) -> float:
    labels = expand(make_potentials(crf, example.evidence, example.graph))
    return float((labels == example.truth.argmax(axis=1)).mean())


@pytest.fixture(scope="module")
def learned() -> Crf:
    return learn_crf(
        start(), [stripes(seed) for seed in range(3)], CrfRecipe(balance=0, pull=0.01, rate=2, n_rounds=100)
    )


def test_it_separates_what_no_single_price_does(learned: Crf) -> None:
    unseen = stripes(10)
    by_hand = max(accuracy(start(price), unseen) for price in np.linspace(0, 1, 21))
    assert by_hand < 0.99
    assert accuracy(learned, unseen) > by_hand


def test_pairs_that_often_meet_become_cheaper_than_pairs_that_do_not(learned: Crf) -> None:
    assert learned.pair[0, 1] < learned.pair[0, 2]


def test_pairs_that_were_never_seen_keep_their_price(learned: Crf) -> None:
    assert np.array_equal(learned.pair[3], start().pair[3])
    assert learned.unary_bias[3] == start().unary_bias[3]


@pytest.mark.parametrize("rate", [0.3, 100.0])
def test_figures_are_allowed_however_large_the_steps(rate: float) -> None:
    found = learn_crf(start(), [stripes(0)], CrfRecipe(rate=rate, n_rounds=6))
    assert (found.unary_weight >= np.float32(0.1)).all()
    assert np.array_equal(found.pair, found.pair.T)
    assert (np.diag(found.pair) == 0).all()
    assert (found.pair[~np.eye(4, dtype=np.bool_)] >= np.float32(1e-3)).all()
    assert np.isfinite(found.unary_bias).all()


def test_the_same_examples_teach_the_same() -> None:
    one, two = (learn_crf(start(), [stripes(0), stripes(1)], CrfRecipe(n_rounds=5)) for _ in range(2))
    for name in ("unary_weight", "unary_bias", "pair"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("n_rounds", [1, 2, 5])
def test_any_number_of_rounds_will_do_and_each_is_told_of(n_rounds: int) -> None:
    told: list[int] = []
    found = learn_crf(start(), [stripes(0)], CrfRecipe(n_rounds=n_rounds), told.append)
    assert sum(told) == n_rounds
    assert np.isfinite(found.pair).all()


def test_a_strong_pull_keeps_the_model_where_it_was() -> None:
    near, far = (learn_crf(start(), [stripes(0)], CrfRecipe(pull=pull, rate=0.1, n_rounds=20)) for pull in (9, 0))
    assert np.abs(near.pair - start().pair).max() < np.abs(far.pair - start().pair).max()


def test_rare_classes_gain_where_the_loss_counts_classes() -> None:
    labels = np.zeros(100, int)
    labels[::10] = 1
    example = chain(labels, 0)
    example.evidence.probabilities[:] = [0.5, 0.2, 0.29, 0.01]
    by_pixels, by_classes = (learn_crf(start(), [example], CrfRecipe(balance=balance)) for balance in (0, 1))
    assert by_classes.unary_bias[1] < by_pixels.unary_bias[1]


def test_a_huge_supervoxel_that_h_gets_wrong_still_teaches() -> None:
    example = chain(np.zeros(200, int), 0)
    example.graph.sizes[:] = 1
    example.graph.sizes[100] = 1000
    example.truth[100] = [0, 10, 0, 0]
    example.evidence.probabilities[100] = [1, 0, 0, 0]
    assert learn_crf(start(), [example], CrfRecipe(n_rounds=2)).unary_bias[1] < 0


def test_unlabelled_supervoxels_teach_nothing_alone() -> None:
    example = stripes(0)
    example.truth[:] = 0
    example.truth[0, 0] = 10
    found = learn_crf(start(), [example], CrfRecipe(n_rounds=4))
    assert np.abs(found.pair - start().pair).max() < 0.05


def test_by_hand_all_pairs_of_labels_have_a_price() -> None:
    crf = potts(np.zeros((1, 3), np.float32))
    assert np.array_equal(crf.pair > 0, ~np.eye(3, dtype=np.bool_))


def test_one_supervoxel_and_no_edges_can_be_learned_from() -> None:
    example = chain(np.array([1]), 0)
    assert np.array_equal(learn_crf(start(), [example], CrfRecipe(n_rounds=3)).pair, start().pair)
