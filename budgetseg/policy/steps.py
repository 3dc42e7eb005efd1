"""What happens to a state, step by step: the one definition that live runs, simulations and training share. Compiled.

    select   ─► the next candidate             (Algorithm 1, line 4)
    finish   ─► it is done, neighbours join    (lines 6 to 8)
    begin    ─► a descriptor is being computed (line 11)
    receive  ─► it was computed, with new probabilities of H

All randomness is drawn from the state's seed by supervoxel and visit, so that a run which takes another decision
somewhere meets the same draws everywhere else.
"""

import numpy as np

from budgetseg.policy.compiled import compiled
from budgetseg.policy.heap import NOWHERE, move, push, remove
from budgetseg.policy.settings import SETTINGS
from budgetseg.policy.state import AGAIN, BUSY, CANDIDATE, FINISHED, UNSEEN

__all__ = [
    "ORDERS",
    "WANTED",
    "affordable",
    "begin",
    "cost_of",
    "finish",
    "fits",
    "give_up",
    "log_ratio",
    "next_stale",
    "outdate_if_time_rose",
    "price",
    "receive",
    "receive_all",
    "refill",
    "seed_candidates",
    "select",
    "uniform",
    "visit",
    "withdraw",
]

RANDOM, SURE, UNSURE, LARGE, DOUBT, WANTED = range(6)

ORDERS = {"random": RANDOM, "sure": SURE, "unsure": UNSURE, "large": LARGE, "doubt": DOUBT, "wanted": WANTED}
"""Who is selected first: anyone; whose finished neighbours are sure of themselves (the paper's priority), or unsure;
the largest; the largest of which finished neighbours tell least; or the one for which the policy wants a descriptor
most, which the policy must say: it ranks the descriptors of each candidate that `next_stale` names."""

NOBODY = -1


@compiled
def uniform(seed, region, visit):  # type: ignore[no-untyped-def]
    """A number in (0, 1) that belongs to a visit of a supervoxel (SplitMix64)."""
    z = seed + np.uint64(region) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(visit) * np.uint64(0xD1B54A32D192ED03)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(12)) + 0.5) / 4503599627370496.0


@compiled
def seed_candidates(world, state, n):  # type: ignore[no-untyped-def]
    """Let n more unseen supervoxels join the candidates, in the order drawn up front; True if any did."""
    joined = 0
    while joined < n and state.scalars.n_seeded < len(state.seeding):
        i = state.seeding[state.scalars.n_seeded]
        state.scalars.n_seeded += 1
        if state.status[i] == UNSEEN:
            state.status[i] = CANDIDATE
            _join(world, state, i)
            joined += 1
    return joined > 0


@compiled
def select(world, state):  # type: ignore[no-untyped-def]
    """The candidate whose turn it is, or `NOBODY`."""
    if not refill(world, state):
        return NOBODY
    i = state.heap[0, 0]
    while state.scalars.order != WANTED and state.is_stale[i]:  # its rank was too low
        state.is_stale[i] = False
        move(state, 0, i, _rank(world, state, i))
        i = state.heap[0, 0]
    if state.scalars.order == RANDOM and not state.scalars.reopened:
        state.scalars.time = max(state.scalars.time, state.rank[0, 0])
    visit(state, i)
    return i


@compiled
def refill(world, state):  # type: ignore[no-untyped-def]
    """Whether there are candidates; where there are none, one is seeded, at last some are reopened."""
    if state.waiting[0] == 0 and not seed_candidates(world, state, 1) and state.scalars.reopens:
        _reopen(world, state)
    return state.waiting[0] > 0


@compiled
def visit(state, i):  # type: ignore[no-untyped-def]
    """It is the turn of i."""
    state.visits[i] += 1
    state.scalars.n_decisions += 1


@compiled
def _reopen(world, state):  # type: ignore[no-untyped-def]
    """Whoever lacks a descriptor that fits is a candidate again, the least confident first: unspent time is wasted."""
    state.scalars.reopened = True
    for i in range(len(state.subsets)):
        if state.status[i] == FINISHED and affordable(world, state, i):
            _join(world, state, i)


