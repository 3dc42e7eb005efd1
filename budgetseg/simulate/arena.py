"""An arena: a described video, in which runs are simulated from tables instead of computing descriptors."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from budgetseg.classifiers.samples import place_of
from budgetseg.descriptors.table import Costs, VideoTable
from budgetseg.errors import UsageError
from budgetseg.models.bundle import Model
from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.neighbours import Neighbours
from budgetseg.policy.state import World, unshared, world_of
from budgetseg.policy.static import COSTS, NOT_COUNTED
from budgetseg.types import Float32, Graph, Int64

__all__ = ["NOT_COUNTED", "Arena"]


@dataclass(frozen=True, eq=False)
class Arena:
    """A described video of N supervoxels, for a model with D descriptors and L classes.

    Attributes
    ----------
    name : of the video
    model : that labels it; descriptors are in its order
    graph : of the supervoxels
    pricing : kind of costs, a name in `COSTS`
    costs : of the descriptors
    world : graph and costs in the form that the loop needs
    probabilities : (N, 2^D, L) float32, H's probabilities given every subset of the descriptors
    inputs : (N, d) float32, the descriptors as the CRF compares them
    truth : (N, L) number of labelled pixels of each class
    """

    name: str
    model: Model
    graph: Graph
    pricing: str
    costs: Costs
    world: World
    probabilities: Float32
    inputs: Float32
    truth: Int64

    @classmethod
    def of(
        cls, model: Model, table: VideoTable, costs: str = "shared", probabilities: Float32 | None = None
    ) -> "Arena":
        """The arena of a described video.

        Parameters
        ----------
        model : that labels the video
        table : of the described video
        costs : kind of costs, a name in `COSTS`
        probabilities : H's predictions out of fold, if the model has learned from the table; None to predict them
        """
        if costs not in COSTS:
            raise UsageError(f"no costs '{costs}'; choose from {', '.join(COSTS)}")
        h = model.classifiers
        columns = list(table.values)
        for name in h.names:
            if name not in columns:
                raise UsageError(f"the table of '{table.name}' lacks {name}; describe the video with it")
        priced = table.costs.take([columns.index(name) for name in h.names])
        if costs == "unshared":
            priced = unshared(priced)
        if probabilities is None:
            probabilities = h.predict_all(table.values, place_of(table.graph))
        return cls(
            table.name,
            model,
            table.graph,
            costs,
            priced,
            world_of(table.graph, priced),
            np.ascontiguousarray(probabilities, np.float32),
            h.scaled(table.values),
            table.truth,
        )

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def neighbours(self) -> Neighbours:
        """The neighbours of all supervoxels."""
        return Neighbours(self.world.first, self.world.others, self.world.weights)

    def full_s(self, names: Collection[str]) -> float:
        """Seconds of these descriptors on the whole video. Budgets are given as shares of this full cost."""
        known = self.model.classifiers.names
        return self.costs.full_s([d for d, name in enumerate(known) if name in names and name != NOT_COUNTED])

    def begin(
        self, budget_s: float, names: Collection[str], selection: Selection | None = None, seed: int = 0
    ) -> Episode:
        """A run before its first decision.

        Parameters
        ----------
        budget_s : seconds of simulated cost
        names : of descriptors that may be computed
        selection : order of supervoxels; None for the default
        seed : of all random choices
        """
        h = self.model.classifiers
        return Episode.begin(self.world, h.n_labels, budget_s, selection, seed, h.subset_of(names))
