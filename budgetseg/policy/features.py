"""What a policy sees of a state: the paper's π-features, and what else the state holds. Compiled.

paper      1, φ1 (descriptors run for i), φ2 (what finished neighbours say), φ3 (where finished neighbours are)
extended   these, and own confidence, neighbours' confidence, disagreement, size, time left, time left for each that is
           unfinished, what every descriptor costs now, and what it would if all who need a resource shared its cost
"""

import numpy as np

from budgetseg.policy.compiled import compiled
from budgetseg.policy.settings import SETTINGS
from budgetseg.policy.state import N_BINS
from budgetseg.policy.steps import log_ratio
from budgetseg.supervoxels.graph import BINS

__all__ = ["EXTRAS", "feature_names", "fill_features", "n_features", "time_at", "time_left"]

EXTRAS = (
    "own confidence",
    "own doubt",
    "anything computed",
    "neighbours' confidence",
    "neighbours' doubt",
    "any neighbour",
    "disagreement",
    "size",
    "time left",
    "time for each",
)


N_EXTRAS, TIME_LEFT = len(EXTRAS), EXTRAS.index("time left")


def n_features(n_descriptors: int, n_labels: int, extended: bool) -> int:
    """F."""
    return 1 + n_descriptors + n_labels + N_BINS + (len(EXTRAS) + 2 * n_descriptors if extended else 0)


def feature_names(descriptors: tuple[str, ...], labels: tuple[str, ...], extended: bool) -> list[str]:
    """What each of the F figures is."""
    paper = ["1", *(f"has {name}" for name in descriptors), *(f"near {name}" for name in labels), *BINS]
    if not extended:
        return paper
    return [*paper, *EXTRAS, *(f"{cost} of {name}" for cost in ("cost", "share") for name in descriptors)]


@compiled
def fill_features(world, state, i, extended, out, timed=True):  # type: ignore[no-untyped-def]
    """Write φ(s) for supervoxel i, whose costs are up to date, into out (F,); 0 for what time is left, unless timed."""
    n_descriptors, n_labels = world.private_s.shape[1], state.probabilities.shape[1]
    out[0] = 1
    at = 1
    for d in range(n_descriptors):
        out[at + d] = state.subsets[i] >> d & 1
    at += n_descriptors
    is_informed = state.neighbour_weight[i] > 1e-12
    share = 1 / state.neighbour_weight[i] if is_informed else np.float32(0)
    for label in range(n_labels):
        out[at + label] = state.neighbour_sum[i, label] * share
    near = at
    at += n_labels
    for direction in range(N_BINS):
        out[at + direction] = state.finished_around[i, direction]
    at += N_BINS
    if not extended:
        return
    has, own, agreed = state.subsets[i] > 0, np.float32(0), np.float32(0)
    if has:
        for label in range(n_labels):
            own = max(own, state.probabilities[i, label])
            agreed += state.probabilities[i, label] * out[near + label]
    out[at] = own
    out[at + 1] = np.log(np.float32(SETTINGS.certain) - own)
    out[at + 2] = has
    out[at + 3] = state.neighbour_confidence[i] * share
    out[at + 4] = np.log(np.float32(SETTINGS.certain) - min(out[at + 3], np.float32(1)))
    out[at + 5] = is_informed
    out[at + 6] = 1 - agreed if has and is_informed else 0
    out[at + 7] = world.sizes[i]
    if timed:
        out[at + TIME_LEFT], out[at + TIME_LEFT + 1] = time_left(state)
    else:
        out[at + TIME_LEFT], out[at + TIME_LEFT + 1] = 0, 0
    at += N_EXTRAS
    for d in range(n_descriptors):
        out[at + d] = state.costs[i, d]
        out[at + n_descriptors + d] = state.shares[i, d]


@compiled
def time_left(state):  # type: ignore[no-untyped-def]
    """Logarithm of the share of the time that is left, and of that for each that is unfinished."""
    n = len(state.subsets)
    full_s = max(state.scalars.full_s * state.scalars.slowdown, 1e-9)
    left_s = min(
        max(state.scalars.left_s, SETTINGS.least_left * full_s), full_s
    )  # more than everything costs is worth no more
    unfinished = max(n - state.scalars.n_finished, 1) / n
    return np.float32(np.log(left_s / full_s)), np.float32(log_ratio(left_s / full_s, unfinished))


@compiled
def time_at(n_descriptors, n_labels):  # type: ignore[no-untyped-def]
    """Where the two stand in φ(s), the first of them."""
    return 1 + n_descriptors + n_labels + N_BINS + TIME_LEFT