@compiled
def _lacks(state, i):  # type: ignore[no-untyped-def]
    """Whether there is a descriptor to compute for i."""
    return state.scalars.enabled & ~state.subsets[i] != 0


@compiled
def affordable(world, state, i):  # type: ignore[no-untyped-def]
    """The descriptors that i lacks and that there is time for, as bits."""
    price(world, state, i)
    found = 0
    lacks = state.scalars.enabled & ~state.subsets[i]
    for d in range(world.private_s.shape[1]):
        if lacks >> d & 1 and fits(state, state.costs_s[i, d]):
            found |= 1 << d
    return found


@compiled
def fits(state, cost_s):  # type: ignore[no-untyped-def]
    """Whether there is time for something that costs so much on an idle machine."""
    return cost_s * state.scalars.slowdown <= state.scalars.left_s


@compiled
def cost_of(world, state, i, d):  # type: ignore[no-untyped-def]
    """Seconds that descriptor d of supervoxel i costs now: its own, and the resources that are not there."""
    return _seconds(world, state, i, d)[0] * state.scalars.slowdown


@compiled
def _seconds(world, state, i, d):  # type: ignore[no-untyped-def]
    """On an idle machine: what it costs, and what it would if all who need a resource shared its cost."""
    cell = i * world.private_s.shape[1] + d
    cost_s = world.private_s[i, d]
    share_s = world.private_s[i, d]
    for k in range(world.needs_first[cell], world.needs_first[cell + 1]):
        cost_s += state.due_s[world.needed[k]]
        share_s += state.due_share_s[world.needed[k]]
    return cost_s, share_s


@compiled
def price(world, state, i):  # type: ignore[no-untyped-def]
    """Bring up to date what the state knows of the costs of i: whoever changes them marks it in `outdated`."""
    outdated = state.outdated[i]
    if outdated == 0:
        return
    state.outdated[i] = 0
    state.changed[i] = True
    lacks = state.scalars.enabled & ~state.subsets[i]
    usual_s = max(state.scalars.full_s, 1e-9) / len(state.subsets)
    for d in range(world.private_s.shape[1]):
        if outdated >> d & 1:
            cost_s, share_s = _seconds(world, state, i, d) if lacks >> d & 1 else (0.0, 0.0)
            state.costs_s[i, d] = cost_s
            state.costs[i, d] = log_ratio(cost_s, usual_s)
            state.shares[i, d] = log_ratio(share_s, usual_s)


@compiled
def log_ratio(part, whole):  # type: ignore[no-untyped-def]
    """Logarithm of a part of a whole, of nothing as well."""
    if part <= 0:
        return -SETTINGS.furthest
    return min(max(np.log(part / whole), -SETTINGS.furthest), SETTINGS.furthest)


@compiled
def finish(world, state, i):  # type: ignore[no-untyped-def]
    """No more descriptors for i: its probabilities are broadcast, and neighbours not seen yet become candidates."""
    remove(state, i)
    _settle(world, state, i)


@compiled
def give_up(world, state, i):  # type: ignore[no-untyped-def]
    """What was being computed for i cannot be had; it is finished with what it has."""
    _settle(world, state, i)


@compiled
def _settle(world, state, i):  # type: ignore[no-untyped-def]
    if state.status[i] == FINISHED or state.status[i] == AGAIN:  # had been reopened
        state.status[i] = FINISHED
        return
    state.status[i] = FINISHED
    state.scalars.n_finished += 1
    if state.subsets[i] > 0 and not state.broadcast[i]:
        _broadcast(world, state, i)
    for k in range(world.first[i], world.first[i + 1]):
        j = world.others[k]
        state.finished_around[j, world.seen_from[k]] += 1
        state.changed[j] = True
        if state.status[j] == UNSEEN:
            state.status[j] = CANDIDATE
            _join(world, state, j)
        elif state.status[j] == CANDIDATE and _is_ranked_by_neighbours(state):
            rank = _rank(world, state, j)
            before = state.rank[0, state.where[0, j]]
            if rank < before:
                move(state, 0, j, rank)
            elif rank > before:  # soon enough when its turn comes: by then it may have moved often
                state.is_stale[j] = True


