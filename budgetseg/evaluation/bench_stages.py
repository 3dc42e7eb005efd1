"""What the end of a run costs, per 1,000 supervoxels: the rows of `budgetseg bench expansion` that a deadline reserves.

A third of the supervoxels have all descriptors, a third some of them and a third none, as when time has run out. The
graph is real and the CRF the hand-set one; probabilities and descriptors are drawn, since only time is measured, around
a smooth truth: labels that change from one supervoxel to the next would cost α-expansion more than those of a video.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

from budgetseg.crf import Memory, expand
from budgetseg.crf.learning import potts
from budgetseg.crf.potentials import Crf, Evidence, make_potentials
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.inference import interpolate
from budgetseg.supervoxels import segment
from budgetseg.types import Float32, Float64, Graph, Int32, Int64, Supervoxels, UInt8

__all__ = ["bench_stages"]

Row = dict[str, str | int | float | None]

LENGTHS = (512, 96, 108, 192, 11)
"""Numbers in the descriptors: colour, HOG, HOF, MBH and a network's classes."""
N_LABELS = 11


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a run leaves when its time is over, at random.

    Attributes
    ----------
    evidence : with probabilities (N, L) that mean something only where something was computed
    crf : the hand-set one, with expected descriptors
    prior : (L,)
    """

    evidence: Evidence
    crf: Crf
    prior: Float64


def bench_stages(data: Path | None, repeats: int = 3) -> list[Row]:
    """A row per stage, on CamVid's dense run below `data`, or a rendered street without it."""
    frames, _ = Street()() if data is None else CamvidDense(data / "camvid")()
    supervoxels = segment(frames, 25 * len(frames) if data is None else 3500)
    stages = _stages(supervoxels, _draw(supervoxels.graph, 0))
    return [_row(name, _median_s(stage, repeats), len(supervoxels)) for name, stage in stages.items()]


def _draw(graph: Graph, seed: int) -> Drawn:
    """Descriptors are scaled as H scales them, a variance of about one each."""
    rng, n = np.random.default_rng(seed), len(graph)
    truth = _smooth_truth(graph, rng)
    logits = rng.normal(size=(n, N_LABELS))
    logits[np.arange(n), truth] += 2
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    starts, scale = np.array([0, *accumulate(LENGTHS)]), np.repeat(np.array(LENGTHS) ** -0.5, LENGTHS)
    expected = rng.normal(size=(starts[-1], N_LABELS)) * scale[:, None] / 2
    inputs = expected.T[truth] + rng.normal(size=(n, starts[-1])) * scale
    evidence = Evidence(probabilities.astype(np.float32), inputs.astype(np.float32), _subsets(n, rng), starts)
    prior = np.full(N_LABELS, 1 / N_LABELS)
    return Drawn(evidence, potts(prior, expected.astype(np.float32)), prior)


def _smooth_truth(graph: Graph, rng: np.random.Generator) -> Int64:
    """The label of the nearest of forty points."""
    places = graph.centroids / np.maximum(graph.centroids.max(axis=0), 1)
    nearest = cKDTree(rng.random((40, 3))).query(places)[1]
    return np.asarray(rng.integers(0, N_LABELS, 40)[nearest])


def _subsets(n: int, rng: np.random.Generator) -> Int32:
    """All descriptors, some or none, a third each."""
    every = 2 ** len(LENGTHS) - 1
    return np.choose(rng.permutation(n) % 3, [np.full(n, every), rng.integers(1, every, n), 0]).astype(np.int32)


def _stages(supervoxels: Supervoxels, now: Drawn) -> dict[str, Callable[[], float]]:
    """CPU seconds of a stage, each time from the beginning."""
    graph, ids = supervoxels.graph, supervoxels.ids
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
        "pixel labels": lambda: _cpu_s(lambda: _paint(labels, ids)),
    }


def _earlier(drawn: Drawn) -> Drawn:
    """When only those that have all descriptors now had any."""
    subsets = drawn.evidence.subsets
    return replace(drawn, evidence=replace(drawn.evidence, subsets=np.where(subsets == subsets.max(), subsets, 0)))


def _fill(drawn: Drawn, graph: Graph) -> Float32:
    return interpolate(drawn.evidence.probabilities, drawn.evidence.subsets > 0, graph, drawn.prior)


def _paint(labels: Int32, ids: Int32) -> UInt8:
    """Labels of pixels, in the shape of ids, 8-bit."""
    return labels.astype(np.uint8)[ids]


def _cpu_s(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return time.thread_time() - started


def _median_s(stage: Callable[[], float], repeats: int) -> float:
    stage()  # compiles
    return statistics.median(stage() for _ in range(repeats))


def _row(stage: str, seconds: float, n: int) -> Row:
    row: Row = {"problem": f"stage: {stage}, per 1,000 supervoxels", "seconds": 1000 * seconds / n}
    return row | dict.fromkeys(("energy", "peer", "peer_seconds", "peer_energy"))
