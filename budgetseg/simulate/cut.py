"""Cut a described video into clips: supervoxels are divided by time, and a clip keeps the edges within it."""

from dataclasses import replace

import numpy as np

from budgetseg.policy.state import world_of
from budgetseg.simulate.arena import Arena
from budgetseg.types import Graph, Int64

__all__ = ["clips_of"]


def clips_of(arena: Arena, n: int) -> list[Arena]:
    """The arena cut into clips of about n supervoxels each, in the order of time."""
    in_time = np.argsort(arena.graph.centroids[:, 0], kind="stable")
    n_clips = max(1, round(len(arena) / n))
    if n_clips == 1:
        return [arena]
    parts = np.array_split(in_time, n_clips)
    return [_part(arena, np.sort(kept), f"{arena.name} {k}") for k, kept in enumerate(parts)]


def _part(arena: Arena, kept: Int64, name: str) -> Arena:
    graph = _part_of_graph(arena.graph, kept)
    costs = arena.costs.take(range(arena.world.n_descriptors), kept)
    return replace(
        arena,
        name=name,
        graph=graph,
        costs=costs,
        world=world_of(graph, costs),
        probabilities=np.ascontiguousarray(arena.probabilities[kept]),
        inputs=arena.inputs[kept],
        truth=arena.truth[kept],
    )


def _part_of_graph(graph: Graph, kept: Int64) -> Graph:
    """The nodes that are kept and the edges between them, in the order of the whole graph."""
    place = np.full(len(graph), -1, np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    edges = place[graph.edges]
    is_inside = (edges >= 0).all(axis=1)
    nodes = graph.sizes[kept], graph.centroids[kept], graph.boxes[kept]
    return Graph(edges[is_inside], graph.contact[is_inside], *nodes, graph.bins[is_inside])