@compiled
def _is_ranked_by_neighbours(state):  # type: ignore[no-untyped-def]
    """Whether candidates change places when a neighbour is finished."""
    order = state.scalars.order
    return order != RANDOM and order != WANTED and not state.scalars.reopened


@compiled
def begin(world, state, i, d):  # type: ignore[no-untyped-def]
    """Descriptor d of i is being computed: i waits for it, and what it needs counts as there. Seconds, as predicted."""
    seconds = cost_of(world, state, i, d)
    withdraw(state, i)
    is_wanted = state.scalars.order == WANTED
    is_new = False
    cell = i * world.private_s.shape[1] + d
    for k in range(world.needs_first[cell], world.needs_first[cell + 1]):
        r = world.needed[k]
        if not state.made[r]:
            saved_s = state.due_s[r]
            is_new |= world.users_first[r + 1] - world.users_first[r] > 1
            state.made[r] = True
            state.due_s[r] = 0.0
            state.due_share_s[r] = 0.0
            for u in range(world.users_first[r], world.users_first[r + 1]):
                j = world.users[u]
                state.outdated[j] |= world.used_for[r]
                if is_wanted and _is_telling(world, state, j, r, saved_s):  # it may be wanted more now
                    _outdate(state, j)
    if is_new and is_wanted:  # they mostly share all of it; others who share some will see when their turn comes
        for k in range(world.first[i], world.first[i + 1]):
            _outdate(state, world.others[k])
    return seconds


@compiled
def _is_telling(world, state, i, r, saved_s):  # type: ignore[no-untyped-def]
    """Whether some descriptor of i costs much less, now that resource r is there; not by costs that may be outdated."""
    concerned = world.used_for[r] & state.scalars.enabled & ~state.subsets[i]
    for d in range(world.private_s.shape[1]):
        if concerned >> d & 1 and saved_s >= SETTINGS.telling * (saved_s + _seconds(world, state, i, d)[0]):
            return True
    return False


@compiled
def withdraw(state, i):  # type: ignore[no-untyped-def]
    """Something is being computed for i."""
    remove(state, i)
    if state.status[i] == FINISHED:
        state.status[i] = AGAIN
    elif state.status[i] != AGAIN:
        state.status[i] = BUSY


@compiled
def receive(world, state, i, d, probabilities, spent_s):  # type: ignore[no-untyped-def]
    """Take in descriptor d of i: the seconds it took, and H's probabilities (L,) with it; i may be selected again."""
    if state.broadcast[i]:
        _update_broadcast(world, state, i, probabilities)
    state.subsets[i] |= 1 << d
    state.outdated[i] |= 1 << d
    for label in range(len(probabilities)):  # a row at once would allocate
        state.probabilities[i, label] = probabilities[label]
    state.scalars.left_s -= spent_s
    state.scalars.spent_s += spent_s
    state.scalars.n_computed += 1
    if state.status[i] == BUSY:
        state.status[i] = CANDIDATE
    else:
        state.status[i] = FINISHED
    if not state.broadcast[i] and (state.status[i] == FINISHED or state.scalars.order == WANTED):
        _broadcast(world, state, i)
    if state.status[i] == CANDIDATE or _lacks(state, i):
        _join(world, state, i)


@compiled
def receive_all(world, state, regions, descriptors, probabilities, spent_s):  # type: ignore[no-untyped-def]
    """Take in a batch of K: regions, descriptors and spent_s are (K,), probabilities (K, L)."""
    for k in range(len(regions)):
        receive(world, state, regions[k], descriptors[k], probabilities[k], spent_s[k])


