"""The paper's energies: H's probabilities for nodes; similarity of descriptors and a price per label pair for edges.

An edge between supervoxels i and j costs √contact · similarity · pair[a, b] if they take the labels a ≠ b. The
similarity is exp(-contrast · d), with d half the mean squared distance of their descriptors, over those that either of
them has. A missing one is replaced by its expectation given the label, so that the edge has a table of its own. If
neither has any descriptor, all are expected ones, and the table depends on the labels alone.
"""

from dataclasses import dataclass

import numpy as np

from budgetseg.crf.kernels import kernel, loose
from budgetseg.crf.problem import Problem
from budgetseg.types import Float32, Graph, Int32, Int64

__all__ = ["Crf", "Nodes", "expected_inputs", "importance", "make_potentials"]

LEAST = 1e-5  # smaller probabilities count as this: neighbours can outvote H even where it excludes a class


@dataclass(frozen=True, eq=False)
class Crf:
    """The learned parameters.

    Attributes
    ----------
    unary_weight : (L,) float32, w_u: factor on -log of H's probability of each label
    unary_bias : (L,) float32, added for each label: rare classes are worth more than their pixels
    pair : (L, L) float32, w_p: price of each pair of labels; symmetric, not negative, 0 on the diagonal
    contrast : how fast similarity falls with the distance of descriptors
    expected : (d, L) float32, inputs expected given the label
    """

    unary_weight: Float32
    unary_bias: Float32
    pair: Float32
    contrast: float
    expected: Float32


@dataclass(frozen=True, eq=False)
class Nodes:
    """What is known about the supervoxels of a video.

    Attributes
    ----------
    probabilities : (N, L) float32, H's probabilities, or interpolated ones
    inputs : (N, d) float32, descriptors as H scales them, side by side; those that were not computed are not read
    subsets : (N,) int32, bit k is set if descriptor k was computed
    starts : (D + 1,) int64, the columns of descriptor k are starts[k] to starts[k + 1]
    """

    probabilities: Float32
    inputs: Float32
    subsets: Int32
    starts: Int64


def expected_inputs(inputs: Float32, truth: Int64) -> Float32:
    """Mean inputs of each class over labelled pixels, (d, L); for a class that does not occur, the mean of all."""
    pixels = truth.astype(np.float64)
    totals = pixels.sum(axis=0)
    everything = pixels.sum(axis=1) @ inputs / max(totals.sum(), 1)
    means = inputs.T @ pixels / np.maximum(totals, 1)
    return np.asarray(np.where(totals > 0, means, everything[:, None]), np.float32)


def importance(amounts: Int64) -> Float32:
    """Weight of supervoxels by size, or of edges by contact: the square root of the amount over its mean.

    With weights in proportion to size, large supervoxels would swallow the small ones between them, thin things first.
    """
    if not len(amounts):
        return np.zeros(0, np.float32)
    return np.asarray(np.sqrt(amounts / amounts.mean()), np.float32)


def make_potentials(crf: Crf, evidence: Nodes, graph: Graph) -> Problem:
    """The CRF problem of a video; larger supervoxels and longer contacts count more."""
    log_p = -np.log(np.maximum(evidence.probabilities, LEAST))
    unary = importance(graph.sizes)[:, None] * (crf.unary_weight * log_p + crf.unary_bias)
    rate = np.float32(-crf.contrast)
    expected = np.ascontiguousarray(crf.expected.T)
    weight = importance(graph.contact) * np.exp(rate * _shared_distances(graph.edges, evidence))
    tables = np.stack([crf.pair, crf.pair * np.exp(rate * _expected_distances(expected, len(evidence.starts) - 1))])
    table_of, factor_of, distances = _missing_distances(graph.edges, evidence, expected)
    factors = np.exp(rate * distances)
    return Problem(np.ascontiguousarray(unary, np.float32), graph.edges, tables, table_of, weight, factors, factor_of)


def _shared_distances(edges: Int32, evidence: Nodes) -> Float32:
    """Half the squared distance over the descriptors that both ends have, by the number that either has, (E,)."""
    found = np.zeros(len(edges), np.float32)
    _compare_ends(edges, evidence.inputs, evidence.subsets, evidence.starts, found)
    return found


def _expected_distances(expected: Float32, n_descriptors: int) -> Float32:
    """Half the mean squared distance of the expected inputs (L, d) of two labels, (L, L); 0 without descriptors."""
    found = np.zeros((len(expected), len(expected)), np.float32)
    _compare_all(expected, found)
    return found / np.float32(max(n_descriptors, 1))


