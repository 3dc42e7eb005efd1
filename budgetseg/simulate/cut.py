"""Clips of a described video: its supervoxels in turns, by time, each clip with the edges and costs among its own."""

from dataclasses import replace

import numpy as np

from budgetseg.policy.state import world_of
from budgetseg.simulate.arena import Arena
from budgetseg.types import Graph, Int64

__all__ = ["clips_of"]


def clips_of(arena: Arena, n: int) -> list[Arena]:
    """The arena in as many clips as give about n supervoxels each, in the order of time."""
    in_time = np.argsort(arena.graph.centroids[:, 0], kind="stable")
    n_clips = max(1, round(len(arena) / n))
    if n_clips == 1:
        return [arena]
    return [_part(arena, np.sort(own), f"{arena.name} {k}") for k, own in enumerate(np.array_split(in_time, n_clips))]


def _part(arena: Arena, kept: Int64, name: str) -> Arena:
    graph, costs = _part_of_graph(arena.graph, kept), arena.costs.take(range(arena.world.n_descriptors), kept)
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
    """The nodes that are kept, and the edges among them; order is kept too."""
    place = np.full(len(graph), -1, np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    edges = place[graph.edges]
    among = (edges >= 0).all(axis=1)
    nodes = graph.sizes[kept], graph.centroids[kept], graph.boxes[kept]
    return Graph(edges[among], graph.contact[among], *nodes, graph.bins[among])
