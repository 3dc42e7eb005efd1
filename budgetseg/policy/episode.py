"""A budgeted run of one video, as a policy and a simulator see it: a world, its state, and who is selected first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from budgetseg.errors import UsageError
from budgetseg.policy import steps
from budgetseg.policy.state import State, World, copy_state, new_state, shares_of
from budgetseg.policy.steps import ORDERS
from budgetseg.types import Action, Batch, Float32, Float64, Int32

__all__ = ["Chooser", "Episode", "Selection"]


@dataclass(frozen=True)
class Selection:
    """Which supervoxels are considered, and when.

    Attributes
    ----------
    order : a name in `ORDERS`
    start : share of the supervoxels that are candidates from the beginning, at least one of them
    reopen : whether to go on with what was finished when nothing else is left to do
    enabled : descriptors that may be computed, as bits; -1 for all
    """

    order: str = "random"
    start: float = 1.0
    reopen: bool = True
    enabled: int = -1

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UsageError(f"no order of selection '{self.order}'; choose from {', '.join(ORDERS)}")


@dataclass(eq=False)
class Episode:
    """The one mutable noun: Algorithm 1, half-way through.

    Attributes
    ----------
    world : what does not change
    state : what does
    selection : who is considered, and when
    """

    world: World
    state: State
    selection: Selection

    @classmethod
    def begin(
        cls,
        world: World,
        n_labels: int,
        budget_s: float,
        selection: Selection | None = None,
        seed: int = 0,
        enabled: int = -1,
    ) -> "Episode":
        """An episode before its first decision; `enabled` are the descriptors that make up the full cost, as bits.

        Of these, those that the selection leaves out are not computed, unless it leaves out all.
        """
        selection = selection or Selection()
        state = new_state(world, n_labels, budget_s, seed, enabled, selection.enabled)
        state.scalars.order = ORDERS[selection.order]
        state.scalars.reopens = selection.reopen
        steps.seed_candidates(world, state, max(1, round(selection.start * len(state.subsets))))
        return cls(world, state, selection)

    @property
    def left_s(self) -> float:
        """Seconds left."""
        return float(self.state.scalars.left_s)

    @left_s.setter
    def left_s(self, seconds: float) -> None:
        self.state.scalars.left_s = seconds

    @property
    def spent_s(self) -> float:
        """Seconds spent on descriptors."""
        return float(self.state.scalars.spent_s)

    @property
    def full_s(self) -> float:
        """Seconds that all descriptors of all supervoxels would cost."""
        return float(self.state.scalars.full_s)

    @property
    def slowdown(self) -> float:
        """How many times slower than predicted the machine is; costs are multiplied with it."""
        return float(self.state.scalars.slowdown)

    @slowdown.setter
    def slowdown(self, times: float) -> None:
        self.state.scalars.slowdown = times

    @property
    def n_decisions(self) -> int:
        """Decisions so far."""
        return int(self.state.scalars.n_decisions)

    @property
    def n_computed(self) -> int:
        """Descriptors computed so far."""
        return int(self.state.scalars.n_computed)

    def copy(self) -> "Episode":
        """Another one that goes its own way from here."""
        return Episode(self.world, copy_state(self.state), self.selection)

    def select(self) -> int | None:
        """The supervoxel to decide about next; None where there is none, anyone where it is the policy that ranks."""
        region = int(steps.select(self.world, self.state))
        return None if region < 0 else region

    def cost_s(self, region: int, descriptor: int) -> float:
        """Seconds that a descriptor would cost now."""
        return float(steps.cost_of(self.world, self.state, region, descriptor))

    def finish(self, region: int) -> None:
        """Compute no more for a supervoxel."""
        steps.finish(self.world, self.state, region)

    def start(self, action: Action) -> float:
        """A descriptor is being computed; the seconds that it is predicted to take."""
        return float(steps.begin(self.world, self.state, *action))

    def recall(self, subsets: Int32, probabilities: Float32) -> None:
        """Take over the subsets (N,) and probabilities (N, L) of an earlier run, whose resources are gone."""
        self.state.subsets[:] = subsets
        self.state.outdated[:] = (1 << self.world.n_descriptors) - 1
        self.state.probabilities[:] = probabilities
        self.state.scalars.n_computed = sum(int(subset).bit_count() for subset in subsets)

    def drop(self, descriptor: int) -> None:
        """Compute a descriptor no more."""
        self.state.scalars.enabled &= ~(1 << descriptor)
        self.state.outdated[:] |= 1 << descriptor

    def lose(self, resources: Sequence[int]) -> None:
        """Resources that were to be made are not there after all."""
        world, state = self.world, self.state
        shares_s = shares_of(world)
        for r in resources:
            state.made[r] = False
            state.due_s[r] = world.resource_s[r]
            state.due_share_s[r] = shares_s[r]
            state.outdated[world.users[world.users_first[r] : world.users_first[r + 1]]] |= world.used_for[r]

    def withdraw(self, region: int) -> None:
        """Take a supervoxel from the candidates, if it is one, as one that is being worked on."""
        steps.withdraw(self.state, region)

    def give_up(self, region: int) -> None:
        """The descriptor that was being computed cannot be had: finish the supervoxel with what it has."""
        steps.give_up(self.world, self.state, region)

    def receive(self, action: Action, probabilities: Float32, spent_s: float) -> None:
        """Take in a descriptor: H's probabilities (L,) with it, and the seconds it took."""
        steps.receive(self.world, self.state, *action, probabilities, spent_s)

    def receive_all(self, batch: Batch, probabilities: Float32, spent_s: Float64) -> None:
        """Take in a batch of K descriptors: H's probabilities (K, L) with them, and the seconds (K,) they took."""
        steps.receive_all(self.world, self.state, batch.places, batch.sources, probabilities, spent_s)


class Chooser(Protocol):
    """A policy at work."""

    def __call__(self, episode: Episode, n: int = 1, most_s: float = np.inf) -> Batch:
        """Go through supervoxels until n of them need a descriptor, or so many seconds are planned; all are begun.

        An empty batch where nothing more fits or is wanted.
        """
