"""One window under the clock: the unbounded CRF where there is no bound, and the rest of it where a plug-in fails."""

import gc
import time
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from budgetseg.descriptors.costs import CostModel
from budgetseg.inference import live as live_module
from budgetseg.inference import window as window_module
from budgetseg.inference.ledger import Ledger
from budgetseg.inference.stages import StageCosts
from budgetseg.spaces.regions.window import MANY, WindowRun

from budgetseg.app import Labeller
from budgetseg.classifiers.samples import place_of
from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.calibrate import calibrate, known_costs
from budgetseg.descriptors.core import Descriptor, Resource, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.descriptors.table import VideoTable
from budgetseg.engine.loop import CostClock, TableSource
from budgetseg.engine.loop import run as run_loop
from budgetseg.evaluation.experiment import label_table
from budgetseg.machine import cache_folder
from budgetseg.models.bundle import Model, load_model
from budgetseg.policy import plan_policy, random_policy
from budgetseg.policy.episode import Chooser, Episode, Selection
from budgetseg.spaces.regions.closing import Closed, Closing
from budgetseg.spaces.regions.space import Engine
from budgetseg.timing.deadline import LateError
from budgetseg.types import Float32, UInt8
from tests.app.streets import write_model

NAMES = ("colour", "hog", "hof")
HOG = 1
N = 150


