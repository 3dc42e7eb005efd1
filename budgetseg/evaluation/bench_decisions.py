"""What deciding costs: the rows of `budgetseg bench decisions`.

The loop runs over a real video and its predicted costs, but descriptors are drawn instead of computed, so that what
remains is selection, features, policy and bookkeeping, as in a live run.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from budgetseg.app.strategy import counted, strategy_of
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
N_LABELS = 11
SIZES = (1000, 3500)
SHARE = 0.5  # of the full cost, as a budget


def bench_decisions(
    data: Path | None, repeats: int = 3, sizes: Sequence[int] = SIZES, model: Model | None = None
) -> list[Row]:
    """A row per number of supervoxels and kind of features, on CamVid's dense run or a street.

    With a model, it is its own policy that decides, as when it labels.
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
            full_s, first = full_cost(world, -1), Selection("unsure")
            for name, extended in (("paper", False), ("extended", True)):
                rows.append(_row(world, full_s, _policy(world.n_descriptors, extended), first, name, repeats))
        else:
            full_s = full_cost(world, model.classifiers.subset_of(counted(model)))
            rows.append(_row(world, full_s, *strategy_of(model)(SHARE), f"of {model.name}", repeats))
    return rows


def _row(world: World, full_s: float, policy: Chooser, selection: Selection, features: str, repeats: int) -> Row:
    n = len(world.private_s)
    probabilities = np.random.default_rng(0).dirichlet(np.ones(N_LABELS), n).astype(np.float32)
    budget_s = SHARE * full_s
    _run(world, budget_s, policy, selection, probabilities)  # compiles
    runs = [_run(world, budget_s, policy, selection, probabilities) for _ in range(repeats)]
    seconds, episode = min(runs, key=lambda one: one[0])
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
    """Any: it computes something for most supervoxels and finishes each of them."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(n_descriptors + 1, n_features(n_descriptors, N_LABELS, extended))) / 10
    weights[:n_descriptors, 1 : 1 + n_descriptors] -= 1
    return LinearPolicy(weights.astype(np.float32), extended)


def _run(
    world: World, budget_s: float, policy: Chooser, selection: Selection, probabilities: Float32
) -> tuple[float, Episode]:
    """CPU seconds of a run in which descriptors cost nothing, and the run."""
    episode = Episode.begin(world, N_LABELS, budget_s, selection)
    clock, n = CostClock(), RegionSettings().batch
    state = _Drawn(episode, probabilities, clock)
    began_s = thread_s()
    spend(state, lambda own, _: policy(own.episode, n), clock, lambda: episode.left_s)
    return thread_s() - began_s, episode


class _Drawn(TableState):
    """H depends on nothing; probabilities are (N, L)."""

    def do(self, batch: Batch) -> Outcome:
        return Outcome(self._probabilities[batch.places], batch.planned_s, np.zeros(batch.n_actions))