@compiled
def _broadcast(world, state, i):  # type: ignore[no-untyped-def]
    """Add the probabilities of i to the sums of its neighbours."""
    state.broadcast[i] = True
    confidence = _confidence(state, i)
    for k in range(world.first[i], world.first[i + 1]):
        j, weight = world.others[k], np.float32(world.weights[k])
        state.changed[j] = True
        state.neighbour_weight[j] += weight
        state.neighbour_confidence[j] += weight * confidence
        for label in range(state.probabilities.shape[1]):
            state.neighbour_sum[j, label] += weight * state.probabilities[i, label]


@compiled
def _update_broadcast(world, state, i, probabilities):  # type: ignore[no-untyped-def]
    """Replace the probabilities of i in the sums of its neighbours."""
    surer = highest(probabilities) - _confidence(state, i)
    for k in range(world.first[i], world.first[i + 1]):
        j, weight = world.others[k], np.float32(world.weights[k])
        state.changed[j] = True
        state.neighbour_confidence[j] += weight * surer
        for label in range(state.probabilities.shape[1]):
            state.neighbour_sum[j, label] += weight * (probabilities[label] - state.probabilities[i, label])


@compiled
def highest(row):  # type: ignore[no-untyped-def]
    """The largest of some figures; `row.max()` would allocate."""
    found = row[0]
    for figure in row[1:]:
        found = max(found, figure)
    return found


@compiled
def _confidence(state, i):  # type: ignore[no-untyped-def]
    """H's largest probability; 0 where nothing was computed."""
    return highest(state.probabilities[i]) if state.subsets[i] > 0 else np.float32(0)


@compiled
def _join(world, state, i):  # type: ignore[no-untyped-def]
    """Let i join the candidates; whom the policy ranks comes last until it has."""
    if state.scalars.order != WANTED:
        push(state, 0, i, _rank(world, state, i))
        return
    for d in range(len(state.waiting)):
        push(state, d, i, np.inf)
    _outdate(state, i)


@compiled
def _rank(world, state, i):  # type: ignore[no-untyped-def]
    """Lower ranks come first. Among equal ones, a draw decides."""
    draw = uniform(state.scalars.seed, i, state.visits[i])
    if state.scalars.reopened:
        return _confidence(state, i) + 1e-6 * draw
    order = state.scalars.order
    if order == RANDOM:  # exponential waiting times: whoever comes next is anyone, however long others have waited
        return state.scalars.time - np.log(draw)
    if order == LARGE:
        return -world.sizes[i] + 1e-6 * draw
    weight = state.neighbour_weight[i]
    confidence = state.neighbour_confidence[i] / weight if weight > 1e-12 else np.float32(0)
    if order == SURE:
        return -confidence + 1e-6 * draw
    if order == UNSURE:
        return confidence + 1e-6 * draw
    return -np.exp(world.sizes[i]) * (1 - 0.9 * confidence) + 1e-6 * draw


@compiled
def _outdate(state, i):  # type: ignore[no-untyped-def]
    """The policy must rank i again, if it is a candidate."""
    if not state.is_stale[i]:
        state.is_stale[i] = True
        state.stale[state.scalars.n_stale] = i
        state.scalars.n_stale += 1


@compiled
def outdate_if_time_rose(state):  # type: ignore[no-untyped-def]
    """The policy must rank all candidates again where there is time now for what did not fit when it ranked."""
    if state.scalars.unfit_s < np.inf and fits(state, state.scalars.unfit_s):
        state.scalars.unfit_s = np.inf
        for k in range(state.waiting[0]):
            _outdate(state, state.heap[0, k])


@compiled
def next_stale(state):  # type: ignore[no-untyped-def]
    """A candidate whose rank is out of date, which it is no longer; or `NOBODY`."""
    while state.scalars.n_stale > 0:
        state.scalars.n_stale -= 1
        i = state.stale[state.scalars.n_stale]
        state.is_stale[i] = False
        if state.where[0, i] != NOWHERE:
            return i
    return NOBODY
