"""The stages that end a run are measured on what a run leaves."""

import numpy as np
import pytest

from budgetseg.classifiers.samples import place_of
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.evaluation import bench_stages as bench
from budgetseg.evaluation.bench_stages import LENGTHS
from budgetseg.evaluation.clips import Street
from budgetseg.supervoxels import segment
from tests.graphs import random_graph
from tests.models.made import random_model

N_FRAMES = 4
MODEL = random_model({descriptor.name: descriptor.length for descriptor in open_descriptors(["colour", "hog"])})


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "Street", lambda: Street((96, 64), N_FRAMES))


def test_a_third_has_all_descriptors_a_third_some_and_a_third_none() -> None:
    subsets = bench._draw(random_graph(300, 900, 0), 0).evidence.subsets
    every = 2 ** len(LENGTHS) - 1
    assert [(subsets == every).sum(), ((subsets > 0) & (subsets < every)).sum(), (subsets == 0).sum()] == [100] * 3


def test_memory_was_used_when_fewer_supervoxels_had_descriptors() -> None:
    now = bench._draw(random_graph(300, 900, 0), 0)
    before, after = bench._earlier(now).evidence.subsets, now.evidence.subsets
    assert ((before > 0).sum(), (after > 0).sum()) == (100, 200)
    assert (before & ~after == 0).all()


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    graph = random_graph(50, 100, 0)
    one, same, other = (bench._draw(graph, seed).evidence for seed in (0, 0, 1))
    assert np.array_equal(one.inputs, same.inputs)
    assert not np.array_equal(one.inputs, other.inputs)
    assert one.inputs.shape == (50, sum(LENGTHS))


def test_with_a_model_everything_but_what_was_computed_is_as_in_a_run() -> None:
    frames, _ = Street((96, 64), N_FRAMES)()
    supervoxels, h = segment(frames, 30, "fast"), MODEL.classifiers
    left = bench._ask(MODEL, frames, supervoxels, 0)
    values, _ = measure(Scene.of(frames, supervoxels), open_descriptors(h.names))
    evidence, subsets = left.evidence, left.evidence.subsets
    assert left.crf is MODEL.crf
    assert left.prior is h.prior
    assert np.array_equal(evidence.probabilities, h.predict(values, place_of(supervoxels.graph), subsets))
    assert np.array_equal(evidence.inputs, h.scaled(values))
    assert np.array_equal(evidence.starts, h.starts)
    assert set(subsets.tolist()) == {0, 1, 2, 3}


def test_rows_say_what_they_were_measured_with() -> None:
    drawn, trained = (bench.bench_stages(None, 1, model) for model in (None, MODEL))
    assert [{row["model"] for row in rows} for rows in (drawn, trained)] == [{"drawn"}, {MODEL.name}]


def test_seconds_are_medians_per_thousand_supervoxels(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([9.0, 1.0, 5.0, 2.0] * 5)  # the first of each stage compiles
    monkeypatch.setattr(bench, "_cpu_s", lambda work: (work(), next(times))[1])
    n = len(segment(Street((96, 64), N_FRAMES)()[0], 25 * N_FRAMES))
    rows = bench.bench_stages(None, repeats=3)
    assert [row["seconds"] for row in rows] == [pytest.approx(1000 * 2 / n)] * 5