@pytest.fixture(scope="module")
def labeller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labeller]:
    """Priced on this machine, for these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        labeller = Labeller(load_model(write_model(tmp_path_factory.mktemp("models") / "street", NAMES)))
        labeller.remember(cache_folder())
        yield labeller


@pytest.fixture(scope="module")
def model(labeller: Labeller) -> Model:
    return labeller.model


@pytest.fixture
def engine(labeller: Labeller) -> Engine:
    """As it was at first: nothing that a test teaches it is known to the next."""
    engine = labeller.engine
    return replace(engine, costs=known_costs(engine.descriptors), stages=StageCosts.load())


@pytest.fixture(scope="module")
def unhurried(labeller: Labeller) -> Iterator[Engine]:
    """The seconds of its descriptors are those of the processor, so that other programs play no part."""
    costs = CostModel()
    calibrate(labeller.engine.descriptors, costs, time.thread_time)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_module, "time", SimpleNamespace(perf_counter=time.thread_time))
        patch.setattr(window_module, "LiveDescriptors", partial(LiveDescriptors, timer=time.thread_time))
        yield replace(labeller.engine, costs=costs, stages=StageCosts())


@pytest.fixture(scope="module")
def frames() -> UInt8:
    return render(1, 8, (96, 64))[0].frames


def prepared(engine: Engine, frames: UInt8, seed: int = 0, enabled: int = -1) -> WindowRun:
    run = WindowRun(engine, frames, Ledger(None), time.perf_counter(), seed)
    run.prepare(N, enabled)
    return run


def labelled(run: WindowRun, deadline_s: float) -> tuple[UInt8, bool]:
    """The labels at a deadline from now, and whether there was work left."""
    out = np.full(run.frames.shape[:3], 255, np.uint8)
    work_left = run.label(time.perf_counter() - run.started + deadline_s, out)
    return out, work_left


def table_of(run: WindowRun, model: Model) -> VideoTable:
    """The same supervoxels, all of their descriptors."""
    values, costs = measure(run.scene, [BUILT_IN[name]() for name in NAMES])
    n = len(run.scene.supervoxels)
    nothing = np.zeros((n, model.classifiers.n_labels), np.int64)
    return VideoTable("street", len(run.frames), run.scene.supervoxels.graph, nothing, values, costs, {})


def unbounded(run: WindowRun, model: Model) -> UInt8:
    """What the CRF says of all pixels with every descriptor of every supervoxel."""
    everything = np.full(len(run.scene.supervoxels), model.classifiers.n_subsets - 1, np.int32)
    labels = label_table(model, table_of(run, model), everything)
    return labels[run.scene.supervoxels.ids].astype(np.uint8)


def test_without_a_bound_the_result_is_that_of_the_unbounded_crf(engine: Engine, frames: UInt8, model: Model) -> None:
    run = prepared(engine, frames)
    labels, work_left = labelled(run, np.inf)
    assert not work_left
    assert np.array_equal(labels, unbounded(run, model))
    assert len(np.unique(labels)) > 1


def test_two_threads_find_the_same_without_a_bound(engine: Engine, frames: UInt8, model: Model) -> None:
    run = prepared(replace(engine, threads=2), frames)
    labels, work_left = labelled(run, np.inf)
    assert not work_left
    assert np.array_equal(labels, unbounded(run, model))
    pairs = {(step.region, step.descriptor) for step in run.trace}
    assert len(pairs) == len(run.trace) == len(NAMES) * len(run.scene.supervoxels)


def test_the_trace_the_ledger_and_the_state_agree(engine: Engine, frames: UInt8) -> None:
    run = prepared(engine, frames)
    run.spend(lambda: 0.3 * run.full_s() - run.books.ledger.descriptors_s)
    subsets = np.zeros(len(run.scene.supervoxels), np.int32)
    for step in run.trace:
        subsets[step.region] |= 1 << step.descriptor
    assert 0 < len(run.trace) < len(NAMES) * len(subsets)
    assert np.array_equal(subsets, run.known().subsets)
    assert sum(entry.count for entry in run.books.ledger.descriptors.values()) == len(run.trace)
    assert run.books.ledger.descriptors_s == pytest.approx(sum(step.spent_s for step in run.trace))
    times = [step.at_s for step in run.trace]
    assert times == sorted(times)


def test_a_replay_computes_the_same_and_finds_the_same(engine: Engine, frames: UInt8) -> None:
    run, again = prepared(engine, frames), prepared(engine, frames, seed=1)
    run.spend(lambda: 0.3 * run.full_s() - run.books.ledger.descriptors_s)
    run.close()
    again.replay(run.trace, run.closed.n_moves)
    assert np.array_equal(again.known().subsets, run.known().subsets)
    assert np.array_equal(again.known().said, run.known().said)
    assert (again.closed.labels == run.closed.labels).all()


def test_labels_that_come_too_late_are_left_out_and_a_replay_does_not_know_of_them(
    engine: Engine, frames: UInt8
) -> None:
    run, again = prepared(engine, frames), prepared(engine, frames)
    run.spend(lambda: 0.1 * run.full_s() - run.books.ledger.descriptors_s)
    assert run.close()
    first = run.closed
    run.spend(lambda: 0.5 * run.full_s() - run.books.ledger.descriptors_s)
    assert not run.close(latest_s=0.0)
    assert run.closed is first
    assert len(run.closings) == 1
    assert run.close()
    for n_steps, n_moves in run.closings:
        again.replay(run.trace[len(again.trace) : n_steps], n_moves)
        again.trace = run.trace[:n_steps]
    assert not np.array_equal(run.closed.labels, first.labels)
    assert np.array_equal(again.closed.labels, run.closed.labels)


def test_a_second_end_that_takes_too_long_leaves_the_labels_of_the_first(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, close, closed = render(1, 96, (240, 180))[0].frames, Closing.__call__, list[Closed]()
    deadline_s = 0.5 * prepared(engine, frames).full_s()

    def slow(closing: Closing, *words: Any) -> Closed:
        if closed:
            time.sleep(deadline_s)
        closed.append(close(closing, *words))
        return closed[-1]

    monkeypatch.setattr(Closing, "__call__", slow)
    monkeypatch.setattr(WindowRun, "_margin_s", lambda *_: 0.0 if closed else 0.5 * deadline_s)  # time for a second
    for _ in range(10):  # machines are noisy
        closed.clear()
        run = prepared(engine, frames)
        labels, work_left = labelled(run, deadline_s)
        if len(closed) == 2:
            break
    assert len(closed) == 2
    assert len(run.closings) == 1
    assert work_left
    assert np.array_equal(labels, closed[0].labels[run.scene.supervoxels.ids])


def test_what_is_known_is_not_computed_again(engine: Engine, frames: UInt8, model: Model) -> None:
    run = prepared(engine, frames)
    run.spend(lambda: 0.3 * run.full_s() - run.books.ledger.descriptors_s)
    more = WindowRun(engine, frames, Ledger(None), time.perf_counter())
    more.prepare(N, known=run.known())
    first = {(step.region, step.descriptor) for step in run.trace}
    labels, work_left = labelled(more, np.inf)
    assert not work_left
    assert first.isdisjoint((step.region, step.descriptor) for step in more.trace)
    assert "supervoxels" not in more.books.ledger.stages
    assert np.array_equal(labels, unbounded(run, model))


def test_who_may_compute_colour_alone_does(engine: Engine, frames: UInt8) -> None:
    run = prepared(engine, frames, enabled=1)
    _, work_left = labelled(run, np.inf)
    assert not work_left
    assert list(run.books.ledger.descriptors) == ["colour"]
    assert (run.known().subsets == 1).all()


def test_a_run_is_forgotten_without_a_search_for_cycles(engine: Engine, frames: UInt8) -> None:
    """While a clock runs there is none, and every window holds its frames."""
    gc.disable()
    try:
        run = prepared(replace(engine, threads=2), frames)
        labelled(run, 0.2)
        gone = weakref.ref(run)
        del run
        assert gone() is None
    finally:
        gc.enable()


def test_painting_comes_after_closing(engine: Engine, frames: UInt8) -> None:
    run = prepared(engine, frames)
    with pytest.raises(ValueError, match="close before you paint"):
        run.paint(np.empty(frames.shape[:3], np.uint8))


class Odd(Descriptor):
    """Hog, until it has been asked often enough; then it answers as it likes."""

    name = "hog"

    def __init__(self, answer: Callable[[], Any], n_good: int = 20) -> None:
        self._hog, self._answer, self._n_good = BUILT_IN["hog"](), answer, n_good
        self.length, self.resources = self._hog.length, self._hog.resources

    def needs(self, scene: Scene, region: int) -> Any:
        return self._hog.needs(scene, region)

    def work(self, scene: Scene, region: int) -> float:
        return self._hog.work(scene, region)

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
        self._n_good -= 1
        found: Float32 = self._hog.compute(scene, region, inputs) if self._n_good >= 0 else self._answer()
        return found


def broken() -> Float32:
    raise RuntimeError("out of ideas")


def hang() -> Float32:
    time.sleep(1.0)
    return np.zeros(BUILT_IN["hog"]().length, np.float32)


FAILURES: dict[str, tuple[Callable[[], Any], str]] = {
    "raises": (broken, "hog failed (RuntimeError: out of ideas); dropped"),
    "nan": (lambda: np.full(BUILT_IN["hog"]().length, np.nan, np.float32), "hog is not finite; dropped"),
    "hangs": (hang, "hog did not return within"),
}


def with_odd(engine: Engine, answer: Callable[[], Any], n_good: int = 20) -> Engine:
    descriptors = [Odd(answer, n_good) if one.name == "hog" else one for one in engine.descriptors]
    return replace(engine, descriptors=descriptors, guarded=["hog"])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("answer", "line"), FAILURES.values(), ids=FAILURES)
def test_a_plug_in_that_fails_is_dropped_and_the_rest_is_computed(
    engine: Engine,
    frames: UInt8,
    answer: Callable[[], Any],
    line: str,
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_module, "PATIENCE_S", 0.1)
    run = prepared(replace(with_odd(engine, answer), threads=threads), frames)
    labels, work_left = labelled(run, 20.0)
    ledger, subsets = run.books.ledger, run.known().subsets
    assert [note[: len(line)] for note in ledger.notes] == [line]
    assert ledger.descriptors["hog"].count == 20 == np.sum(subsets >> HOG & 1)
    assert (subsets & ~(1 << HOG) == 0b101).all()  # all of the others
    assert np.isfinite(run.known().said).all()
    assert (labels < 255).all()
    assert not work_left


@pytest.mark.parametrize(("answer", "line"), FAILURES.values(), ids=FAILURES)
def test_the_run_ends_on_time_where_a_plug_in_fails(
    engine: Engine, frames: UInt8, answer: Callable[[], Any], line: str
) -> None:
    run = prepared(with_odd(engine, answer, n_good=0), frames)
    started = time.perf_counter()
    labels, _ = labelled(run, 0.4)  # less than anybody's patience
    assert time.perf_counter() - started < 0.5
    assert run.books.ledger.notes[0].startswith(line)
    assert (labels < 255).all()


class Mute(Odd):
    """Hog, until it is asked what it needs, or how much work it is."""

    def __init__(self, silent_on: str) -> None:
        super().__init__(broken)
        self._silent_on = silent_on

    def needs(self, scene: Scene, region: int) -> Any:
        return broken() if self._silent_on == "needs" else super().needs(scene, region)

    def work(self, scene: Scene, region: int) -> float:
        return float(broken()[0]) if self._silent_on == "work" else super().work(scene, region)


@pytest.mark.parametrize("silent_on", ["needs", "work"])
def test_a_plug_in_that_cannot_say_what_it_needs_is_dropped(engine: Engine, frames: UInt8, silent_on: str) -> None:
    descriptors = [Mute(silent_on) if one.name == "hog" else one for one in engine.descriptors]
    run = prepared(replace(engine, descriptors=descriptors, guarded=["hog"]), frames)
    labels, work_left = labelled(run, np.inf)
    assert run.books.ledger.notes == ["hog failed (RuntimeError: out of ideas); dropped"]
    assert (run.known().subsets == 0b101).all()
    assert (labels < 255).all()
    assert not work_left


def test_what_painting_took_less_than_was_known_is_spent(engine: Engine) -> None:
    frames, used = render(1, 96, (240, 180))[0].frames, []
    for _ in range(10):  # machines are noisy
        run = prepared(engine, frames)
        deadline_s, (line, work) = 0.5 * run.full_s(), engine.painting(frames[..., 0].size)
        for _ in range(20):
            engine.stages.observe(line, work, 0.6 * deadline_s)
        started = time.perf_counter()
        labels, work_left = labelled(run, deadline_s)
        used.append((time.perf_counter() - started) / deadline_s)
        assert run.books.ledger.stages["pixels"].count == len(run.closings)
        assert np.array_equal(labels, run.closed.labels[run.scene.supervoxels.ids])
        if work_left and len(run.closings) > 1 and used[-1] > 0.7:
            return
    pytest.fail(f"as foretold, it would have ended after 0.4 of the time; it ended after {used}")


class Endless(Resource):
    """Takes until it is cut off, if it can be, and no longer than a test may last."""

    kind = "endless"

    def __init__(self) -> None:
        self.n_begun, self.over = 0, Event()

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        return 1.0

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Any:  # noqa: ARG002
        self.n_begun += 1
        self.over.wait(5.0)
        raise LateError

    def cut_off(self) -> None:
        self.over.set()


class Stubborn(Endless):
    """Says nothing of being cut off."""

    cut_off = Resource.cut_off


class Slow(Odd):
    """Hog that needs a resource of a frame."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(broken)
        self.resources = (resource,)

    def needs(self, scene: Scene, region: int) -> Any:  # noqa: ARG002
        return [(self.resources[0].kind, 0)]


