"""The paper's energies: H's probabilities for nodes, similarity of descriptors and a price per label pair for edges.

An edge between supervoxels i and j costs √contact · similarity · pair[a, b] where they take the labels a ≠ b. The
similarity is exp(-contrast · d), with d half the mean squared distance of their descriptors, over those that either of
them has; one that is missing is replaced by its expectation given the label, so that the edge has a table of its own.
Where neither has any descriptor, all are expected, and the table depends on the labels alone.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit

from budgetseg.crf.problem import Problem
from budgetseg.types import Float32, Graph, Int32, Int64

__all__ = ["Crf", "Evidence", "expected_inputs", "importance", "make_potentials"]

LEAST = 1e-5  # probability; what H excludes may still be outvoted


@dataclass(frozen=True, eq=False)
class Crf:
    """The learned figures.

    Attributes
    ----------
    unary_weight : (L,) float32, w_u: what -log of H's probability of a label is multiplied with
    unary_bias : (L,) float32, added for each label: rare classes are worth more than their pixels
    pair : (L, L) float32, symmetric, not negative, 0 on the diagonal: w_p
    contrast : how fast similarity falls with the distance of descriptors
    expected : (d, L) float32, inputs expected given the label
    """

    unary_weight: Float32
    unary_bias: Float32
    pair: Float32
    contrast: float
    expected: Float32


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about the supervoxels of a video.

    Attributes
    ----------
    probabilities : (N, L) float32, H's, or interpolated
    inputs : (N, d) float32, descriptors as H scales them, side by side; those that are not computed may be anything
    subsets : (N,) int32, bit k set where descriptor k was computed
    starts : (D + 1,) int64, the columns of descriptor k are starts[k] to starts[k + 1]
    """

    probabilities: Float32
    inputs: Float32
    subsets: Int32
    starts: Int64


def expected_inputs(inputs: Float32, truth: Int64) -> Float32:
    """Mean inputs (d, L) of each class, over labelled pixels; the mean of all for a class that does not occur."""
    pixels = truth.astype(np.float64)
    totals = pixels.sum(axis=0)
    everything = pixels.sum(axis=1) @ inputs / max(totals.sum(), 1)
    means = inputs.T @ pixels / np.maximum(totals, 1)
    return np.asarray(np.where(totals > 0, means, everything[:, None]), np.float32)


def importance(amounts: Int64) -> Float32:
    """How much supervoxels of these sizes count, or edges of these contacts: the root of their share of the mean.

    In proportion to their size, large supervoxels would swallow the small ones among them, thin things first.
    """
    if not len(amounts):
        return np.zeros(0, np.float32)
    return np.asarray(np.sqrt(amounts / amounts.mean()), np.float32)


def make_potentials(crf: Crf, evidence: Evidence, graph: Graph) -> Problem:
    """The energy of a video; larger supervoxels and longer contacts count more."""
    sizes = importance(graph.sizes)
    log_p = -np.log(np.maximum(evidence.probabilities, LEAST))
    unary = sizes[:, None] * (crf.unary_weight * log_p + crf.unary_bias)
    contact = importance(graph.contact)
    alike, mixed = _sort_edges(graph.edges, evidence.subsets)
    weight = contact.copy()
    weight[alike] *= _similarity(graph.edges[alike], evidence, crf.contrast)
    tables = np.empty((2 + len(mixed), *crf.pair.shape), np.float32)
    tables[0] = crf.pair
    tables[1] = crf.pair * np.exp(-crf.contrast * _expected_distances(crf.expected, evidence.starts))
    known = evidence.inputs, evidence.subsets, evidence.starts
    apart = _node_distances(graph.edges[mixed], *known, np.ascontiguousarray(crf.expected.T))
    _mixed_tables(graph.edges[mixed], *known, apart, crf.pair, crf.contrast, tables[2:])
    table_of = np.ones(len(graph.edges), np.int32)
    table_of[alike] = 0
    table_of[mixed] = 2 + np.arange(len(mixed))
    return Problem(np.ascontiguousarray(unary, np.float32), graph.edges, tables, table_of, weight)


def _sort_edges(edges: Int32, subsets: Int32) -> tuple[Int64, Int64]:
    """Edges whose ends have the same descriptors, at least one; and those whose ends have not."""
    first, second = subsets[edges[:, 0]], subsets[edges[:, 1]]
    return np.flatnonzero((first == second) & (first > 0)), np.flatnonzero(first != second)


