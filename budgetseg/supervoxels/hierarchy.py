"""The hierarchy of regions: a tree of merges that can be cut at any number of regions or at any level.

The price of merging two regions a and b that share c voxel faces is

    (ε + |μa - μb|²) · f · √(√f / c),   f = |a||b| / (|a| + |b|)

with μ the mean weighted feature. It is Ward's criterion (the growth of the squared error, f·|μa - μb|²) with a
premium for pairs that share few faces for their size, so that regions that barely touch merge later. Pairs that are
each other's cheapest partner merge, round after round, until one region is left. Sorted by price, these merges are a
hierarchy of which every prefix is a partition.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from budgetseg.errors import UsageError
from budgetseg.supervoxels.regions import Regions
from budgetseg.types import Float64, Int32, Int64

__all__ = ["N_LEVELS", "Tree", "level_price", "merge_regions"]

N_LEVELS = 20
_LEVEL_0 = 4.4e3
_LEVEL_RATIO = 1.4
_EPSILON = 1.0  # without any difference in features, small regions still merge before large ones


def level_price(level: int, reduce: int = 1) -> float:
    """Price up to which pairs have merged at a level, 0 to 20, if a voxel is a block of `reduce`² pixels.

    It is set so that level 9, the paper's, has about 35 supervoxels per frame on 480x360 road video at full size.
    Blocks make sizes and contacts smaller; the power of `reduce` was measured as the one that keeps the number of
    supervoxels.
    """
    if not 0 <= level <= N_LEVELS:
        raise UsageError(f"level must be 0 to {N_LEVELS}. Got {level}; 9 is the paper's")
    return float(_LEVEL_0 * _LEVEL_RATIO**level / reduce**2.1)


@dataclass(frozen=True, eq=False)
class Tree:
    """All merges, cheapest first.

    Regions of different groups never merge. Only regions without a group are counted; without groups these are all.

    Attributes
    ----------
    n_leaves : number of nodes before any merge
    children : (M, 2) int32, the two nodes that the m-th merge joins into node n_leaves + m
    prices : (M,) float64, never falling
    counts : (M + 1,) int64, number of regions without a group after 0 to M merges
    """

    n_leaves: int
    children: Int32
    prices: Float64
    counts: Int64

    def count_below(self, price: float) -> int:
        """Number of regions after all merges up to a price."""
        return int(self.counts[np.searchsorted(self.prices, price, side="right")])

    def cut(self, n: int) -> Int32:
        """Region of every leaf, (n_leaves,), numbered by first leaf: n regions, or the nearest possible number."""
        n_merges = min(int(np.searchsorted(-self.counts, -n)), len(self.children))
        regions: Int32 = _assign(self.n_leaves, self.children[:n_merges])
        return regions


@njit(cache=True, nogil=True)
def _assign(n_leaves, children):  # type: ignore[no-untyped-def]
    n_nodes = n_leaves + len(children)
    top = np.arange(n_nodes).astype(np.int32)
    for merge in range(len(children) - 1, -1, -1):
        top[children[merge, 0]] = top[children[merge, 1]] = top[n_leaves + merge]
    names = np.full(n_nodes, -1, np.int32)
    n = 0
    regions = np.empty(n_leaves, np.int32)
    for leaf in range(n_leaves):
        if names[top[leaf]] < 0:
            names[top[leaf]] = n
            n += 1
        regions[leaf] = names[top[leaf]]
    return regions


def merge_regions(regions: Regions) -> Tree:
    """The tree of all merges of a region graph."""
    children, prices, takes = _merge_all(
        regions.sizes.copy(),
        regions.sums.copy(),
        regions.edges.T.copy(),
        regions.contact.copy(),
        regions.groups.copy(),
    )
    order = np.argsort(prices, kind="stable")
    n = len(regions)
    renamed = np.arange(n + len(order), dtype=np.int32)
    renamed[n + order] = np.arange(n, n + len(order), dtype=np.int32)
    counts = np.count_nonzero(regions.groups < 0) - np.concatenate([[0], np.cumsum(takes[order])])
    return Tree(n, renamed[children[order]], prices[order], counts)


@njit(cache=True, nogil=True)
def _merge_all(sizes, sums, ends, contact, groups):  # type: ignore[no-untyped-def]
    """Merges in the order in which they were found, their prices, and whether each removes a region without a group.

    The arguments are overwritten.
    """
    n_leaves = len(sizes)
    n_edges = len(contact)
    children = np.empty((n_leaves, 2), np.int32)
    prices = np.empty(n_leaves)
    takes = np.empty(n_leaves, np.bool_)
    node = np.arange(n_leaves).astype(np.int32)
    n = n_leaves
    n_merges = 0
    while n_edges > 0:
        price, choice = _cheapest(sizes[:n], sums, ends[:, :n_edges], contact, groups)
        new = np.arange(n).astype(np.int32)
        before = n_merges
        for a in range(n):
            if choice[a] < 0:
                continue
            b = ends[0, choice[a]] + ends[1, choice[a]] - a
            if a < b and choice[b] == choice[a]:
                new[b] = a
                children[n_merges] = node[a], node[b]
                prices[n_merges] = _not_before(price[a], node[a], node[b], n_leaves, prices)
                takes[n_merges] = groups[a] < 0 or groups[b] < 0
                node[a] = n_leaves + n_merges
                n_merges += 1
                sizes[a] += sizes[b]
                sums[a] += sums[b]
                groups[a] = max(groups[a], groups[b])
        if n_merges == before:
            break
        n = _compact(new, node, sizes, sums, groups)
        n_edges = _contract(new, n, ends, contact, n_edges)
    return children[:n_merges], prices[:n_merges], takes[:n_merges]


@njit(cache=True, nogil=True)
def _cheapest(sizes, sums, ends, contact, groups):  # type: ignore[no-untyped-def]
    """For every region the price of its cheapest partner and the edge to it, -1 if there is none."""
    n = len(sizes)
    n_features = sums.shape[1]
    means = np.empty((n, n_features), np.float32)
    for i in range(n):
        for k in range(n_features):
            means[i, k] = sums[i, k] / sizes[i]
    price = np.full(n, np.inf)
    choice = np.full(n, -1, np.int32)
    for edge in range(ends.shape[1]):
        a = ends[0, edge]
        b = ends[1, edge]
        if groups[a] >= 0 and groups[b] >= 0 and groups[a] != groups[b]:
            continue
        distance = _EPSILON
        for k in range(n_features):
            distance += (means[a, k] - means[b, k]) ** 2
        f = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
        # Ties (flat areas) are broken by a hash of the edge: in the order of the edges they would form long chains
        # with a single mutual pair at the end.
        tie_break = 1.0 + 1e-9 * ((edge * np.int64(2654435761)) & 0xFFFF)
        cost = tie_break * distance * f * np.sqrt(np.sqrt(f) / contact[edge])
        if cost < price[a]:
            price[a] = cost
            choice[a] = edge
        if cost < price[b]:
            price[b] = cost
            choice[b] = edge
    return price, choice


@njit(cache=True, nogil=True)
def _not_before(price, a, b, n_leaves, prices):  # type: ignore[no-untyped-def]
    """`price`, or that of a child if it costs more, since a parent must not come before its children."""
    for child in (a, b):
        if child >= n_leaves:
            price = max(price, prices[child - n_leaves])
    return price


@njit(cache=True, nogil=True)
def _compact(new, node, sizes, sums, groups):  # type: ignore[no-untyped-def]
    """Move the remaining regions to the front; `new` becomes the index of every old one. Returns their number."""
    n = 0
    for i in range(len(new)):
        if new[i] == i:
            node[n] = node[i]
            sizes[n] = sizes[i]
            groups[n] = groups[i]
            sums[n] = sums[i]
            new[i] = n
            n += 1
        else:
            new[i] = new[new[i]]
    return n


@njit(cache=True, nogil=True)
def _contract(new, n, ends, contact, n_edges):  # type: ignore[no-untyped-def]
    """Rename the ends of the edges, drop loops, add up parallel edges. Returns the number of remaining edges."""
    starts = np.zeros(n + 1, np.int64)
    kept = 0
    for edge in range(n_edges):
        a = new[ends[0, edge]]
        b = new[ends[1, edge]]
        if a != b:
            ends[0, kept] = min(a, b)
            ends[1, kept] = max(a, b)
            contact[kept] = contact[edge]
            starts[min(a, b) + 1] += 1
            kept += 1
    place = np.cumsum(starts)
    others = np.empty(kept, np.int32)
    areas = np.empty(kept, np.float32)
    for edge in range(kept):
        at = place[ends[0, edge]]
        others[at] = ends[1, edge]
        areas[at] = contact[edge]
        place[ends[0, edge]] += 1
    seen = np.full(n, -1, np.int64)
    n_out = 0
    for a in range(n):
        first = n_out
        for at in range(place[a] - starts[a + 1], place[a]):
            b = others[at]
            if seen[b] >= first:
                contact[seen[b]] += areas[at]
            else:
                seen[b] = n_out
                ends[0, n_out] = a
                ends[1, n_out] = b
                contact[n_out] = areas[at]
                n_out += 1
    return n_out