@pytest.mark.parametrize(
    ("resource", "price_s", "is_begun"),
    [(Endless, 0.8, True), (Endless, 100.0, False), (Stubborn, 0.8, False)],
    ids=["may be over sooner", "much too long", "cannot be cut off"],
)
def test_what_does_not_fit_is_tried_where_it_can_be_cut_off(
    engine: Engine, frames: UInt8, resource: type[Endless], price_s: float, is_begun: bool
) -> None:
    """Time that is left over is of no other use; the run ends as if it had not been tried."""
    made = resource()
    descriptors = [Slow(made) if one.name == "hog" else one for one in engine.descriptors]
    engine.costs.observe(resource.kind, 1.0, price_s)
    run = prepared(replace(engine, descriptors=descriptors), frames)
    started = time.perf_counter()
    labels, work_left = labelled(run, 0.6)
    assert time.perf_counter() - started < 0.7
    assert (made.n_begun > 0) == is_begun
    assert work_left
    assert not run.books.ledger.notes
    assert (run.known().subsets == 0b101).all()
    assert (labels < 255).all()


def test_who_sees_that_supervoxels_will_be_late_says_so_early(engine: Engine) -> None:
    frames = render(1, 48, (96, 64))[0].frames
    run = WindowRun(engine, frames, Ledger(None), time.perf_counter())
    with pytest.raises(LateError):
        run.prepare(N, latest_s=1e-3)
    assert "supervoxels" not in run.books.ledger.stages
    run.prepare(N, latest_s=60.0)
    assert len(run.scene.supervoxels) == N