def _similarity(edges: Int32, evidence: Evidence, contrast: float) -> Float32:
    distances: Float32 = _distances(edges, evidence.inputs, evidence.subsets, evidence.starts)
    return np.asarray(np.exp(-contrast * distances), np.float32)


def _expected_distances(expected: Float32, starts: Int64) -> Float32:
    """Half the mean squared distance of what is expected of two labels, (L, L); none without descriptors."""
    found = np.zeros((expected.shape[1], expected.shape[1]), np.float32)
    for start, stop in pairwise(starts):
        block = expected[start:stop]
        found += ((block[:, :, None] - block[:, None, :]) ** 2).sum(axis=0) / 2
    return found / np.float32(max(len(starts) - 1, 1))


@njit(cache=True, nogil=True, fastmath=True)
def _distances(edges, inputs, subsets, starts):  # type: ignore[no-untyped-def]
    """Half the mean squared distance over the descriptors of the first end, (E,)."""
    found = np.empty(len(edges), np.float32)
    for e in range(len(edges)):
        i, j = edges[e]
        total, n = np.float32(0), 0
        for k in range(len(starts) - 1):
            if subsets[i] >> k & 1:
                total += _apart(inputs[i, starts[k] : starts[k + 1]], inputs[j, starts[k] : starts[k + 1]])
                n += 1
        found[e] = total / np.float32(n)
    return found


@njit(cache=True, nogil=True, fastmath=True)
def _node_distances(edges, inputs, subsets, starts, expected):  # type: ignore[no-untyped-def]
    """Half the squared distance of descriptors to what is expected of labels, (N, D, L); expected is (L, d).

    Only where the other end of some edge lacks the descriptor, else it is anything. Once for all edges of a node.
    """
    wanted = np.zeros(len(subsets), np.int32)
    for e in range(len(edges)):
        i, j = edges[e]
        wanted[i] |= subsets[i] & ~subsets[j]
        wanted[j] |= subsets[j] & ~subsets[i]
    found = np.empty((len(subsets), len(starts) - 1, len(expected)), np.float32)
    for i in range(len(subsets)):
        for k in range(len(starts) - 1):
            if wanted[i] >> k & 1:
                start, stop = starts[k], starts[k + 1]
                own = inputs[i, start:stop]
                for label in range(len(expected)):
                    found[i, k, label] = _apart(own, expected[label, start:stop])
    return found


@njit(cache=True, nogil=True, fastmath=True)
def _mixed_tables(edges, inputs, subsets, starts, apart, pair, contrast, tables):  # type: ignore[no-untyped-def]
    """Write price times similarity of each edge (E, L, L).

    Distances are sums of a part that is common, one of the first end's label and one of the second's, so similarities
    are products: 2L + 1 exponentials for L² of them.
    """
    n_labels = len(pair)
    of_first, of_second = np.empty(n_labels, np.float32), np.empty(n_labels, np.float32)
    for e in range(len(edges)):
        i, j = edges[e]
        of_first[:], of_second[:], common, n = 0, 0, np.float32(0), 0
        for k in range(len(starts) - 1):
            has_i, has_j = subsets[i] >> k & 1, subsets[j] >> k & 1
            n += has_i | has_j
            if has_i and has_j:
                common += _apart(inputs[i, starts[k] : starts[k + 1]], inputs[j, starts[k] : starts[k + 1]])
            elif has_i:
                of_second += apart[i, k]
            elif has_j:
                of_first += apart[j, k]
        rate = np.float32(-contrast / n)
        same = np.exp(rate * common)
        for label in range(n_labels):
            of_first[label] = same * np.exp(rate * of_first[label])
            of_second[label] = np.exp(rate * of_second[label])
        for a in range(n_labels):
            for b in range(n_labels):
                tables[e, a, b] = pair[a, b] * of_first[a] * of_second[b]


@njit(cache=True, nogil=True, fastmath=True)
def _apart(first, second):  # type: ignore[no-untyped-def]
    """Half the squared distance of two vectors; counted from 0, which the compiler makes vector code of."""
    total = np.float32(0)
    for c in range(len(first)):
        step = first[c] - second[c]
        total += step * step
    return total / np.float32(2)
