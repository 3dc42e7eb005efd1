"""Where a budgeted run stands: the paper's inference state (i, b, C, F, D), as arrays that compiled code works on.

`World` is what does not change during a run, `State` what does. Everything that happens to a state is in `steps`.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from budgetseg.descriptors.table import Costs
from budgetseg.policy.compiled import compiled
from budgetseg.policy.neighbours import neighbours_of
from budgetseg.types import Bool, Float32, Float64, Graph, Int32, Int64, UInt8

__all__ = ["N_BINS", "State", "World", "copy_state", "full_cost", "new_state", "shares_of", "unshared", "world_of"]

N_BINS = 8
"""Directions of φ3: up, down, left, right, each before and after."""

UNSEEN, CANDIDATE, BUSY, FINISHED, AGAIN = range(5)
"""Status of a supervoxel; one that is busy waits for a descriptor that is being computed, and so does one that is busy
again after it was finished and reopened."""


class Scalars(np.record):  # type: ignore[misc]  # it is final in the stubs alone
    """What there is once, and not for each supervoxel: a record, whose fields compiled code reads and writes too.

    Attributes
    ----------
    left_s, spent_s : seconds left and spent
    full_s : seconds that everything would cost
    least_s : seconds that any descriptor costs at least
    slowdown : how many times slower than predicted the machine is
    unfit_s : least cost on an idle machine for which a policy found no time when it ranked
    time : of random selection
    seed : of all that is random
    order : who is selected first, by its number in `steps.ORDERS`
    reopens : whether finished supervoxels are reopened when nothing else is left to do
    reopened : whether they were
    enabled : descriptors that may be computed, as bits
    n_seeded : supervoxels looked at for seeding
    n_finished : supervoxels that were finished
    n_decisions : decisions
    n_computed : descriptors computed
    n_stale : candidates that the policy must rank again
    """

    left_s: float
    spent_s: float
    full_s: float
    least_s: float
    slowdown: float
    unfit_s: float
    time: float
    seed: np.uint64
    order: int
    reopens: bool
    reopened: bool
    enabled: int
    n_seeded: int
    n_finished: int
    n_decisions: int
    n_computed: int
    n_stale: int


def _dtype_of(record: type[np.record]) -> np.dtype[Any]:
    """NumPy's type of records with these annotated fields."""
    return np.dtype((record, np.dtype(list(record.__annotations__.items()), align=True)))


class World(NamedTuple):
    """A video as the loop sees it: N supervoxels, D descriptors, R resources.

    Attributes
    ----------
    first, others, weights : neighbours of each supervoxel and their inverse distances, as in `Neighbours`
    seen_from : (2E,) uint8, φ3 bin in which the neighbour sees this supervoxel
    sizes : (N,) float32, logarithm of the size, relative to the mean
    private_s, resource_s, needs_first, needed : what descriptors cost, as in `Costs`
    users_first, users : supervoxels that need each resource, once each; those of r are
        users[users_first[r] : users_first[r + 1]], (R + 1,) int64 and (U,) int32
    used_for : (R,) int32, descriptors that need each resource, of any supervoxel, as bits
    """

    first: Int32
    others: Int32
    weights: Float64
    seen_from: UInt8
    sizes: Float32
    private_s: Float64
    resource_s: Float64
    needs_first: Int64
    needed: Int32
    users_first: Int64
    users: Int32
    used_for: Int32

    @property
    def n_descriptors(self) -> int:
        """D."""
        return int(self.private_s.shape[1])


