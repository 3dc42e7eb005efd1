"""Merging against the same rule written out with sets of leaves."""

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budgetseg.errors import UsageError
from budgetseg.supervoxels.hierarchy import N_LEVELS, Tree, level_price, merge_regions
from budgetseg.supervoxels.regions import Regions
from budgetseg.timing.clock import process_s
from budgetseg.types import Int32
from tests.supervoxels.volumes import few

Node = frozenset[int]
"""A region, as its leaves."""
Pair = frozenset[Node]
CLOSE = 2e-4
"""The merging tells equal prices apart by changing them by less than this; so examples must be further apart."""


def price_of(regions: Regions, pair: Pair, contact: float) -> float:
    """The formula in the module's docstring, with ε = 1."""
    sizes = [regions.sizes[list(node)].sum() for node in pair]
    mean_a, mean_b = (regions.sums[list(node)].sum(axis=0) / size for node, size in zip(pair, sizes, strict=True))
    f = sizes[0] * sizes[1] / sum(sizes)
    return float((1 + ((mean_a - mean_b) ** 2).sum()) * f * math.sqrt(math.sqrt(f) / contact))


def groups_in(regions: Regions, node: Node) -> set[int]:
    return set(regions.groups[list(node)].tolist()) - {-1}


def merged(regions: Regions) -> tuple[list[tuple[float, Pair]], float]:
    """Price and pair of every merge, cheapest first; and the closest call, as a relative difference."""
    ends = [frozenset(frozenset({leaf}) for leaf in edge) for edge in regions.edges.tolist()]
    contact: dict[Pair, float] = dict(zip(ends, regions.contact.tolist(), strict=True))
    paid: dict[Node, float] = {}
    merges: list[tuple[float, Pair]] = []
    gaps = [1.0]
    while True:
        allowed = [pair for pair in contact if len(groups_in(regions, frozenset().union(*pair))) < 2]
        prices = {pair: price_of(regions, pair, contact[pair]) for pair in allowed}
        ranked = {node: sorted((prices[pair], pair) for pair in prices if node in pair) for node in _nodes(prices)}
        gaps += [two[1][0] / two[0][0] - 1 for two in ranked.values() if len(two) > 1]
        mutual = [pair for pair in prices if all(ranked[node][0][1] == pair for node in pair)]
        if not mutual:
            break
        for pair in mutual:
            whole: Node = frozenset().union(*pair)
            paid[whole] = max(prices[pair], *(paid.get(node, 0.0) for node in pair))
            merges.append((paid[whole], pair))
        contact = _contracted(contact, mutual)
    merges.sort(key=lambda merge: merge[0])
    gaps += [b / a - 1 for (a, _), (b, _) in pairwise(merges) if a != b]
    return merges, min(gaps)


def _nodes(pairs: dict[Pair, float]) -> set[Node]:
    return {node for pair in pairs for node in pair}


def _contracted(contact: dict[Pair, float], mutual: list[Pair]) -> dict[Pair, float]:
    home = {node: frozenset().union(*pair) for pair in mutual for node in pair}
    total: Counter[Pair] = Counter()
    for pair, area in contact.items():
        ends = frozenset(home.get(node, node) for node in pair)
        if len(ends) == 2:
            total[ends] += area  # type: ignore[assignment]
    return dict(total)


