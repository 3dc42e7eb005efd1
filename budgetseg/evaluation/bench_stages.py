"""Measure the stages at the end of a run, per 1,000 supervoxels: rows of `budgetseg bench expansion`.

A third of the supervoxels have all descriptors, a third some of them and a third none, as when time has run out. With a
trained model, everything is as in a run. Without one, the graph is real and the CRF the hand-set one, but probabilities
and descriptors are drawn at random around a smooth truth: labels that change from one supervoxel to the next would cost
α-expansion more than those of a video.
"""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from budgetseg.classifiers.samples import place_of
from budgetseg.crf import Memory, expand
from budgetseg.crf.learning import potts
from budgetseg.crf.potentials import Crf, Nodes, make_potentials
from budgetseg.datasets.camvid_classes import CLASSES
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import BUILT_IN, HAND_MADE, open_descriptors
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.models.bundle import Model
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.spaces.regions.paint import paint
from budgetseg.supervoxels import segment
from budgetseg.timing.clock import thread_s
from budgetseg.types import Float32, Float64, Graph, Int32, Int64, Supervoxels, UInt8

__all__ = ["bench_stages"]

Row = dict[str, str | int | float | None]

N_LABELS = len(CLASSES)
LENGTHS = (*(BUILT_IN[name]().length for name in HAND_MADE), N_LABELS)
"""Lengths of the hand-made descriptors, and of a network's output."""


@dataclass(frozen=True, eq=False)
class Remains:
    """The state of a run when its time is over.

    Attributes
    ----------
    evidence : of N supervoxels, with probabilities (N, L) that are valid only where something was computed
    crf : the model's, or the hand-set one
    prior : (L,) share of each class in training
    """

    evidence: Nodes
    crf: Crf
    prior: Float64


def bench_stages(data: Path | None, repeats: int = 3, model: Model | None = None) -> list[Row]:
    """A row for each stage, on CamVid's dense run below `data`, or on a rendered street if that is None."""
    frames, _ = Street()() if data is None else CamvidDense(data / "camvid")()
    supervoxels = segment(frames, 25 * len(frames) if data is None else 3500)
    now = _draw(supervoxels.graph, 0) if model is None else _ask(model, frames, supervoxels, 0)
    stages = _stages(supervoxels, now)
    model_name = "drawn" if model is None else model.name
    return [_row(name, _median_s(stage, repeats), len(supervoxels), model_name) for name, stage in stages.items()]


def _ask(model: Model, frames: UInt8, supervoxels: Supervoxels, seed: int) -> Remains:
    """A model's predictions for a video; which descriptors were computed is drawn at random."""
    h = model.classifiers
    graph = supervoxels.graph
    values, _ = measure(Scene.of(frames, supervoxels), open_descriptors(h.names, model.networks))
    subsets = _subsets(len(graph), len(h.names), np.random.default_rng(seed))
    probabilities = h.predict(values, place_of(graph), subsets)
    return Remains(Nodes(probabilities, h.scaled(values), subsets, h.starts), model.crf, h.prior)


def _draw(graph: Graph, seed: int) -> Remains:
    """Random predictions and descriptors, scaled as H scales them, each with a variance of about one."""
    rng = np.random.default_rng(seed)
    n = len(graph)
    truth = _smooth_truth(graph, rng)
    logits = rng.normal(size=(n, N_LABELS))
    logits[np.arange(n), truth] += 2
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    starts = np.array([0, *accumulate(LENGTHS)])
    scale = np.repeat(np.array(LENGTHS) ** -0.5, LENGTHS)
    expected = rng.normal(size=(starts[-1], N_LABELS)) * scale[:, None] / 2
    inputs = expected.T[truth] + rng.normal(size=(n, starts[-1])) * scale
    subsets = _subsets(n, len(LENGTHS), rng)
    evidence = Nodes(probabilities.astype(np.float32), inputs.astype(np.float32), subsets, starts)
    prior = np.full(N_LABELS, 1 / N_LABELS)
    return Remains(evidence, potts(expected.astype(np.float32)), prior)


def _smooth_truth(graph: Graph, rng: np.random.Generator) -> Int64:
    """A label for each supervoxel, (N,): that of the nearest of forty random points."""
    places = graph.centroids / np.maximum(graph.centroids.max(axis=0), 1)
    nearest = cKDTree(rng.random((40, 3))).query(places)[1]
    return np.asarray(rng.integers(0, N_LABELS, 40)[nearest])


def _subsets(n: int, n_descriptors: int, rng: np.random.Generator) -> Int32:
    """Subsets of descriptors, (N,), as bits: a third has all, a third a random subset, a third none."""
    all_descriptors = 2**n_descriptors - 1
    third = rng.permutation(n) % 3
    drawn = rng.integers(1, max(all_descriptors, 2), n)
    return np.choose(third, [np.full(n, all_descriptors), drawn, 0]).astype(np.int32)


def _stages(supervoxels: Supervoxels, now: Remains) -> dict[str, Callable[[], float]]:
    """Stages by name; each is a function that runs the stage from the beginning, and returns its CPU seconds."""
    graph = supervoxels.graph
    ids = supervoxels.ids
    before = _earlier(now)
    evidence = replace(now.evidence, probabilities=_fill(now, graph))
    problem = make_potentials(now.crf, evidence, graph)
    other = make_potentials(now.crf, replace(before.evidence, probabilities=_fill(before, graph)), graph)
    labels = expand(problem)

    def expand_again() -> float:
        memory = Memory()
        expand(other, None, memory)
        return _cpu_s(lambda: expand(problem, None, memory))

    return {
        "interpolation": lambda: _cpu_s(lambda: _fill(now, graph)),
        "potentials": lambda: _cpu_s(lambda: make_potentials(now.crf, evidence, graph)),
        "expansion": lambda: _cpu_s(lambda: expand(problem)),
        "expansion with used memory": expand_again,
        "pixel labels": lambda: _cpu_s(lambda: paint(labels, ids, np.empty(ids.shape, np.uint8))),
    }


def _earlier(now: Remains) -> Remains:
    """An earlier state, in which only the supervoxels that have all descriptors now had any."""
    subsets = now.evidence.subsets
    return replace(now, evidence=replace(now.evidence, subsets=np.where(subsets == subsets.max(), subsets, 0)))


def _fill(left: Remains, graph: Graph) -> Float32:
    return interpolate(left.evidence.probabilities, left.evidence.subsets > 0, graph, left.prior)


def _cpu_s(work: Callable[[], object]) -> float:
    started = thread_s()
    work()
    return thread_s() - started


def _median_s(stage: Callable[[], float], repeats: int) -> float:
    stage()  # compiles
    return statistics.median(stage() for _ in range(repeats))


def _row(stage: str, seconds: float, n: int, model: str) -> Row:
    row: Row = {"problem": f"stage: {stage}, per 1,000 supervoxels", "seconds": 1000 * seconds / n}
    return row | dict.fromkeys(("energy", "peer", "peer_seconds", "peer_energy")) | {"model": model}