class State(NamedTuple):
    """Arrays that change; L classes.

    Attributes
    ----------
    subsets : (N,) int32, bit d set where descriptor d was computed
    status : (N,) uint8, `UNSEEN`, `CANDIDATE`, `BUSY`, `FINISHED` or `AGAIN`
    visits : (N,) int32, how often each was selected
    probabilities : (N, L) float32, by H; undefined where nothing was computed
    broadcast : (N,) bool, whether its probabilities are in the sums of its neighbours: it has a descriptor, and is
        finished or the order is `wanted`
    neighbour_sum : (N, L) float32, sum of the probabilities of neighbours that broadcast, each times its weight
    neighbour_weight : (N,) float32, sum of these weights
    neighbour_confidence : (N,) float32, sum of these weights times the neighbours' confidence
    finished_around : (N, N_BINS) float32, finished neighbours in each direction
    made : (R,) bool, resources that are there
    due_s : (R,) float64, what each still costs; 0 where it is there
    due_share_s : (R,) float64, the same if all who need it shared that
    heap, where, rank : (D, N), candidates ordered by rank, lowest first; where each of them stands, or -1; the rank of
        whoever stands at each place. Where the policy ranks, there is a row for each descriptor; else the first alone
    waiting : (D,) int64, candidates in each row
    seeding : (N,) int32, supervoxels in the order in which they are seeded
    costs_s : (N, D) float64, what each descriptor costs now on an idle machine; 0 where there is nothing to compute
    costs, shares : (N, D) float32, logarithm of that, and of what it would be if all who need a resource shared its
        cost; both relative to what everything costs for a supervoxel
    outdated : (N,) int32, descriptors of which the three are out of date, as bits
    stale, is_stale : (N,), candidates that the policy must rank again, and whether each is one; where it is not the
        policy that ranks, is_stale are those whose rank is too low
    changed : (N,) bool, whether what the policy sees of one has changed since it was ranked, except time, and costs
        that are out of date
    scalars : what there is once
    """

    subsets: Int32
    status: UInt8
    visits: Int32
    probabilities: Float32
    broadcast: Bool
    neighbour_sum: Float32
    neighbour_weight: Float32
    neighbour_confidence: Float32
    finished_around: Float32
    made: Bool
    due_s: Float64
    due_share_s: Float64
    heap: Int32
    where: Int32
    rank: Float64
    waiting: Int64
    seeding: Int32
    costs_s: Float64
    costs: Float32
    shares: Float32
    outdated: Int32
    stale: Int32
    is_stale: Bool
    changed: Bool
    scalars: Scalars


def world_of(graph: Graph, costs: Costs) -> World:
    """The world of a graph; costs are measured ones, or predicted."""
    near = neighbours_of(graph)
    sizes = np.log(graph.sizes / graph.sizes.mean()).astype(np.float32)
    bins = _seen_from(graph, near.first)
    n, n_descriptors = costs.private_s.shape
    users = _users_of(costs.first, costs.needed, n, n_descriptors, len(costs.resource_s))
    return World(*near, bins, sizes, costs.private_s, costs.resource_s, costs.first, costs.needed, *users)


@njit(cache=True, nogil=True)
def _users_of(first, needed, n, n_descriptors, n_resources):  # type: ignore[no-untyped-def]
    """Who needs each resource, once each, in rising order, (R + 1,) and (U,); for which descriptors, as bits, (R,)."""
    users_first, last = np.zeros(n_resources + 1, np.int64), np.full(n_resources, -1)
    used_for = np.zeros(n_resources, np.int32)
    for i in range(n):
        for d in range(n_descriptors):
            for k in range(first[i * n_descriptors + d], first[i * n_descriptors + d + 1]):
                r = needed[k]
                used_for[r] |= 1 << d
                if last[r] != i:
                    last[r] = i
                    users_first[r + 1] += 1
    users_first = np.cumsum(users_first)
    users, at = np.empty(users_first[-1], np.int32), users_first.copy()
    last[:] = -1
    for i in range(n):
        for k in range(first[i * n_descriptors], first[(i + 1) * n_descriptors]):
            r = needed[k]
            if last[r] != i:
                last[r] = i
                users[at[r]] = i
                at[r] += 1
    return users_first, users, used_for


def _seen_from(graph: Graph, first: Int32) -> UInt8:
    """Bins in the order of `Neighbours`: those of a supervoxel are sorted by neighbour."""
    ends = (
        np.concatenate([graph.edges[:, 0], graph.edges[:, 1]]),
        np.concatenate([graph.edges[:, 1], graph.edges[:, 0]]),
    )
    bins = np.concatenate([graph.bins[:, 1], graph.bins[:, 0]])
    return np.ascontiguousarray(bins[np.lexsort(ends[::-1])][: first[-1]])


def unshared(costs: Costs) -> Costs:
    """The paper's costs: every descriptor pays for all that it needs, whoever else needs it."""
    paid = np.concatenate([[0.0], np.cumsum(costs.resource_s[costs.needed])])
    extra = (paid[costs.first[1:]] - paid[costs.first[:-1]]).reshape(costs.private_s.shape)
    nothing = np.zeros(len(costs.first), np.int64)
    return Costs(costs.private_s + extra, np.zeros(0), nothing, np.zeros(0, np.int32), {})