def test_on_a_busy_machine_more_is_left_for_the_end(engine: Engine, frames: UInt8) -> None:
    run, contention = prepared(engine, frames), engine.stages.contention
    contention.stretch = 1.0
    alone_s = run._margin_s(10.0)
    contention.stretch = 2.0
    assert alone_s < run._margin_s(10.0) <= alone_s + 0.5 * window_module.TURNS_S
    assert run._margin_s(0.1) <= 0.1 * (window_module.MARGIN + window_module.MOST_TURNS)


def test_what_was_computed_before_a_drop_does_not_pass_for_the_rest(engine: Engine, frames: UInt8) -> None:
    """There is work left as long as any supervoxel lacks a descriptor that may be computed."""
    run = prepared(with_odd(engine, broken), frames)
    n = len(run.scene.supervoxels)
    work_left = run.spend(lambda: np.inf if len(run.trace) < 2 * n + 5 else -1.0)
    lacking = np.sum((run.known().subsets & 0b101) != 0b101)
    assert run.books.ledger.notes
    assert lacking > 0
    assert work_left


def test_nothing_is_spent_beyond_the_budget_of_descriptors(engine: Engine, frames: UInt8) -> None:
    for share in (0.05, 0.2):
        run = prepared(engine, frames)
        budget_s = share * run.full_s()
        assert run.spend(lambda run=run, budget_s=budget_s: budget_s - run.books.ledger.descriptors_s)  # type: ignore[misc]
        assert run.books.ledger.descriptors
        batches_s = defaultdict[float, float](float)
        for step in run.trace:
            batches_s[step.at_s] += step.spent_s
        assert run.books.ledger.descriptors_s <= budget_s + max(batches_s.values())


