"""Small videos that nobody filmed: a graph, what descriptors cost, and what H would say."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from budgetseg.descriptors.table import Costs
from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.state import unshared, world_of
from budgetseg.simulate.table import TableState, play_plain
from budgetseg.timing.clock import CostClock
from budgetseg.types import Action, Batch, Float32, Graph
from tests.graphs import random_graph

EVERYTHING = float("inf")


@dataclass(frozen=True, eq=False)
class Made:
    """A video: probabilities is (N, 2^D, L), H's probabilities for every subset."""

    graph: Graph
    costs: Costs
    probabilities: Float32

    @property
    def n_descriptors(self) -> int:
        return int(self.costs.private_s.shape[1])

    @property
    def n_labels(self) -> int:
        return int(self.probabilities.shape[2])

    @property
    def full_s(self) -> float:
        return self.costs.full_s(range(self.n_descriptors))

    def begin(
        self, budget_s: float, selection: Selection | None = None, seed: int = 0, enabled: int = -1, shared: bool = True
    ) -> Episode:
        world = world_of(self.graph, self.costs if shared else unshared(self.costs))
        return Episode.begin(world, self.n_labels, budget_s, selection, seed, enabled)

    def compute(self, episode: Episode, region: int, descriptor: int) -> None:
        """One descriptor, as the loop does it."""
        probabilities = self.probabilities[region, episode.state.subsets[region] | 1 << descriptor]
        action = Action(region, descriptor)
        episode.receive(action, probabilities, episode.start(action))

    def receive(self, episode: Episode, batch: Batch) -> None:
        """Look up a batch that was chosen, as the loop does it."""
        table = TableState(episode, self.probabilities, CostClock())
        table.add(batch, table.do(batch))

    def run(self, episode: Episode, policy: LinearPolicy, n: int = 1) -> list[tuple[Action, float]]:
        """To the end, with n decisions at a time; what was computed, and what it cost."""
        return play_plain(episode, self.probabilities, policy, n)


def made_video(seed: int, n: int = 15, n_descriptors: int = 3, n_labels: int = 4, n_edges: int | None = None) -> Made:
    """Any video; descriptors need up to three of five resources."""
    rng, n_cells, n_resources = np.random.default_rng(seed), n * n_descriptors, 5
    counts = rng.integers(0, 4, n_cells)
    needed = [np.sort(rng.permutation(n_resources)[:count]) for count in counts]
    costs = Costs(
        rng.uniform(0.1, 1, (n, n_descriptors)),
        rng.uniform(0.5, 2, n_resources),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([np.zeros(0), *needed]).astype(np.int32),
        {"flow": n_resources},
    )
    probabilities = rng.dirichlet(np.ones(n_labels), (n, 1 << n_descriptors)).astype(np.float32)
    return Made(random_graph(n, 2 * n if n_edges is None else n_edges, seed), costs, probabilities)


def any_policy(video: Made, seed: int, extended: bool, noise: float = 0.0) -> LinearPolicy:
    """Weights that nobody learned."""
    shape = video.n_descriptors + 1, n_features(video.n_descriptors, video.n_labels, extended)
    return LinearPolicy(np.random.default_rng(seed).normal(size=shape).astype(np.float32), extended, noise)


def finish_all(episode: Episode) -> Iterator[int]:
    """Whoever is selected, finished before the next."""
    while (region := episode.select()) is not None:
        yield region
        episode.finish(region)
