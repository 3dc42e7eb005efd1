"""Videos to labels: on time, complete, and with an account that an outside clock agrees with."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from budgetseg.engine.labelled import Earlier, Labelled
from budgetseg.inference.ledger import Ledger
from budgetseg.inference.stages import StageCosts
from budgetseg.spaces.regions.label import label_video
from budgetseg.spaces.regions.window import MANY, WindowRun

from budgetseg.app import Labeller
from budgetseg.descriptors.calibrate import known_costs
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.table import VideoTable
from budgetseg.engine.plan import LADDER, Plan
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.evaluation.experiment import label_table
from budgetseg.machine import cache_folder
from budgetseg.models.bundle import load_model
from budgetseg.policy.episode import Chooser, Episode, Selection
from budgetseg.spaces.regions.carry import worked_on
from budgetseg.spaces.regions.space import Engine
from budgetseg.spaces.regions.warm_up import warm_up
from budgetseg.timing.deadline import LateError
from budgetseg.types import Batch, Budget, UInt8
from budgetseg.video import Frame, VideoSource, open_video
from budgetseg.video.container import Container
from tests.app.streets import N_FRAMES, SIZE, write_model, write_street

SHAPE = (N_FRAMES, SIZE[1], SIZE[0])
UNLIMITED = Budget(np.inf)


@pytest.fixture(scope="module")
def labeller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labeller]:
    """Priced on this machine, for these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        labeller = Labeller(load_model(write_model(tmp_path_factory.mktemp("models") / "street")))
        labeller.remember(cache_folder())
        yield labeller


@pytest.fixture
def engine(labeller: Labeller) -> Engine:
    """As it was at first: nothing that a test teaches it is known to the next."""
    engine = labeller.engine
    return replace(engine, costs=known_costs(engine.descriptors), stages=StageCosts.load())


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_street(tmp_path_factory.mktemp("videos") / "street.mp4")


def label(engine: Engine, street: Path, *budgets: Budget, scope: str = "total", window: int | None = None) -> Labelled:
    return label_video(engine, open_video(street), Request(budgets or (UNLIMITED,), scope, window=window))


def n_computed(ledger: Ledger) -> int:
    return sum(entry.count for entry in ledger.descriptors.values())


def unbounded(labeller: Labeller, street: Path, labelled: Labelled) -> UInt8:
    """What the CRF says with every descriptor of every supervoxel, window by window."""
    frames, model, parts = open_video(street).read().frames, labeller.model, []
    for why in labelled.whys:
        supervoxels = why.known.supervoxels
        scene = Scene.of(frames[why.start : why.start + len(supervoxels.ids)], supervoxels)
        values, costs = measure(scene, labeller.engine.descriptors)
        n = len(supervoxels)
        truth = np.zeros((n, model.classifiers.n_labels), np.int64)
        table = VideoTable("street", scene.n_frames, supervoxels.graph, truth, values, costs, {})
        labels = label_table(model, table, np.full(n, model.classifiers.n_subsets - 1, np.int32))
        parts.append(labels[supervoxels.ids].astype(np.uint8))
    return np.concatenate(parts)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("scope", ["total", "descriptors"])
@pytest.mark.parametrize("window", [None, 5])
def test_an_unlimited_budget_gives_the_unbounded_crf(
    engine: Engine, labeller: Labeller, street: Path, scope: str, window: int | None, threads: int
) -> None:
    labelled = label(replace(engine, threads=threads), street, scope=scope, window=window)
    (labels,), (ledger,) = labelled.labels, labelled.ledgers
    assert labels.shape == SHAPE
    assert len(labelled.whys) == (1 if window is None else 3)
    assert np.array_equal(labels, unbounded(labeller, street, labelled))
    assert len(np.unique(labels)) > 1
    assert not ledger.work_left
    assert not ledger.notes
    assert {entry.count for entry in ledger.descriptors.values()} == {sum(len(why.labels) for why in labelled.whys)}


