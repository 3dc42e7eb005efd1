"""Measure the speed of α-expansion: the rows of `budgetseg bench expansion`.

There are two random Potts problems, points in a cube that are joined to near neighbours, with whole-number energies as
other libraries need them. Time is the CPU time of one thread from arrays to labels, the median of several runs. The
small problem is also solved by the same algorithm around SciPy's max-flow, and both by gco if it is installed. Then a
hundredth of the nodes change their unaries, as in a rollout, and a run with the labels and the memory of the run before
is compared with one from nothing.
"""

import importlib
import importlib.util
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow
from scipy.spatial import cKDTree

from budgetseg.crf import Memory, Problem, energy, expand, make_problem
from budgetseg.timing.clock import thread_s
from budgetseg.types import Bool, Int32

__all__ = ["CASES", "Case", "bench_expansion", "expand_with_scipy", "random_potts"]

Row = dict[str, str | int | float | None]
Solver = Callable[[Problem], Int32]


@dataclass(frozen=True)
class Case:
    """A size to measure, and whether SciPy is fast enough to be measured on it."""

    n_nodes: int
    n_edges: int
    n_labels: int = 11
    with_scipy: bool = False

    def __str__(self) -> str:
        return f"{self.n_nodes} nodes, {self.n_edges} edges, {self.n_labels} labels"


CASES = (Case(3_500, 12_000, with_scipy=True), Case(50_000, 300_000))


def random_potts(case: Case, seed: int = 0) -> Problem:
    """Random points joined to near neighbours, noisy unaries around a smooth truth, in thousandths."""
    rng = np.random.default_rng(seed)
    points = rng.random((case.n_nodes, 3))
    n_neighbours = int(np.ceil(2 * case.n_edges / case.n_nodes)) + 2
    _, nearest = cKDTree(points).query(points, k=n_neighbours + 1)
    edges = np.stack([np.repeat(np.arange(case.n_nodes), n_neighbours), nearest[:, 1:].ravel()], axis=1)
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    edges = edges[rng.permutation(len(edges))[: case.n_edges]]
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    centres = rng.random((40, 3))
    labels = rng.integers(0, case.n_labels, 40)
    truth = labels[cKDTree(centres).query(points)[1]]
    logits = rng.normal(0, 1.0, (case.n_nodes, case.n_labels))
    logits[np.arange(case.n_nodes), truth] += 1.2
    probabilities = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    weight = 0.2 + 0.8 * rng.random(len(edges))
    return make_problem(
        np.round(-np.log(probabilities) * 1000), edges, 1 - np.eye(case.n_labels), weight=np.round(weight * 1000)
    )


def bench_expansion(cases: Sequence[Case], repeats: int = 3) -> list[Row]:
    """A row for each problem and peer, and one for a small change of each problem; none of them uses a model."""
    return [row | {"model": None} for case in cases for row in _rows(case, repeats)]


def _rows(case: Case, repeats: int) -> list[Row]:
    problem = random_potts(case)
    expand(problem)  # compiles
    peers: dict[str, Solver] = {"SciPy": expand_with_scipy} if case.with_scipy else {}
    if importlib.util.find_spec("gco") is not None:
        peers["gco"] = _expand_with_gco
    seconds, found = _timed(expand, problem, repeats)
    ours: Row = {"problem": str(case), "seconds": seconds, "energy": energy(problem, found)}
    rows = [ours | _peer(name, *_timed(solver, problem, repeats), problem) for name, solver in peers.items()]
    return [*(rows or [ours | _peer(None, None, None, problem)]), _small_change(case, problem, found, repeats)]


def _peer(name: str | None, seconds: float | None, labels: Int32 | None, problem: Problem) -> Row:
    value = None if labels is None else energy(problem, labels)
    return {"peer": name, "peer_seconds": seconds, "peer_energy": value}


