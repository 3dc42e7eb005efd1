"""Measure what decisions cost: the rows of `budgetseg bench decisions`.

Algorithm 1 runs on a real video with its predicted costs, but descriptors are drawn at random instead of computed. What
remains is selection, features, policy and bookkeeping, as in a live run.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from budgetseg.app.strategy import counted, strategy_of
from budgetseg.datasets.camvid_classes import CLASSES
from budgetseg.descriptors.calibrate import known_prices
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.prices import price
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.engine.loop import Outcome, spend
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.models import bundled
from budgetseg.models.bundle import Model
from budgetseg.policy.episode import Chooser, Episode, Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.state import World, full_cost, world_of
from budgetseg.simulate.table import TableState
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.supervoxels import segment
from budgetseg.timing.clock import CostClock, thread_s
from budgetseg.types import Batch, Float32

__all__ = ["bench_decisions"]

Row = dict[str, str | int | float | None]

NAMES = ("colour", "hog", "hof", "mbh", "dcnn")
N_LABELS = len(CLASSES)


def bench_decisions(
    data: Path | None,
    repeats: int = 3,
    sizes: Sequence[int] = (1000, 3500),
    model: Model | None = None,
    budget_fraction: float = 0.5,
) -> list[Row]:
    """A row for each number of supervoxels and kind of features.

    Parameters
    ----------
    data : folder of CamVid, whose dense run is the video; None for a rendered street
    repeats : runs, of which the fastest counts
    sizes : numbers of supervoxels
    model : whose own policy decides, as when it labels; None for random policies with either kind of features
    budget_fraction : budget as a share of the full cost
    """
    frames, _ = Street()() if data is None else CamvidDense(data / "camvid")()
    names, networks = (NAMES, bundled("camvid", "")) if model is None else (model.classifiers.names, model.networks)
    descriptors = open_descriptors(names, networks)
    prices = known_prices(descriptors)
    rows = []
    for n in sizes:
        scene = Scene.of(frames, segment(frames, n, "fast"))
        world = world_of(scene.supervoxels.graph, price(scene, descriptors, prices))
        if model is None:
            full_s = full_cost(world, -1)
            first = Selection("unsure")
            for name, extended in (("paper", False), ("extended", True)):
                policy = _policy(world.n_descriptors, extended)
                rows.append(_row(world, budget_fraction * full_s, policy, first, name, repeats))
        else:
            full_s = full_cost(world, model.classifiers.subset_of(counted(model)))
            chooser, selection = strategy_of(model)(budget_fraction)
            rows.append(_row(world, budget_fraction * full_s, chooser, selection, f"of {model.name}", repeats))
    return rows


def _row(world: World, budget_s: float, policy: Chooser, selection: Selection, features: str, repeats: int) -> Row:
    n = len(world.private_s)
    probabilities = np.random.default_rng(0).dirichlet(np.ones(N_LABELS), n).astype(np.float32)
    _run(world, budget_s, policy, selection, probabilities)  # compiles
    runs = [_run(world, budget_s, policy, selection, probabilities) for _ in range(repeats)]
    seconds, episode = min(runs, key=lambda run: run[0])
    return {
        "n_supervoxels": n,
        "us_per_decision": 1e6 * seconds / episode.n_decisions,
        "share_of_budget": seconds / budget_s,
        "features": features,
        "order": selection.order,
        "decisions": episode.n_decisions,
        "descriptors": episode.n_computed,
    }


def _policy(n_descriptors: int, extended: bool) -> LinearPolicy:
    """A random policy that computes something for most supervoxels, and finishes each of them."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(n_descriptors + 1, n_features(n_descriptors, N_LABELS, extended))) / 10
    weights[:n_descriptors, 1 : 1 + n_descriptors] -= 1
    return LinearPolicy(weights.astype(np.float32), extended)


def _run(
    world: World, budget_s: float, policy: Chooser, selection: Selection, probabilities: Float32
) -> tuple[float, Episode]:
    """CPU seconds of a run in which descriptors take no time, and the run."""
    episode = Episode.begin(world, N_LABELS, budget_s, selection)
    clock = CostClock()
    n = RegionSettings().batch
    state = _Drawn(episode, probabilities, clock)
    began_s = thread_s()
    spend(state, lambda drawn, _: policy(drawn.episode, n), clock, lambda: episode.left_s)
    return thread_s() - began_s, episode


class _Drawn(TableState):
    """A table in which H's probabilities, (N, L), do not depend on descriptors."""

    def do(self, batch: Batch) -> Outcome:
        return Outcome(self._probabilities[batch.places], batch.planned_s, np.zeros(batch.n_actions))