@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("budget_s", [0.15, 0.6])
def test_an_outside_clock_agrees_with_the_ledger(
    labeller: Labeller, street: Path, budget_s: float, window: int | None
) -> None:
    apart = []
    for _ in range(5):  # machines are noisy
        started = time.perf_counter()
        labelled = labeller.label(street, Request((Budget(budget_s),), window=window))
        outside_s = time.perf_counter() - started
        (ledger,) = labelled.ledgers
        assert ledger.spent_s <= outside_s
        apart.append(outside_s - ledger.spent_s)
        if apart[-1] <= 0.03 * outside_s + 0.005:
            break
    else:
        pytest.fail(f"seconds between the outside clock and the ledger: {apart}")
    stages_s = sum(entry.spent_s for entry in ledger.stages.values())
    assert stages_s + ledger.descriptors_s <= ledger.spent_s
    assert ledger.budget_s == budget_s


@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("scope", ["total", "descriptors"])
def test_later_budgets_have_computed_at_least_as_much(
    engine: Engine, street: Path, scope: str, window: int | None
) -> None:
    budgets = [Budget(amount) for amount in ((0.1, 0.2, 5.0) if scope == "total" else (0.0005, 0.001, 5.0))]
    started = time.perf_counter()
    labelled = label(engine, street, *budgets, scope=scope, window=window)
    outside_s = time.perf_counter() - started
    counts = [n_computed(ledger) for ledger in labelled.ledgers]
    assert counts == sorted(counts)
    assert counts[-1] == 2 * sum(len(why.labels) for why in labelled.whys)
    spent = [ledger.spent_s for ledger in labelled.ledgers]
    assert spent == sorted(spent)
    assert spent[-1] <= outside_s
    assert [ledger.budget_s for ledger in labelled.ledgers] == [budget.amount for budget in budgets]
    assert [labels.shape for labels in labelled.labels] == [SHAPE] * 3
    assert not labelled.ledgers[-1].work_left
    assert np.array_equal(labelled.labels[-1], label(engine, street, window=window).labels[0])


def test_shares_of_the_full_cost_rise_as_well(engine: Engine, street: Path) -> None:
    budgets = [Budget(share, is_share=True) for share in (0.1, 0.5)]
    labelled = label(engine, street, *budgets, scope="descriptors")
    first, second = labelled.ledgers
    assert 0 < n_computed(first) < n_computed(second) < 2 * len(labelled.whys[0].labels)
    assert first.work_left
    assert first.next_s > 0
    assert first.budget_s is not None
    assert second.budget_s == pytest.approx(5 * first.budget_s)


def slow(engine: Engine, **rates: float) -> Engine:
    """An engine that believes stages to take so many seconds for every unit of work."""
    return replace(engine, stages=StageCosts({f"{stage} fast 1": rate for stage, rate in rates.items()}))


def test_where_time_is_short_frames_are_left_out_and_their_labels_carried_over(engine: Engine, street: Path) -> None:
    labelled = label(slow(engine, supervoxels=1e-3), street, Budget(30.0))  # 6.1 s a frame
    (labels,), (ledger,), plan = labelled.labels, labelled.ledgers, labelled.plan
    assert plan is not None
    assert (plan.stride, plan.n_worked, plan.prior) == (6, 2, False)
    assert ledger.notes == ["the budget is short: fewer frames"]
    assert labels.shape == SHAPE
    assert (labels < 255).all()
    assert (labels[:6] == labels[0]).all()
    assert (labels[6:] == labels[6]).all()
    assert "carrying" in ledger.stages


def test_where_time_is_short_small_frames_are_worked_on(engine: Engine, tmp_path: Path) -> None:
    street = write_street(tmp_path / "large.mp4", 4, (480, 360))
    labelled = label(slow(engine, supervoxels=1e-3), street, Budget(100.0))  # 19 s a frame, 11 at half size
    (labels,), (ledger,), plan = labelled.labels, labelled.ledgers, labelled.plan
    assert plan is not None
    assert (plan.size, plan.stride) == ((180, 240), 1)
    assert ledger.notes == [f"the budget is short: {name}" for name in LADDER[:2]]
    assert labels.shape == (4, 360, 480)
    assert (labels < 255).all()
    assert np.array_equal(labels[:, ::2, ::2], labels[:, 1::2, 1::2])


