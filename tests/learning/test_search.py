"""Direct search: it climbs, and does not lose what it began with."""

from dataclasses import replace

import numpy as np

from budgetseg.policy.episode import Selection
from budgetseg.learning.judge import Judge, Player, Trial
from budgetseg.learning.search import Fold, Found, Recipe, directions, search
from budgetseg.policy.features import EXTRAS, feature_names, n_features
from budgetseg.policy.linear import LinearPolicy, plan_policy
from budgetseg.types import Float64
from tests.learning.toys import NAMES, toy_arena

LABELS = ("road", "sky", "tree")
FEATURES = feature_names(NAMES, LABELS, extended=True)
WAYS = directions(NAMES, LABELS, ("colour", "hof"))
START = Player(LinearPolicy(np.ones((5, n_features(4, 3, True)), np.float32), extended=True), Selection("wanted"))


def test_directions_move_the_descriptors_there_are_to_choose_from_and_nothing_else() -> None:
    assert WAYS.shape == (len(EXTRAS) + 2 + 2 * 3, 5, len(FEATURES))
    assert not WAYS[:, [1, 3, 4]].any()
    assert set(np.unique(WAYS)) == {0, 1}
    assert len({way.tobytes() for way in WAYS}) == len(WAYS)


def test_general_features_move_together_and_others_alone() -> None:
    for k, feature in enumerate(EXTRAS):
        expected = np.zeros((5, len(FEATURES)))
        expected[[0, 2], FEATURES.index(feature)] = 1
        assert np.array_equal(WAYS[k], expected)
    costs = np.argwhere(WAYS[len(EXTRAS)]).tolist()
    assert [(row, FEATURES[f]) for row, f in costs] == [(0, "cost of colour"), (2, "cost of hof")]
    alone = [[(row, FEATURES[f]) for row, f in np.argwhere(way).tolist()] for way in WAYS[len(EXTRAS) + 2 :]]
    assert alone == [
        [(d, f)] for d, other in ((0, "hof"), (2, "colour")) for f in ("1", "time for each", f"has {other}")
    ]


class Known(Judge):
    """Knows how far weights are from the best ones."""

    best: Float64

    def scores(self, players: object, trials: object) -> Float64:
        assert isinstance(players, list)
        assert isinstance(trials, list)
        assert all(isinstance(trial, Trial) for trial in trials)
        apart = [np.linalg.norm(player.policy.weights - self.best) for player in players]
        return -np.array(apart, np.float64)


def known(best: Float64) -> Known:
    judge = Known([toy_arena([0, 1], [1, 1])], ("colour", "hof"), 0.5)
    judge.best = best
    return judge


RECIPE = Recipe((0.1,), n_rounds=100, n_pairs=12, spread=0.2, rate=0.3, every=10)


def test_the_optimum_of_a_known_problem_is_found() -> None:
    place = np.random.default_rng(0).normal(size=len(WAYS))
    best = START.policy.weights + np.tensordot(place, WAYS, axes=1)
    told = list[Found]()
    found = search([Fold(known(best), known(best))] * 2, START, RECIPE, 0, told.append)
    gaps = [-float(known(best).scores([player], [])[0]) for player in (START, found)]
    assert gaps[1] < 0.15 * gaps[0]
    *told, last = told
    assert [(one.fold, one.n_rounds) for one in told] == [(k, n) for n in range(0, 101, 10) for k in (0, 1)]
    assert last.fold is None
    assert last.player is found
    assert last.score <= -gaps[1] + 1e-6  # the mean of two is at least as near as the two on average
    moved = found.policy.weights - START.policy.weights
    assert not moved[[1, 3, 4]].any()


def test_what_only_looks_better_in_training_is_not_taken() -> None:
    best = START.policy.weights + WAYS[0]
    assert search([Fold(known(best), known(START.policy.weights.astype(np.float64)))], START, RECIPE) is START


def test_steps_are_taken_as_far_as_they_help_in_what_is_left_out() -> None:
    far, near = (START.policy.weights + k * WAYS[0].astype(np.float64) for k in (3.0, 1.0))
    told = list[Found]()
    found = search([Fold(known(far), known(near))] * 3, START, RECIPE, 0, told.append)
    last = told.pop()
    totals = {n: sum(one.score for one in told if one.n_rounds == n) for n in range(10, 101, 10)}
    best = max(totals, key=lambda n: totals[n])
    assert 10 <= best == last.n_rounds < 100
    mean = np.mean([one.player.policy.weights for one in told if one.n_rounds == best], axis=0)
    assert np.allclose(found.policy.weights, mean, atol=1e-6)


def toy_judge(seeds: range, cores: int = 1) -> Judge:
    """Colour tells almost everything; supervoxels differ in size."""
    arenas = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        labels, knows = rng.integers(0, 3, 30).tolist(), rng.choice([1, 4], 30, p=[0.8, 0.2]).tolist()
        arenas.append(toy_arena(labels, knows, (1, 2, 3, 3), rng.integers(1, 50, 30).tolist(), f"toy {seed}"))
    return Judge(arenas, NAMES, 0.0, cores)


QUICK = Recipe((0.1, 0.2), n_rounds=12, n_pairs=4, every=4)


def start() -> Player:
    """Buys everything for anyone."""
    weights = np.zeros((5, n_features(4, 3, True)), np.float32)
    weights[:4, 0] = 1
    return Player(LinearPolicy(weights, extended=True), Selection("wanted"))


def test_it_learns_to_buy_what_tells_most_for_the_largest_first() -> None:
    train, held_out, other = toy_judge(range(5)), toy_judge(range(5, 9)), toy_judge(range(20, 26))
    found = search([Fold(train, held_out)], start(), replace(QUICK, n_rounds=40))
    before, after = other.scores([start(), found], other.trials(QUICK.fractions, 1))
    assert after > before + 0.05
    trials = held_out.trials(QUICK.fractions, 1)
    assert held_out.scores([found], trials) >= held_out.scores([start()], trials)


def test_same_seed_same_player_however_many_cores() -> None:
    found = [search([Fold(toy_judge(range(3), n), toy_judge(range(3, 5), n))] * 2, start(), QUICK, 1) for n in (1, 2)]
    assert np.array_equal(found[0].policy.weights, found[1].policy.weights)


def test_without_time_or_steps_it_stays_where_it_is() -> None:
    told = list[Found]()
    judge = toy_judge(range(2))
    first, plan = start(), Player(plan_policy([0], 4, 3), Selection())
    assert search([Fold(judge, judge)], first, replace(QUICK, limit_s=-1.0), 0, told.append) is first
    assert search([Fold(judge, judge)], plan, replace(QUICK, n_rounds=0), 0, told.append) is plan
    assert [(one.fold, one.n_rounds) for one in told] == [(0, 0), (None, 0)] * 2
