"""Q-learning of Baseline3's policy: which descriptor to compute next for a whole video.

Costs and scores of all descriptor sets are found once for every training video; after that an episode is a few
additions. Budget and actions of an episode are drawn at random, since Q-learning finds the best policy from any other.
Each episode is played in all videos, so that a video counts by its pixels:

    Q(s, a) ← Q(s, a) + α (max Q(s', ·) - Q(s, a)),   at the end the score in place of the maximum
"""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from numba import njit

from budgetseg.files import atomic_file
from budgetseg.learning.plans import Learned, mark_of, variants_of
from budgetseg.policy.baseline3 import N_LEVELS, Baseline3Policy
from budgetseg.policy.state import full_cost
from budgetseg.policy.static import COSTS
from budgetseg.policy.steps import uniform
from budgetseg.simulate import Arena, reward, worth_of
from budgetseg.simulate.script import Script, follow
from budgetseg.types import Float32, Float64, Int64

__all__ = [
    "Outcomes",
    "best_sequence",
    "learn_baseline3",
    "learn_values",
    "n_scores",
    "score_policy",
    "score_subsets",
    "shortfall",
]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Costs and scores of each of the 2^D descriptor sets, as bits, in V videos, if all supervoxels have the set.

    Attributes
    ----------
    costs : (V, 2^D), as shares of the full cost of the video
    scores : (V, 2^D), weight of the right pixels among the pixels of all videos
    """

    costs: Float64
    scores: Float64

    @classmethod
    def of(cls, arenas: Sequence[Arena], names: Sequence[str], scores: Float64) -> "Outcomes":
        """Outcomes of the sets of named descriptors; `scores` are those of `score_subsets`, with the model's bits."""
        known = arenas[0].model.classifiers.names
        columns = [known.index(name) for name in names]
        sets = [sum(1 << d for k, d in enumerate(columns) if subset >> k & 1) for subset in range(1 << len(columns))]
        costs = [[full_cost(arena.world, bits) / arena.full_s(names) for bits in sets] for arena in arenas]
        return cls(np.minimum(costs, 1.0), scores[:, sets])  # rounding must not make the full set cost more than 1


def learn_baseline3(
    learned: Learned, balance: float, store: Path, cores: int = 1, advance: Callable[[int], None] = lambda _: None
) -> tuple[Baseline3Policy, ...]:
    """Learn Baseline3 with and without networks, under shared and unshared costs.

    Parameters
    ----------
    learned : the model without policies
    balance : what is maximised, from 0 for the share of right pixels to 1 for the average over classes
    store : file that scores are kept in; those that are there are not computed again
    cores : number of sets that are scored at a time
    advance : called with the number of scores that were found, `n_scores` in all
    """
    variants = variants_of(learned.model.classifiers.names)
    arenas = {costs: learned.arenas(costs) for costs in COSTS}
    if not variants:
        return ()
    mark = mark_of(learned, ("wholes", balance))
    scores = _read(store, mark)
    if scores is None:
        scores = score_subsets(arenas["shared"], variants[-1], balance, cores, advance)
        with atomic_file(store) as part:
            part.write_text(json.dumps({"of": mark, "scores": scores.tolist()}) + "\n")
    else:
        advance(n_scores(learned))
    wanted = [(costs, names) for costs in COSTS for names in variants]
    return tuple(
        Baseline3Policy(names, costs, learn_values(Outcomes.of(arenas[costs], names, scores)))
        for costs, names in wanted
    )


def n_scores(learned: Learned) -> int:
    """Number of scores: one for every set of descriptors in every video."""
    return sum(len(learned.tables) << len(names) for names in variants_of(learned.model.classifiers.names)[-1:])


def _read(store: Path, mark: str) -> Float64 | None:
    try:
        stored = json.loads(store.read_text())
        return np.array(stored["scores"], np.float64) if stored["of"] == mark else None
    except (OSError, ValueError, LookupError, TypeError):
        return None  # they are found again in minutes


def score_subsets(
    arenas: Sequence[Arena],
    names: Sequence[str],
    balance: float,
    cores: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Float64:
    """Score of every set of these descriptors, as the model's bits, in each video, (V, 2^D); 0 for other sets."""
    known = arenas[0].model.classifiers
    worth = worth_of(np.concatenate([arena.truth for arena in arenas]), balance)
    scores = np.zeros((len(arenas), known.n_subsets))
    allowed = known.subset_of(names)
    subsets = [subset for subset in range(known.n_subsets) if subset & ~allowed == 0]
    cells = [(video, subset) for video in range(len(arenas)) for subset in subsets]

    def score(cell: tuple[int, int]) -> None:
        scores[cell] = _score(arenas[cell[0]], cell[1], worth)
        advance(1)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(score, cells))
    return scores


def _score(arena: Arena, subset: int, worth: Float64) -> float:
    """Score of a video if all supervoxels have a set of descriptors, as the model's bits."""
    episode = arena.begin(np.inf, arena.model.classifiers.names)
    columns = [d for d in range(arena.world.n_descriptors) if subset >> d & 1]
    everyone = np.tile(np.arange(len(arena), dtype=np.int32), len(columns))
    follow(episode, arena.probabilities, Script.of(everyone, np.repeat(np.array(columns, np.int32), len(arena)), 1))
    return reward(arena, episode.state).score(worth)