def test_at_the_end_of_the_ladder_colour_alone_is_computed(engine: Engine, street: Path) -> None:
    labelled = label(slow(engine, supervoxels=1e-3), street, Budget(6.3))  # one frame takes nearly all
    (ledger,), plan = labelled.ledgers, labelled.plan
    assert plan is not None
    assert plan.colour_only
    assert list(ledger.descriptors) == ["colour"]
    assert ledger.notes[-1].endswith("colour alone")
    assert labelled.labels[0].shape == SHAPE


def test_a_budget_of_nearly_nothing_gives_the_prior(engine: Engine, street: Path) -> None:
    labelled = label(engine, street, Budget(1e-6))
    (labels,), (ledger,) = labelled.labels, labelled.ledgers
    assert labels.shape == SHAPE
    assert (labels == engine.classifiers.prior.argmax()).all()
    assert ledger.notes == ["the budget is short: prior"]
    assert not ledger.stages
    assert not ledger.descriptors
    assert not labelled.whys
    assert ledger.work_left
    assert ledger.budget_s == 1e-6
    assert ledger.overrun_s == ledger.spent_s - 1e-6 > 0


@pytest.mark.parametrize("budget_s", [0.002, 0.01, 0.03])
def test_whatever_the_budget_every_pixel_has_a_label(engine: Engine, street: Path, budget_s: float) -> None:
    labelled = label(engine, street, Budget(budget_s))
    assert labelled.labels[0].shape == SHAPE
    assert (labelled.labels[0] < engine.classifiers.n_labels).all()
    assert labelled.plan is not None
    full = replace(labelled.plan, density=25, size=SHAPE[1:], stride=1, colour_only=False, prior=False)
    notes = [note for note in labelled.ledgers[0].notes if not note.startswith("reading took too long: ")]  # if it did
    assert [note.removeprefix("the budget is short: ") for note in notes] == labelled.plan.lacks(full)


def test_the_largest_budget_decides_what_is_given_up(engine: Engine, street: Path) -> None:
    budgets = Budget(5.0), Budget(80.0), Budget(200.0)  # supervoxels are believed to take 74 s
    labelled = label(slow(engine, supervoxels=1e-3), street, *budgets)
    early, *others = labelled.ledgers
    assert labelled.plan is not None
    assert labelled.plan.lacks(labelled.plan) == []
    assert labelled.plan.stride == 1
    assert early.notes == ["over before there are labels by the plan for 200 s: prior"]
    assert [ledger.notes for ledger in others] == [[], []]
    assert (labelled.labels[0] == engine.classifiers.prior.argmax()).all()
    assert [labels.shape for labels in labelled.labels] == [SHAPE] * 3
    assert early.budget_s == 5.0
    assert early.overrun_s == 0
    assert len(np.unique(labelled.labels[-1])) > 1


