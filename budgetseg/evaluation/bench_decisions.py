"""What deciding costs: the rows of `budgetseg bench decisions`.

The loop runs over a real video and its foretold costs, but descriptors are drawn instead of computed, so that what
remains is selection, features, policy and bookkeeping, as in a live run.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from budgetseg.descriptors.calibrate import known_costs
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.prices import price
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.inference.episode import Choice, Episode, Selection
from budgetseg.inference.loop import CostClock, Outcome, run
from budgetseg.inference.state import World, world_of
from budgetseg.models import bundled
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy
from budgetseg.supervoxels import segment
from budgetseg.types import Float32

__all__ = ["bench_decisions"]

Row = dict[str, str | int | float | None]

NAMES = ("colour", "hog", "hof", "mbh", "dcnn")
N_LABELS = 11
SIZES = (1000, 3500)
SHARE = 0.5  # of the full cost, as a budget


def bench_decisions(data: Path | None, repeats: int = 3, sizes: Sequence[int] = SIZES) -> list[Row]:
    """A row per number of supervoxels and kind of features, on CamVid's dense run or a street."""
    frames, _ = Street()() if data is None else CamvidDense(data / "camvid")()
    descriptors = open_descriptors(NAMES, bundled("camvid", ""))
    costs = known_costs(descriptors)
    rows = []
    for n in sizes:
        scene = Scene.of(frames, segment(frames, n, "fast"))
        world = world_of(scene.supervoxels.graph, price(scene, descriptors, costs))
        rows += [_row(world, extended, repeats) for extended in (False, True)]
    return rows


def _row(world: World, extended: bool, repeats: int) -> Row:
    n = len(world.private_s)
    said = np.random.default_rng(0).dirichlet(np.ones(N_LABELS), n).astype(np.float32)
    policy = _policy(world.n_descriptors, extended)
    _run(world, policy, said)  # compiles
    runs = [_run(world, policy, said) for _ in range(repeats)]
    seconds, episode = min(runs, key=lambda one: one[0])
    return {
        "n_supervoxels": n,
        "us_per_decision": 1e6 * seconds / episode.n_decisions,
        "share_of_budget": seconds / (SHARE * episode.full_s),
        "features": "extended" if extended else "paper",
        "decisions": episode.n_decisions,
        "descriptors": episode.n_computed,
    }


def _policy(n_descriptors: int, extended: bool) -> LinearPolicy:
    """Any: it computes something for most supervoxels and finishes each of them."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(n_descriptors + 1, n_features(n_descriptors, N_LABELS, extended))) / 10
    weights[:n_descriptors, 1 : 1 + n_descriptors] -= 1
    return LinearPolicy(weights.astype(np.float32), extended)


def _run(world: World, policy: LinearPolicy, said: Float32) -> tuple[float, Episode]:
    """CPU seconds of a run in which descriptors cost nothing, and the run."""
    episode = Episode.begin(world, N_LABELS, np.inf, Selection("unsure"))
    budget_s = episode.left_s = SHARE * episode.full_s

    def source(episode: Episode, choice: Choice) -> Outcome:
        return Outcome(said[choice[0]], episode.cost_s(*choice))

    started = time.thread_time()
    run(episode, policy, source, CostClock(budget_s))
    return time.thread_time() - started, episode