def _small_change(case: Case, problem: Problem, start: Int32, repeats: int) -> Row:
    """A row for a hundredth of the nodes with the unaries of others: a run from the last one against a cold start."""
    rng = np.random.default_rng(0)
    n_changed = max(1, case.n_nodes // 100)
    unary = problem.unary.copy()
    unary[rng.choice(case.n_nodes, n_changed, replace=False)] = problem.unary[rng.choice(case.n_nodes, n_changed)]
    changed = replace(problem, unary=unary)
    times = []
    for _ in range(repeats):
        memory = Memory()
        expand(problem, None, memory)
        seconds, found = _timed(lambda after, memory=memory: expand(after, start, memory), changed, 1)  # type: ignore[misc]
        times.append(seconds)
    row: Row = {
        "problem": f"{case}, 1 % changed",
        "seconds": statistics.median(times),
        "energy": energy(changed, found),
    }
    return row | _peer("cold start", *_timed(expand, changed, repeats), changed)


def _timed(solver: Solver, problem: Problem, repeats: int) -> tuple[float, Int32]:
    times = []
    for _ in range(repeats):
        started = thread_s()
        labels = solver(problem)
        times.append(thread_s() - started)
    return statistics.median(times), labels


def expand_with_scipy(problem: Problem) -> Int32:
    """α-expansion around SciPy's max-flow, for Potts problems in whole numbers."""
    labels: Int32 = problem.unary.argmin(axis=1).astype(np.int32)
    last = energy(problem, labels)
    waiting = problem.n_labels
    alpha = 0
    while waiting > 0:
        moved = _move_with_scipy(problem, labels, alpha)
        waiting -= 1
        if energy(problem, moved) < last:
            labels = moved
            last = energy(problem, moved)
            waiting = problem.n_labels - 1
        alpha = (alpha + 1) % problem.n_labels
    return labels


def _move_with_scipy(problem: Problem, labels: Int32, alpha: int) -> Int32:
    """The best labelling in which every node keeps its label or takes α."""
    n = problem.n_nodes
    here = np.arange(problem.n_nodes)
    first, second = problem.edges.T
    weight = problem.weight.astype(np.int64)
    stay = np.where(labels[first] != labels[second], weight, 0)
    first_moves = np.where(labels[second] != alpha, weight, 0)
    second_moves = np.where(labels[first] != alpha, weight, 0)
    gain = (problem.unary[here, labels] - problem.unary[:, alpha]).astype(np.int64)
    np.add.at(gain, first, stay - first_moves)
    np.add.at(gain, second, first_moves)  # with both moving as zero
    rows = np.concatenate([second, np.where(gain > 0, n, here)])
    columns = np.concatenate([first, np.where(gain > 0, here, n + 1)])
    values = np.concatenate([first_moves + second_moves - stay, np.abs(gain)])
    network = coo_array((values.astype(np.int32), (rows, columns)), shape=(n + 2, n + 2)).tocsr()
    left = network - maximum_flow(network, n, n + 1).flow
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    return np.where(_reached(left, n)[:n], alpha, labels).astype(np.int32)


def _reached(network: coo_array, source: int) -> Bool:
    reached = np.zeros(network.shape[0], np.bool_)
    reached[breadth_first_order(network, source, return_predecessors=False)] = True
    return reached


def _expand_with_gco(problem: Problem) -> Int32:
    gco = importlib.import_module("gco")
    solver = gco.GCO()
    solver.create_general_graph(problem.n_nodes, problem.n_labels, energy_is_float=False)
    solver.set_data_cost(problem.unary.astype(np.int32))
    solver.set_smooth_cost(problem.tables[0].astype(np.int32))
    first, second = np.ascontiguousarray(problem.edges.T)
    solver.set_all_neighbors(first, second, problem.weight.astype(np.int32))
    solver.expansion(-1)
    labels = np.array(solver.get_labels(), np.int32)
    solver.destroy_graph()
    return labels