def test_warming_up_computes_descriptors_however_long_it_takes_to_compile(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, computed, paint = list[float](), list[int](), WindowRun.paint

    def strategy(share: float) -> tuple[Chooser, Selection]:
        decide, selection = engine.strategy(share)

        def slowly(episode: Episode, n: int = 1, most_s: float = np.inf) -> Batch:
            asked.append(episode.left_s)
            time.sleep(0.2 if len(asked) < 4 else 0.0)  # as if it were compiled
            return decide(episode, n, most_s)

        return slowly, selection

    def look(self: WindowRun, out: UInt8) -> None:
        computed.append(len(self.trace))
        paint(self, out)

    monkeypatch.setattr(WindowRun, "paint", look)
    warm_up(replace(engine, strategy=strategy))
    assert computed[0] > 1
    assert max(computed) < 100


@pytest.mark.parametrize(
    ("tier", "seconds", "chosen"), [("quality", 0.06, None), ("quality", 0.1, "fast"), ("fast", 0.1, None)]
)
def test_supervoxels_are_fast_ones_where_better_ones_would_take_much_of_the_budget(
    engine: Engine, tmp_path: Path, tier: str, seconds: float, chosen: str | None
) -> None:
    street = write_street(tmp_path / "large.mp4", 4, (256, 192))  # large enough for fast ones to be others
    engine = replace(engine, tier=tier)
    line, work = engine.cutting(4, (192, 256))
    engine = replace(engine, stages=StageCosts({line: seconds / work}))
    labelled = label(engine, street, Budget(0.4))
    assert labelled.plan is not None
    assert labelled.plan.tier == chosen
    (why,), fast = labelled.whys, engine.of_tier("fast")
    run = WindowRun(fast if chosen else engine, open_video(street).read().frames, Ledger(None), time.perf_counter())
    run.prepare(labelled.plan.n_supervoxels)
    assert np.array_equal(why.known.supervoxels.ids, run.scene.supervoxels.ids)


def test_an_unlimited_budget_leaves_supervoxels_as_the_model_has_them(engine: Engine, street: Path) -> None:
    engine = replace(engine, tier="quality", stages=StageCosts({"supervoxels quality 1": 1.0}))
    labelled = label(engine, street)
    assert labelled.plan is not None
    assert labelled.plan.tier is None


def read_slowly(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """From now on every frame takes so long."""

    def slowly(source: VideoSource, plan: Plan) -> Iterator[Frame]:
        for frame in worked_on(source, plan):
            time.sleep(seconds)
            yield frame

    monkeypatch.setattr("budgetseg.spaces.regions.label.worked_on", slowly)


def test_who_reads_slowly_gives_up_more(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    street = write_street(tmp_path / "large.mp4", 4, (480, 360))
    read_slowly(monkeypatch, 0.05)
    # 1 s for supervoxels of full size is less than half of 2.15 s, but not of what reading leaves of it.
    labelled = label(slow(engine, supervoxels=1.0 / (4 * 120 * 160)), street, Budget(2.15))
    plan = labelled.plan
    assert plan is not None
    assert (plan.size, plan.read_size) == ((180, 240), (360, 480))
    assert labelled.ledgers[0].notes == [f"the budget is short: {name}" for name in LADDER[:2]]
    assert labelled.labels[0].shape == (4, 360, 480)


@pytest.mark.parametrize(("size", "again"), [((360, 480), (180, 240)), ((256, 256), (64, 64))])
def test_supervoxels_that_are_late_begin_again_on_frames_that_are_less_work(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], again: tuple[int, int]
) -> None:
    street = write_street(tmp_path / "street.mp4", 4, size[::-1])
    tried, prepare = list[tuple[int, ...]](), WindowRun.prepare

    def late_at_first(run: WindowRun, *words: Any) -> None:
        tried.append(run.frames.shape[1:3])
        if len(tried) == 1:
            raise LateError
        prepare(run, *words)

    monkeypatch.setattr(WindowRun, "prepare", late_at_first)
    labelled = label(engine, street, Budget(30.0))
    assert tried == [size, again]  # of 256x256 the fast tier makes blocks, of 128x128 it would make none
    assert labelled.labels[0].shape == (4, *size)


def test_what_was_read_is_labelled_where_reading_takes_longer_than_the_budget(
    engine: Engine, street: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_slowly(monkeypatch, 0.1)
    labelled = label(engine, street, Budget(0.55))
    (labels,), (ledger,) = labelled.labels, labelled.ledgers
    assert ledger.notes[-1] == "reading took too long: the rest of the video has the most frequent class"
    assert ledger.spent_s < 0.8
    assert labels.shape == SHAPE
    assert len(np.unique(labels[:4])) > 1
    assert (labels[6:] == engine.classifiers.prior.argmax()).all()


@pytest.mark.parametrize("window", [None, 4])
def test_a_run_that_could_not_read_all_is_gone_on_from(
    engine: Engine, street: Path, monkeypatch: pytest.MonkeyPatch, window: int | None
) -> None:
    with monkeypatch.context() as patch:
        read_slowly(patch, 0.1)
        first = label(engine, street, Budget(0.75), window=window)
    n_read = sum(len(why.known.supervoxels.ids) for why in first.whys)
    assert 2 < n_read < N_FRAMES
    assert first.plan is not None
    earlier = Earlier(first.plan, [why.known for why in first.whys])
    second = label_video(engine, open_video(street), Request((UNLIMITED,), window=window or n_read), earlier=earlier)
    lengths = [len(why.known.supervoxels.ids) for why in second.whys]
    assert lengths[: len(first.whys)] == [len(why.known.supervoxels.ids) for why in first.whys]
    assert sum(lengths) == -(-N_FRAMES // first.plan.stride)
    assert second.labels[0].shape == SHAPE
    assert not second.ledgers[0].work_left


def test_decoding_that_is_believed_to_take_too_long_is_tried_and_known_better(engine: Engine, street: Path) -> None:
    source = open_video(street)
    n_pixels = float(N_FRAMES * SIZE[0] * SIZE[1])
    known = StageCosts.load()
    known._rates["decode .mp4"] = 2.5 / n_pixels
    labelled = label_video(replace(engine, stages=known), source, Request((Budget(1.0),)))
    assert not any("prior" in note for note in labelled.ledgers[0].notes)
    assert len(np.unique(labelled.labels[0])) > 1
    assert known.predict("decode .mp4", n_pixels) < 0.5


def test_windows_share_the_budget(engine: Engine, street: Path) -> None:
    labelled = label(engine, street, Budget(0.6), window=5)
    assert [(why.start, len(why.known.supervoxels.ids)) for why in labelled.whys] == [(0, 4), (4, 4), (8, 4)]
    assert labelled.labels[0].shape == SHAPE
    assert (labelled.labels[0] < engine.classifiers.n_labels).all()
    assert labelled.ledgers[0].stages["supervoxels"].count == 3


def test_two_threads_label_every_pixel(engine: Engine, street: Path) -> None:
    for budget_s in (0.05, 0.3):
        labelled = label(replace(engine, threads=2), street, Budget(budget_s), window=5)
        assert labelled.labels[0].shape == SHAPE
        assert (labelled.labels[0] < engine.classifiers.n_labels).all()


def after(n: int) -> Callable[[], bool]:
    asked = iter([False] * n)
    return lambda: next(asked, True)


def test_who_is_stopped_has_labels_for_all_frames_and_is_told(engine: Engine, street: Path) -> None:
    request = Request((UNLIMITED,), "descriptors", window=5)
    labelled = label_video(engine, open_video(street), request, after(4))
    (labels,), (ledger,) = labelled.labels, labelled.ledgers
    assert labels.shape == SHAPE
    assert len(labelled.whys) == 1
    assert 0 < n_computed(ledger) < 4 * MANY
    assert ledger.notes == ["stopped: the rest of the video has the most frequent class"]
    assert (labels[4:] == engine.classifiers.prior.argmax()).all()


def test_a_video_with_fewer_frames_than_it_says_has_labels_for_those_that_it_has(engine: Engine, street: Path) -> None:
    source = open_video(street)
    assert isinstance(source.clip, Container)
    longer = replace(source, clip=replace(source.clip, n_frames=N_FRAMES + 3))
    labelled = label_video(engine, longer, Request((UNLIMITED,)))
    assert np.array_equal(labelled.labels[0][:N_FRAMES], label(engine, street).labels[0])
    assert (labelled.labels[0] < engine.classifiers.n_labels).all()
    assert len(labelled.labels[0]) == N_FRAMES


@pytest.mark.parametrize(
    ("budgets", "scope", "line"),
    [
        ((), "total", "a budget must be more than nothing; for example 10s"),
        ((Budget(0.0),), "total", "a budget must be more than nothing; for example 10s"),
        ((Budget(2.0), Budget(1.0)), "total", "budgets must rise"),
        ((Budget(1.0), Budget(1.0)), "total", "budgets must rise"),
        ((Budget(0.1, is_share=True), Budget(1.0)), "total", "budgets must all be times, or all be shares"),
        ((Budget(1.0),), "decode", "no scope 'decode'; choose from total, descriptors"),
    ],
)
def test_what_cannot_be_meant_is_refused(budgets: tuple[Budget, ...], scope: str, line: str) -> None:
    with pytest.raises(UsageError, match=line):
        Request(budgets, scope)
