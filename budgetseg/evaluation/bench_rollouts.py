"""Measure how many complete rollouts training does per second: the rows of `budgetseg bench rollouts`.

A rollout takes an action at the first decision, follows a policy until the budget is spent, labels all supervoxels and
counts the right pixels. The policy has the extended features, and computes the first descriptor everywhere.
"""

import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from budgetseg.classifiers.fit import ClassifierRecipe, fit_subsets
from budgetseg.classifiers.samples import samples_of
from budgetseg.crf import expand
from budgetseg.crf.learning import potts
from budgetseg.crf.potentials import expected_inputs
from budgetseg.datasets.camvid_classes import CLASSES
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.descriptors.table import VideoTable
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.models.bundle import Model
from budgetseg.policy.episode import Episode
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy, plan_policy
from budgetseg.simulate import Arena, act, play, problem_of, reward
from budgetseg.supervoxels import segment
from budgetseg.supervoxels.truth import count_labels
from budgetseg.timing.clock import WallClock, thread_s
from budgetseg.types import IGNORE, Classes, Int32

__all__ = ["bench_rollouts"]

Row = dict[str, str | int | float | None]

N_LABELS = len(CLASSES)


@dataclass(frozen=True)
class RolloutCase:
    """The rollouts to measure.

    Attributes
    ----------
    n_supervoxels : of the video
    n_episodes : every action at the first decision of each of them is a rollout
    budget_fraction : budget as a share of the full cost
    """

    n_supervoxels: int = 1000
    n_episodes: int = 20
    budget_fraction: float = 0.2


def bench_rollouts(
    data: Path | None,
    threads: int,
    repeats: int = 3,
    model: Model | None = None,
    case: RolloutCase | None = None,
) -> list[Row]:
    """A row for one thread and one for all.

    Parameters
    ----------
    data : folder of CamVid, whose dense run is the video; None for a rendered street
    threads : to use
    repeats : of each rollout
    model : to simulate; None to fit classifiers to the video, and use the hand-set CRF
    case : what to measure; None for the default
    """
    case = case or RolloutCase()
    rollouts = _Rollouts(_arena(data, case.n_supervoxels, model), case.n_episodes, case.budget_fraction)
    rollouts.shares()  # compiles
    shares = rollouts.shares()
    return [rollouts.row(n, repeats) | shares for n in sorted({1, threads})]


class _Rollout(NamedTuple):
    """The state after an action, and the labels (N,) that its expansion begins with."""

    episode: Episode
    start: Int32


class _Rollouts:
    """Rollouts in an arena: every action at the first decision of n episodes."""

    def __init__(self, arena: Arena, n: int, budget_fraction: float = RolloutCase.budget_fraction) -> None:
        h = arena.model.classifiers
        self._arena = arena
        self._policy = _policy(len(h.names), h.n_labels)
        budget_s = budget_fraction * arena.full_s(h.names)
        episodes = [arena.begin(budget_s, h.names, None, seed) for seed in range(n)]
        self._all = [rollout for episode in episodes for rollout in self._branch(episode)]

    def _branch(self, episode: Episode) -> list[_Rollout]:
        """A rollout for each action that fits; all begin with the labels that the policy leads to by itself."""
        whole = episode.copy()
        region = episode.select() or 0
        play(whole, self._arena.probabilities, self._policy)
        start = reward(self._arena, whole.state).labels
        n_descriptors = episode.world.n_descriptors
        rollouts = []
        for action in range(n_descriptors + 1):
            if action == n_descriptors or episode.cost_s(region, action) <= episode.left_s:
                rollouts.append(_Rollout(episode.copy(), start))
                act(rollouts[-1].episode, self._arena.probabilities, region, action)
        return rollouts

    def row(self, threads: int, repeats: int) -> Row:
        """Rollouts per second on a number of threads."""
        h = self._arena.model.classifiers
        jobs = self._all * repeats
        with ThreadPoolExecutor(threads) as pool:
            watch = WallClock()
            decisions = list(pool.map(self._roll, jobs))
            rate = len(jobs) / watch.now_s()
        return {
            "n_supervoxels": len(self._arena),
            "n_labels": h.n_labels,
            "threads": threads,
            "rollouts_per_s": rate,
            "n_descriptors": len(h.names),
            "n_decisions": round(statistics.mean(decisions)),
            "model": self._arena.model.name,
        }

    def _roll(self, rollout: _Rollout) -> int:
        episode = rollout.episode.copy()
        play(episode, self._arena.probabilities, self._policy)
        reward(self._arena, episode.state, rollout.start)
        return episode.n_decisions

    def shares(self) -> Row:
        """CPU time of a rollout on one thread, and the share of each stage in it."""
        spent_s = np.zeros(3)
        for begun, start in self._all:
            marks = [thread_s()]
            episode = begun.copy()
            play(episode, self._arena.probabilities, self._policy)
            marks.append(thread_s())
            problem = problem_of(self._arena, episode.state)
            marks.append(thread_s())
            expand(problem, start)
            marks.append(thread_s())
            spent_s += np.diff(marks)
        simulation, potentials, expansion = (spent_s / spent_s.sum()).tolist()
        return {
            "cpu_ms": 1000 * float(spent_s.sum()) / len(self._all),
            "share_simulation": simulation,
            "share_potentials": potentials,
            "share_expansion": expansion,
        }


def _policy(n_descriptors: int, n_labels: int) -> LinearPolicy:
    """A policy with the extended features that computes the first descriptor of all supervoxels."""
    plan = plan_policy([0], n_descriptors, n_labels).weights
    weights = np.zeros((n_descriptors + 1, n_features(n_descriptors, n_labels, True)), np.float32)
    weights[:, : plan.shape[1]] = plan
    return LinearPolicy(weights, extended=True)


def _arena(data: Path | None, n: int, model: Model | None) -> Arena:
    """The clip with n supervoxels and all their descriptors."""
    frames, labels = Street()() if data is None else CamvidDense(data / "camvid")()
    supervoxels = segment(frames, n)
    names, networks = (tuple(BUILT_IN), None) if model is None else (model.classifiers.names, model.networks)
    values, costs = measure(Scene.of(frames, supervoxels), open_descriptors(names, networks))
    n_labels = N_LABELS if model is None else model.classifiers.n_labels
    known = np.where(labels < n_labels, labels, np.uint8(IGNORE))  # the model may have fewer classes than the clip
    truth = count_labels(supervoxels.ids, known, n_labels)
    table = VideoTable("clip", len(frames), supervoxels.graph, truth, values, costs, {})
    return _fitted(table) if model is None else Arena.of(model, table)


def _fitted(table: VideoTable) -> Arena:
    """The arena of a table with classifiers that are fitted to it, and their predictions out of fold."""
    samples = samples_of([table])
    fitted = fit_subsets(samples, ClassifierRecipe(decays=(1e-3,)))
    crf = potts(expected_inputs(fitted.classifiers.scaled(samples.values), samples.truth))
    names = tuple(str(label) for label in range(N_LABELS))
    classes = Classes(names, np.zeros((N_LABELS, 3), np.uint8))
    return Arena.of(
        Model("fitted", classes, fitted.classifiers, crf, None, {}), table, probabilities=fitted.out_of_fold
    )