def new_state(world: World, n_labels: int, budget_s: float, seed: int, enabled: int = -1, preferred: int = -1) -> State:
    """Nothing computed, nobody seen; `enabled` are the descriptors that may be computed, as bits, -1 for all.

    They make up the full cost; only those of them that are `preferred` are computed, if there are any.
    """
    n, n_descriptors = world.private_s.shape
    enabled &= (1 << n_descriptors) - 1
    full_s = full_cost(world, enabled)
    enabled = enabled & preferred or enabled
    columns = [d for d in range(n_descriptors) if enabled >> d & 1]
    least_s = world.private_s[:, columns].min(initial=np.inf)
    rng = np.random.default_rng(seed)
    seeding = rng.permutation(n).astype(np.int32)
    scalars: Scalars = np.zeros(1, _dtype_of(Scalars))[0]
    scalars.left_s = budget_s
    scalars.full_s = full_s
    scalars.least_s = least_s
    scalars.slowdown = 1.0
    scalars.unfit_s = np.inf
    scalars.seed = rng.integers(0, 2**63, dtype=np.uint64)
    scalars.enabled = enabled
    return State(
        subsets=np.zeros(n, np.int32),
        status=np.full(n, UNSEEN, np.uint8),
        visits=np.zeros(n, np.int32),
        probabilities=np.zeros((n, n_labels), np.float32),
        broadcast=np.zeros(n, np.bool_),
        neighbour_sum=np.zeros((n, n_labels), np.float32),
        neighbour_weight=np.zeros(n, np.float32),
        neighbour_confidence=np.zeros(n, np.float32),
        finished_around=np.zeros((n, N_BINS), np.float32),
        made=np.zeros(len(world.resource_s), np.bool_),
        due_s=world.resource_s.astype(np.float64),
        due_share_s=shares_of(world),
        heap=np.zeros((n_descriptors, n), np.int32),
        where=np.full((n_descriptors, n), -1, np.int32),
        rank=np.zeros((n_descriptors, n)),
        waiting=np.zeros(n_descriptors, np.int64),
        seeding=seeding,
        costs_s=np.zeros((n, n_descriptors)),
        costs=np.zeros((n, n_descriptors), np.float32),
        shares=np.zeros((n, n_descriptors), np.float32),
        outdated=np.full(n, (1 << n_descriptors) - 1, np.int32),
        stale=np.zeros(n, np.int32),
        is_stale=np.zeros(n, np.bool_),
        changed=np.zeros(n, np.bool_),
        scalars=scalars,
    )


def shares_of(world: World) -> Float64:
    """What resources (R,) cost everyone who needs them if they share that and none is there."""
    return np.asarray(world.resource_s / np.maximum(np.diff(world.users_first), 1))


def full_cost(world: World, enabled: int) -> float:
    """Seconds that these descriptors, as bits, cost for all supervoxels, with what they share made once."""
    columns = [d for d in range(world.n_descriptors) if enabled >> d & 1]
    shared_s = world.resource_s[_needed_by(world, columns)].sum()
    return float(world.private_s[:, columns].sum() + shared_s)


@compiled
def least_cost(world, state):  # type: ignore[no-untyped-def]
    """Seconds that the cheapest descriptor that is not there costs now, on an idle machine; infinite where all are."""
    n, n_descriptors = world.private_s.shape
    least_s = np.inf
    for i in range(n):
        lacks = state.scalars.enabled & ~state.subsets[i]
        for d in range(n_descriptors):
            cell, cost_s = i * n_descriptors + d, world.private_s[i, d]
            if lacks >> d & 1 and cost_s < least_s:
                for k in range(world.needs_first[cell], world.needs_first[cell + 1]):
                    cost_s += state.due_s[world.needed[k]]
                least_s = min(least_s, cost_s)
    return least_s


def _needed_by(world: World, columns: list[int]) -> Bool:
    """(R,), resources that any of these descriptors needs of any supervoxel."""
    cells = (np.arange(len(world.private_s))[:, None] * world.n_descriptors + np.array(columns, np.int64)).ravel()
    used = np.zeros(len(world.needed) + 1, np.int64)
    np.add.at(used, world.needs_first[cells], 1)
    np.add.at(used, world.needs_first[cells + 1], -1)
    wanted = np.zeros(len(world.resource_s), np.bool_)
    wanted[world.needed[np.cumsum(used[:-1]) > 0]] = True
    return wanted


def copy_state(state: State) -> State:
    """Another state that goes its own way: every action of a rollout branches from the same one."""
    return State._make(array.copy() for array in state)