def _missing_distances(edges: Int32, evidence: Nodes, expected: Float32) -> tuple[Int32, Int32, Float32]:
    """The table of each edge, (E,), the row of each of its ends, (E, 2), and the rows: distances by label, (F, L).

    A distance is half the squared distance of the other end's descriptors to those expected (L, d) of a label, over the
    descriptors that an end lacks, by the number that either end has.
    """
    n_nodes = len(evidence.subsets)
    n_labels = len(expected)
    n_descriptors = len(evidence.starts) - 1
    wanted, of_none = np.zeros((2, n_nodes), np.int32)
    table_of = np.zeros(len(edges), np.int32)
    row_of = np.zeros((len(edges), 2), np.int32)
    n_rows = _sort_ends(edges, evidence.subsets, wanted, of_none, table_of, row_of)
    distances = np.empty((n_nodes, n_descriptors, n_labels), np.float32)
    _compare_expected(evidence.inputs, wanted, evidence.starts, expected, distances)
    rows = np.zeros((n_rows, n_labels), np.float32)
    _add_missing(edges, evidence.subsets, distances, row_of, rows)
    return table_of, row_of, rows


@kernel
def _sort_ends(edges, subsets, wanted, of_none, table_of, row_of):  # type: ignore[no-untyped-def]
    """Fill in the table and rows of each edge, and the descriptors of each node that some neighbour lacks.

    Table 1 is for edges between ends without any descriptors. Row 0 is for ends that lack nothing. All neighbours of a
    node that have no descriptor share a row. Returns the number of rows.
    """
    n = 1
    for e in range(len(edges)):
        for end in range(2):
            subset = subsets[edges[e, end]]
            other = edges[e, 1 - end]
            lacking = subsets[other] & ~subset
            wanted[other] |= lacking
            if lacking and subset == 0 and of_none[other] > 0:
                row_of[e, end] = of_none[other]
            elif lacking:
                row_of[e, end] = n
                if subset == 0:
                    of_none[other] = n
                n += 1
            elif subset == 0 and subsets[other] == 0:
                table_of[e] = 1
    return n


@loose
def _compare_ends(edges, inputs, subsets, starts, found):  # type: ignore[no-untyped-def]
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        shared = subsets[i] & subsets[j]
        total = np.float32(0)
        k = 0
        while shared >> k:
            if shared >> k & 1:
                start = starts[k]
                while shared >> k & 1:  # descriptors that are side by side are compared at once
                    k += 1
                total += _half_squared_distance(inputs[i, start : starts[k]], inputs[j, start : starts[k]])
            k += 1
        if shared:
            found[e] = total / np.float32(_n_bits(subsets[i] | subsets[j]))


@loose
def _compare_all(expected, found):  # type: ignore[no-untyped-def]
    for a in range(len(expected)):
        for b in range(a):
            found[a, b] = found[b, a] = _half_squared_distance(expected[a], expected[b])


@loose
def _compare_expected(inputs, wanted, starts, expected, distances):  # type: ignore[no-untyped-def]
    """Fill in the distances that are wanted; others stay undefined."""
    for i in range(len(wanted)):
        for k in range(len(starts) - 1):
            if wanted[i] >> k & 1:
                vector = inputs[i, starts[k] : starts[k + 1]]
                for label in range(len(expected)):
                    distance = _half_squared_distance(vector, expected[label, starts[k] : starts[k + 1]])
                    distances[i, k, label] = distance


@loose
def _add_missing(edges, subsets, distances, row_of, rows):  # type: ignore[no-untyped-def]
    """Fill in rows: mean distances over the descriptors that an end lacks."""
    done = 0
    for e in range(len(edges)):
        for end in range(2):
            if row_of[e, end] > done:
                done = row_of[e, end]
                node = edges[e, end]
                other = edges[e, 1 - end]
                lacking = subsets[other] & ~subsets[node]
                n = np.float32(_n_bits(subsets[node] | subsets[other]))
                for k in range(distances.shape[1]):
                    if lacking >> k & 1:
                        for label in range(distances.shape[2]):
                            rows[done, label] += distances[other, k, label]
                for label in range(distances.shape[2]):
                    rows[done, label] /= n


@kernel
def _n_bits(subset):  # type: ignore[no-untyped-def]
    n = 0
    while subset:
        subset &= subset - 1
        n += 1
    return n


@loose
def _half_squared_distance(first, second):  # type: ignore[no-untyped-def]
    """Half the squared distance of two vectors. The loop starts at 0, so that the compiler makes vector code of it."""
    total = np.float32(0)
    for c in range(len(first)):
        step = first[c] - second[c]
        total += step * step
    return total / np.float32(2)