def test_who_is_stopped_computes_nothing_more(engine: Engine, frames: UInt8) -> None:
    run = prepared(engine, frames)
    run.stopped = lambda: len(run.trace) >= 10
    labels, work_left = labelled(run, np.inf)
    assert 10 <= len(run.trace) < 10 + MANY
    assert work_left
    assert (labels < 255).all()


def static(model: Model) -> Chooser:
    return plan_policy([0, 1], len(NAMES), model.classifiers.n_labels)


def anything(model: Model) -> Chooser:
    return random_policy(len(NAMES), model.classifiers.n_labels)


def spent_both_ways(
    engine: Engine, frames: UInt8, policy: Chooser, selection: Selection, share: float
) -> tuple[float, float]:
    """Seconds live, and simulated over what was foretold, from the same seed."""
    engine = replace(engine, strategy=lambda *_: (policy, selection))
    run = prepared(engine, frames, seed=3)
    h, budget_s = engine.classifiers, share * run.full_s()
    values, _ = measure(run.scene, engine.descriptors)
    simulated = Episode.begin(run.episode.world, h.n_labels, budget_s, selection, 3)
    simulated.pace = engine.costs.pace
    table = TableSource.of(h, values, place_of(run.scene.supervoxels.graph))
    run_loop(simulated, policy, table, CostClock(budget_s))
    run.spend(lambda: budget_s - run.books.ledger.descriptors_s)
    if share == np.inf:
        assert len(run.trace) == simulated.n_computed
    return run.books.ledger.descriptors_s, simulated.spent_s


@pytest.mark.parametrize(
    ("policy_of", "selection", "share"),
    [
        (static, Selection("random"), 0.6),
        (anything, Selection("large"), 0.6),
        (static, Selection("random", reopen=False), np.inf),
    ],
    ids=["static", "random", "unbounded"],
)
def test_simulated_and_live_runs_spend_the_same(
    unhurried: Engine, model: Model, policy_of: Callable[[Model], Chooser], selection: Selection, share: float
) -> None:
    frames, tried = render(1, 24, (240, 180))[0].frames, []  # long enough for no resource to be a large part of it
    for _ in range(15):  # machines are noisy
        live_s, simulated_s = spent_both_ways(unhurried, frames, policy_of(model), selection, share)
        tried.append(f"{live_s:.4f} against {simulated_s:.4f}")
        if abs(live_s - simulated_s) <= 0.1 * simulated_s:
            return
    pytest.fail(f"seconds live and simulated: {', '.join(tried)}")