@st.composite
def region_graphs(draw: st.DrawFn) -> Regions:
    """Any graph of a few regions, in one piece or several, some of them in groups."""
    n, density, n_groups = draw(st.integers(1, 14)), draw(st.sampled_from([0.15, 0.4, 1.0])), draw(st.integers(0, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    edges = [edge for edge in combinations(range(n), 2) if rng.random() < density]
    rng.shuffle(edges)
    sizes = rng.integers(1, 200, n).astype(np.float64)
    return Regions(
        sizes,
        sizes[:, None] * rng.normal(0, draw(st.sampled_from([0.1, 3, 40])), (n, 4)),
        np.array(edges, np.int32).reshape(-1, 2),
        rng.integers(1, 100, len(edges)).astype(np.float32),
        np.where(rng.random(n) < 0.5, rng.integers(-1, n_groups, n), -1).astype(np.int32),
    )


def partition(regions: Int32) -> set[Node]:
    return {frozenset(np.flatnonzero(regions == region).tolist()) for region in np.unique(regions)}


def prefixes(tree: Tree) -> list[set[Node]]:
    """The partition after each number of merges."""
    nodes = [frozenset({leaf}) for leaf in range(tree.n_leaves)]
    partitions = [set(nodes)]
    for a, b in tree.children.tolist():
        nodes.append(nodes[a] | nodes[b])
        partitions.append(partitions[-1] - {nodes[a], nodes[b]} | {nodes[-1]})
    return partitions


def n_free(regions: Regions, nodes: set[Node]) -> int:
    """How many have no group: those that count."""
    return sum(not groups_in(regions, node) for node in nodes)


@given(region_graphs())
@few
def test_the_merges_are_those_of_the_plain_rule(regions: Regions) -> None:
    merges, closest = merged(regions)
    assume(closest > CLOSE)
    tree = merge_regions(regions)
    assert np.allclose(tree.prices, [price for price, _ in merges], rtol=CLOSE)
    expected = {frozenset({leaf}) for leaf in range(len(regions))}
    for (_, pair), found in zip(merges, prefixes(tree)[1:], strict=True):
        expected = expected - pair | {frozenset().union(*pair)}
        assert found == expected


@given(region_graphs())
@few
def test_a_cut_is_the_first_partition_with_as_few_regions_without_a_group(regions: Regions) -> None:
    tree = merge_regions(regions)
    partitions = prefixes(tree)
    counts = [n_free(regions, nodes) for nodes in partitions]
    assert tree.counts.tolist() == counts
    for n in range(counts[-1], counts[0] + 1):
        assert partition(tree.cut(n)) == partitions[counts.index(n)]
    assert partition(tree.cut(counts[0] + 5)) == partitions[0]
    assert partition(tree.cut(-1)) == partitions[-1]


@given(region_graphs())
@few
def test_without_groups_a_cut_has_exactly_the_number_asked_for(regions: Regions) -> None:
    tree = merge_regions(replace(regions, groups=np.full_like(regions.groups, -1)))
    for n in range(len(regions) - len(tree.children), len(regions) + 1):
        assert len(partition(tree.cut(n))) == n


@given(region_graphs())
@few
def test_regions_are_named_in_the_order_of_their_first_leaf(regions: Regions) -> None:
    tree = merge_regions(regions)
    for n in range(len(regions) + 1):
        names, first = np.unique(tree.cut(n), return_index=True)
        assert np.array_equal(names, np.arange(len(names)))
        assert (np.diff(first) > 0).all()


@given(region_graphs())
@few
def test_prices_never_fall(regions: Regions) -> None:
    assert (np.diff(merge_regions(regions).prices) >= 0).all()


@given(region_graphs())
@few
def test_a_coarser_cut_is_made_of_regions_of_a_finer_one(regions: Regions) -> None:
    tree = merge_regions(regions)
    for n in range(len(regions)):
        finer, coarser = tree.cut(n + 1), tree.cut(n)
        assert len(set(zip(finer.tolist(), coarser.tolist(), strict=True))) == finer.max() + 1


@given(region_graphs())
@few
def test_count_below_a_price_is_what_is_left_after_all_merges_up_to_it(regions: Regions) -> None:
    tree = merge_regions(regions)
    partitions = prefixes(tree)
    for price in (-1.0, *tree.prices.tolist(), math.inf):
        n_merges = sum(paid <= price for paid in tree.prices.tolist())
        assert tree.count_below(price) == n_free(regions, partitions[n_merges])


@given(region_graphs())
@few
def test_every_region_of_a_cut_is_connected_in_the_graph(regions: Regions) -> None:
    tree = merge_regions(regions)
    for n in range(len(regions) + 1):
        cut = tree.cut(n)
        inside = regions.edges[cut[regions.edges[:, 0]] == cut[regions.edges[:, 1]]]
        assert n_components(len(regions), inside) == cut.max() + 1


def n_components(n: int, edges: Int32) -> int:
    home = list(range(n))
    for a, b in edges.tolist():
        home = [home[a] if name == home[b] else name for name in home]
    return len(set(home))


@given(region_graphs())
@few
def test_two_groups_never_merge_and_all_else_does(regions: Regions) -> None:
    coarsest = merge_regions(regions).cut(-1)
    nodes = {region: frozenset(np.flatnonzero(coarsest == region).tolist()) for region in coarsest.tolist()}
    assert all(len(groups_in(regions, node)) < 2 for node in nodes.values())
    for a, b in coarsest[regions.edges].tolist():
        assert a == b or len(groups_in(regions, nodes[a] | nodes[b])) == 2


@given(region_graphs())
@few
def test_the_regions_that_are_given_stay_as_they_are(regions: Regions) -> None:
    before = [array.copy() for array in vars(regions).values()]
    merge_regions(regions)
    assert all(np.array_equal(a, b) for a, b in zip(before, vars(regions).values(), strict=True))


def chain(n: int) -> Regions:
    """Equal regions in a row."""
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32)
    return Regions(np.ones(n), np.ones((n, 4)), edges, np.ones(n - 1, np.float32), np.full(n, -1, np.int32))


def test_a_single_region_is_a_tree_without_merges() -> None:
    tree = merge_regions(chain(1))
    assert (tree.n_leaves, len(tree.prices)) == (1, 0)
    assert np.array_equal(tree.cut(1), [0])


def test_a_long_chain_of_equals_merges_evenly_into_one() -> None:
    tree = merge_regions(chain(5000))
    assert not tree.cut(1).any()
    assert np.bincount(tree.cut(50)).max() < 1000


def test_a_long_chain_of_equals_merges_in_few_rounds() -> None:
    regions = chain(50_000)
    began_s = process_s()
    merge_regions(regions)
    assert process_s() - began_s < 3  # a hundredth of it, or 18 s with one pair a round


def test_levels_cost_more_and_more() -> None:
    assert all(level_price(level) < level_price(level + 1) for level in range(N_LEVELS))


def test_larger_blocks_have_lower_prices() -> None:
    assert level_price(9, 3) < level_price(9, 2) < level_price(9)


@pytest.mark.parametrize("level", [-1, N_LEVELS + 1])
def test_a_level_out_of_range_is_refused_with_the_range(level: int) -> None:
    with pytest.raises(UsageError, match=f"level must be 0 to {N_LEVELS}. Got {level}"):
        level_price(level)