def learn_values(outcomes: Outcomes, n_episodes: int = 200_000, seed: int = 0) -> Float32:
    """Values of a `Baseline3Policy`, (2^D, N_LEVELS, D + 1), as gains over computing all descriptors.

    A cell that no episode visited has the value of the nearest budget.

    Parameters
    ----------
    outcomes : costs and scores of all sets
    n_episodes : number of random episodes; `shortfall` measures whether they were enough
    seed : of the episodes
    """
    n_sets = outcomes.costs.shape[1]
    d = n_sets.bit_length() - 1
    values = np.zeros((n_sets, N_LEVELS, d + 1))
    visits = np.zeros((n_sets, N_LEVELS, d + 1), np.int64)
    # Gains over the full set change no decision and make videos comparable. Times V: values are means over videos.
    gains = len(outcomes.scores) * (outcomes.scores - outcomes.scores[:, -1:])
    _learn(outcomes.costs, gains, n_episodes, np.uint64(seed), values, visits)
    return _filled(values, visits).astype(np.float32)


@njit(cache=True, nogil=True)
def _learn(costs, gains, n_episodes, seed, values, visits):  # type: ignore[no-untyped-def]
    n = values.shape[2] - 1
    for episode in range(n_episodes):
        budget = 1.05 * uniform(seed, episode, 0)  # of the full cost: up to a little more than all
        for video in range(len(costs)):
            video_costs = costs[video]
            subset = 0
            action = -1
            while action != n:
                action = _draw(video_costs, subset, budget, seed, episode, n)
                cell = subset, _bin(budget - video_costs[subset], values.shape[1]), action
                if action == n:
                    target = gains[video, subset]
                else:
                    subset |= 1 << action
                    target = _best(values, video_costs, subset, budget)
                visits[cell] += 1
                # A rate that forgets what was learned from targets that were still wrong (Jin et al. 2018).
                values[cell] += (n + 2) / (n + 1 + visits[cell]) * (target - values[cell])


@njit(cache=True, nogil=True)
def _draw(costs, subset, budget, seed, episode, n):  # type: ignore[no-untyped-def]
    """A random allowed action; the same in all videos that allow the same ones."""
    best = n
    highest = uniform(seed, episode, 1 + subset * (n + 1) + n)
    for d in range(n):
        if not subset >> d & 1 and costs[subset | 1 << d] <= budget:
            draw = uniform(seed, episode, 1 + subset * (n + 1) + d)
            if draw > highest:
                best = d
                highest = draw
    return best


@njit(cache=True, nogil=True)
def _best(values, costs, subset, budget):  # type: ignore[no-untyped-def]
    """The largest value of the allowed actions."""
    n = values.shape[2] - 1
    action_values = values[subset, _bin(budget - costs[subset], values.shape[1])]
    best = action_values[n]
    for d in range(n):
        if not subset >> d & 1 and costs[subset | 1 << d] <= budget:
            best = max(best, action_values[d])
    return best


@njit(cache=True, nogil=True)
def _bin(left, n_bins):  # type: ignore[no-untyped-def]
    """The level of a budget, as `bin_of` gives it. n_bins is an argument: compiled code would freeze a constant."""
    return int(min(max(left, 0.0), 1.0) * (n_bins - 1))


def _filled(values: Float64, visits: Int64) -> Float64:
    """Values with those of the nearest budget at which a cell was visited; 0 where it never was."""
    places = np.arange(values.shape[1])
    out = values.copy()
    for subset, action in np.ndindex(values.shape[0], values.shape[2]):
        seen = np.flatnonzero(visits[subset, :, action])
        if len(seen):
            nearest = np.abs(places[:, None] - seen).argmin(axis=1)
            out[subset, :, action] = values[subset, seen[nearest], action]
    return out


def score_policy(policy: Baseline3Policy, outcomes: Outcomes, fraction: float) -> float:
    """Score of a policy in all videos, with a budget of `fraction` of the full cost of each."""
    total = 0.0
    for costs, scores in zip(outcomes.costs, outcomes.scores, strict=True):
        subset = 0
        more = True
        while more:
            wanted = policy.wanted(subset, fraction - costs[subset])
            fitting = [d for d in wanted if costs[subset | 1 << d] <= fraction]
            subset = subset | sum(1 << d for d in fitting[:1])
            more = bool(fitting)
        total += scores[subset]
    return total


def best_sequence(outcomes: Outcomes, fraction: float) -> float:
    """Score of the best list of descriptors, if in every video those that fit are computed in the order of the list.

    All ordered lists of all sets are tried.
    """
    d = outcomes.costs.shape[1].bit_length() - 1
    lists = [descriptors for n in range(d + 1) for descriptors in permutations(range(d), n)]
    return max(_score_list(descriptors, outcomes, fraction) for descriptors in lists)


def _score_list(descriptors: Sequence[int], outcomes: Outcomes, fraction: float) -> float:
    videos = np.arange(len(outcomes.costs))
    subsets = np.zeros(len(outcomes.costs), np.int64)
    for d in descriptors:
        subsets |= np.where(outcomes.costs[videos, subsets | 1 << d] <= fraction, 1 << d, 0)
    return float(outcomes.scores[videos, subsets].sum())


def shortfall(policy: Baseline3Policy, outcomes: Outcomes, fraction: float) -> float:
    """How much lower a policy scores than the best list found by enumeration; above 0.005, training has failed."""
    return best_sequence(outcomes, fraction) - score_policy(policy, outcomes, fraction)
