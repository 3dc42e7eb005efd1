"""Which engine labels, and that frames leave the same kinds of results behind."""

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.datasets.synthetic import CLASSES
from budgetseg.descriptors.costs import CostModel
from budgetseg.descriptors.network.descriptor import NetworkDescriptor
from budgetseg.descriptors.network.run import OnnxNetwork
from budgetseg.errors import UsageError
from budgetseg.frames.plan import COARSE, COPY, FINE
from budgetseg.frames.refine import FrameRefiner
from budgetseg.inference.floor import Floor
from budgetseg.inference.label import label_video
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.pixels import Pixels
from budgetseg.inference.prospect import LEAST, Outlook, Prospect
from budgetseg.inference.refining import Refiner
from budgetseg.inference.request import Request
from budgetseg.inference.stages import StageCosts
from budgetseg.inference.window import WindowRun
from budgetseg.labelling.engines import choose_engine
from budgetseg.labelling.job import Job, Order
from budgetseg.labelling.loaded import LoadedModel, load
from budgetseg.labelling.output import Wanted
from budgetseg.labelling.replay import replay
from budgetseg.labelling.trace import Trace, VideoMark, WindowTrace
from budgetseg.models.bundle import save_model
from budgetseg.supervoxels.blocks import BLOCKS
from budgetseg.types import Budget
from budgetseg.video import open_video, read_label_pngs
from tests.descriptors.network.models import save_mixer
from tests.labelling.streets import N_FRAMES, SIZE, write_street
from tests.models.made import random_model


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model with a network that mixes colours at random."""
    folder = tmp_path_factory.mktemp("seeing")
    (folder / "networks").mkdir()
    weights = np.random.default_rng(0).normal(size=(len(CLASSES), 3)).astype(np.float32)
    save_mixer(folder / "networks" / "dcnn.onnx", weights, (1, 3, SIZE[1], SIZE[0]), stride=4)
    (folder / "networks" / "dcnn.toml").write_text('output = "scores"\n')
    save_model(random_model({"dcnn": len(CLASSES)}, CLASSES, folder / "networks"), folder / "model")
    return load(folder / "model", threads=2)


def carry_out(model: LoadedModel, video: Path, out: Path, *budgets_s: float, **options: Any) -> dict[str, Any]:
    request = Request(tuple(map(Budget, budgets_s))) if budgets_s else None
    order = Order([video], request, output=out, **options)
    (done,) = Job(model).run(order, order.tasks())
    return dict(done.ledgers[-1])


def test_frames_are_labelled_unless_something_asks_for_supervoxels() -> None:
    assert choose_engine("auto", (), True) == "frames"
    assert choose_engine("auto", ("--why",), True) == choose_engine("auto", (), False) == "supervoxels"
    with pytest.raises(UsageError, match="--why is of supervoxels"):
        choose_engine("frames", ("--why",), True)
    with pytest.raises(UsageError, match="no network that tells its classes apart"):
        choose_engine("frames", (), False)
    with pytest.raises(UsageError, match="no engine 'pixels'; choose from auto, frames, supervoxels"):
        choose_engine("pixels", (), True)


def test_a_model_with_a_network_labels_frames_and_says_so(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    ledger = carry_out(seeing, street, tmp_path / "out", 2.0, wanted=Wanted(npz=True))
    assert ledger["engine"] == "frames"
    assert ledger["descriptors"]["dcnn"]["count"] == N_FRAMES
    assert set(ledger["stages"]) == {"decode", "networks", "flow", "fusing and pixels", "edges"}
    assert read_label_pngs(tmp_path / "out" / "labels").shape == (N_FRAMES, SIZE[1], SIZE[0])
    assert json.loads((tmp_path / "out" / "trace.json").read_text())["settings"]["engine"] == "frames"


def test_frames_are_replayed_exactly_and_gone_on_from(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    first, again, more = tmp_path / "first", tmp_path / "again", tmp_path / "more"
    carry_out(seeing, street, first, 0.02, 1.0)
    carry_out(seeing, street, again, replay=first)
    for budget in ("0.02s", "1s"):
        assert np.array_equal(read_label_pngs(first / budget / "labels"), read_label_pngs(again / budget / "labels"))
    ledger = carry_out(seeing, street, more, 1.0, resume=first)
    assert any("beside the budget" in note for note in ledger["notes"])
    with pytest.raises(UsageError, match="that run was by frames"):
        carry_out(seeing, street, more, 1.0, resume=first, engine="supervoxels")


def test_supervoxels_are_there_on_request(seeing: LoadedModel, street: Path) -> None:
    result = seeing.label(street, budget_s=2, engine="supervoxels")
    assert "supervoxels" in result.ledger.stages
    assert seeing.choose("auto", Request((Budget(1),), "descriptors")) == "supervoxels"


def test_labels_of_supervoxels_are_refined_by_what_the_network_saw(seeing: LoadedModel, street: Path) -> None:
    labelled = seeing.labeller.label(street, Request((Budget(2.0),)))
    (why,), engine = labelled.whys, seeing.labeller.engine
    assert why.refined[0] is not None
    assert len(why.refined[0].answers["dcnn"]) > N_FRAMES / 2
    assert not np.array_equal(labelled.labels[0], why.labels[why.known.supervoxels.ids])
    for unrefined in (
        label_video(replace(engine, refiner=None), open_video(street), Request((Budget(2.0),))),
        seeing.labeller.label(street, Request((Budget(1.0, is_share=True),), "descriptors")),
    ):
        (why,) = unrefined.whys
        assert list(why.refined) == [None]
        assert np.array_equal(unrefined.labels[0], why.labels[why.known.supervoxels.ids])


def test_so_they_are_again_and_where_a_run_goes_on(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    first, again, more, last = (tmp_path / name for name in ("first", "again", "more", "last"))
    carry_out(seeing, street, first, 0.1, 1.0, engine="supervoxels")
    carry_out(seeing, street, again, replay=first)
    for budget in ("0.1s", "1s"):
        assert np.array_equal(read_label_pngs(first / budget / "labels"), read_label_pngs(again / budget / "labels"))
    ledger = carry_out(seeing, street, more, 1.0, resume=first)
    assert any("asked again" in note for note in ledger["notes"])
    assert np.array_equal(read_label_pngs(first / "1s" / "labels"), read_label_pngs(more / "labels"))
    carry_out(seeing, street, last, replay=more)
    assert np.array_equal(read_label_pngs(more / "labels"), read_label_pngs(last / "labels"))


@pytest.mark.parametrize(
    ("tier", "stages"),
    [
        (None, {}),
        (BLOCKS, {"supervoxels fast 2": 2e-5}),  # there is no time for supervoxels
        (BLOCKS, {"supervoxels fast 2": 2e-5, "preparation": 2e-5}),  # nor for all frames
    ],
)
def test_so_they_are_in_every_window(
    seeing: LoadedModel, street: Path, monkeypatch: pytest.MonkeyPatch, tier: str | None, stages: dict[str, float]
) -> None:
    source, labeller, expensive = open_video(street), seeing.labeller, set(stages)  # what they cost will be learned
    monkeypatch.setitem(vars(labeller), "engine", replace(labeller.engine, stages=StageCosts(stages)))
    labelled = labeller.label(source, Request((Budget(1.5),), window=2))
    assert labelled.plan is not None
    assert (labelled.plan.tier, labelled.plan.stride > 1) == (tier, "preparation" in expensive)
    assert len(labelled.whys) > 1
    assert any(why.refined[0] is not None for why in labelled.whys)
    windows = [WindowTrace.of(why) for why in labelled.whys]
    settings = {"budgets": ["1.5s"], "scope": "total"}
    trace = Trace(VideoMark.of(source, N_FRAMES), seeing.mark, settings, labelled.plan, windows)
    assert np.array_equal(replay(labeller.engine, source, trace).labels[0], labelled.labels[0])


def test_networks_see_frames_as_they_were_read_where_supervoxels_are_of_smaller_ones(
    seeing: LoadedModel, tmp_path: Path
) -> None:
    street = write_street(tmp_path / "large.mp4", 4, (8 * SIZE[0], 8 * SIZE[1]))
    engine = seeing.labeller.engine
    refiner = replace(engine.refiner, least=(4 * SIZE[1], 4 * SIZE[0]))  # type: ignore[type-var]
    stages = StageCosts({"supervoxels fast 2": 1e-3, "preparation": 5e-4})  # 44 s a frame, and blocks 197 s
    labelled = label_video(
        replace(engine, refiner=refiner, stages=stages), open_video(street), Request((Budget(100.0),))
    )
    assert labelled.plan is not None
    assert labelled.plan.read_size == (4 * SIZE[1], 4 * SIZE[0])
    assert labelled.plan.size[0] < labelled.plan.read_size[0]
    assert labelled.labels[0].shape == (4, 8 * SIZE[1], 8 * SIZE[0])


def test_what_can_be_refined_in_time_gets_better_with_it(seeing: LoadedModel) -> None:
    engine = seeing.labeller.engine
    stages = StageCosts({"frames paint 2": 1e-9, "frames flow coarse 2": 1e-9, "frames flow fine 2": 1e-8})
    prospect = Prospect(engine, Books(Ledger(None), stages), N_FRAMES, N_FRAMES, SIZE[::-1])
    assert list(prospect.kinds) == ["dcnn"]
    assert prospect.best(0.0) is None
    worths = [best.worth for left_s in np.geomspace(1e-3, 10, 30) if (best := prospect.best(float(left_s))) is not None]
    assert len(worths) > 5
    assert worths == sorted(worths)
    assert worths[0] < worths[-1] == 0
    each_s = engine.costs.predict(prospect.kinds["dcnn"], 1.0) / engine.threads
    too_short_s = 0.9 * (LEAST - 1) * each_s
    assert prospect.best(too_short_s) is None
    assert prospect.best(too_short_s, {"dcnn": LEAST}) is not None  # answers that are there already
    assert Prospect(replace(engine, refiner=None), prospect.books, 9, 9, SIZE[::-1]).best(math.inf) is None


def test_answers_are_not_copied_where_time_is_left_when_all_was_said(seeing: LoadedModel) -> None:
    engine = seeing.labeller.engine
    stages = StageCosts({"frames paint 2": 1e-8, "frames flow coarse 2": 1e-8, "frames flow fine 2": 1e-7})
    prospect = Prospect(engine, Books(Ledger(None), stages), 2 * N_FRAMES, N_FRAMES, SIZE[::-1])
    there, copied = {"dcnn": N_FRAMES}, Outlook("dcnn", COPY, 0.0)
    needed_s = {carry: prospect.seconds("dcnn", carry, there) for carry in (FINE, COARSE, COPY)}
    assert needed_s[COPY] < needed_s[COARSE] < needed_s[FINE]
    for carry, best in ((COPY, COPY), (COARSE, COARSE), (FINE, FINE)):
        assert prospect.best_now(copied, there, 1.2 * needed_s[carry]).carry == best
    fine = Outlook("dcnn", FINE, 0.0)
    assert prospect.best_now(fine, there, 0.0).carry == FINE  # whoever refines finds out what there is time for


def test_the_better_of_two_networks_is_asked_where_there_is_time_for_enough_frames(seeing: LoadedModel) -> None:
    engine, frames, costs = seeing.labeller.engine, seeing.labeller.frames, CostModel()
    assert frames is not None
    (one,) = frames.networks.values()
    assert isinstance(one, OnnxNetwork)
    descriptors = [NetworkDescriptor(name, one) for name in ("dcnn", "dcnn_large")]
    for descriptor, seconds in zip(descriptors, (0.01, 0.1), strict=True):
        for _ in range(20):
            costs.observe(descriptor.source.kind, 1.0, seconds)
    refiner = FrameRefiner(replace(frames, networks={own.name: one for own in descriptors}), SIZE[::-1])
    stages = StageCosts({"frames paint 2": 1e-9, "frames flow coarse 2": 1e-9, "frames flow fine 2": 1e-8})
    engine = replace(engine, descriptors=descriptors, costs=costs, refiner=refiner)
    prospect = Prospect(engine, Books(Ledger(None), stages), 100, 100, SIZE[::-1])
    ways = [prospect.best(left_s) for left_s in np.geomspace(0.02, 20, 40).tolist()]
    asked = [way.network for way in ways if way is not None]
    assert asked == sorted(asked)  # first the small one, from some time on the large one
    assert set(asked) == {"dcnn", "dcnn_large"}
    little_s = 0.1
    alone, much_said = prospect.best(little_s), prospect.best(little_s, {"dcnn_large": 50})
    assert alone is not None
    assert much_said is not None
    assert (alone.network, much_said.network) == ("dcnn", "dcnn_large")


def test_all_blocks_of_a_time_look_at_one_frame_of_a_network(seeing: LoadedModel, street: Path) -> None:
    frames, needed = np.stack([frame.pixels for frame in open_video(street)] * 3), {}  # the last block is shorter
    for tier in seeing.labeller.engine.tiers:
        run = WindowRun(seeing.labeller.engine.of_tier(tier), frames, Ledger(None), time.perf_counter())
        run.prepare(20)
        (network,), boxes = run.engine.descriptors, run.scene.supervoxels.graph.boxes
        needed[tier] = {(first, len(network.needs(run.scene, k))) for k, (first, *_) in enumerate(boxes.tolist())}
    assert needed[BLOCKS] == {(first, 1) for first in range(0, len(frames), 16)}
    assert max(n for _, n in needed["fast"]) == 3


def test_supervoxels_are_blocks_where_fast_ones_would_take_much_of_the_time_and_labels_are_refined(
    seeing: LoadedModel, street: Path
) -> None:
    engine, source = seeing.labeller.engine, open_video(street)
    assert (engine.tiers, replace(engine, refiner=None).tiers) == (("fast", BLOCKS), ("fast",))
    stages = StageCosts({"supervoxels fast 2": 1e-6, "supervoxels blocks 2": 1e-9})
    cutting_s = stages.predict(*engine.cutting(N_FRAMES, SIZE[::-1]))

    def tier(times: float, refiner: Refiner | None) -> str | None:
        own = replace(engine, stages=stages, refiner=refiner)
        return Floor.of(own, source, Request((Budget(times * cutting_s),))).in_time.tier

    assert tier(5.1, engine.refiner) is None
    assert tier(4.9, engine.refiner) == BLOCKS
    assert tier(4.9, None) is None


def test_frames_a_second_apart_have_more_supervoxels_but_not_more_blocks(seeing: LoadedModel, street: Path) -> None:
    stages = StageCosts({"supervoxels fast 2": 1.0, "supervoxels quality 2": 1.0})  # there is no time for these
    engine, source = replace(seeing.labeller.engine, stages=stages), open_video(street)
    clips = [replace(source.clip, rate=rate) for rate in (25.0, 1.0)]  # type: ignore[type-var]
    film, slides = (Floor.of(engine, replace(source, clip=clip), Request((Budget(1.0),))) for clip in clips)
    assert slides.full.density > 5 * film.full.density
    assert film.in_time.has_blocks
    assert slides.in_time.has_blocks
    assert film.in_time.density <= slides.in_time.density < 2 * film.in_time.density


def test_there_is_better_to_do_than_to_try_what_does_not_fit_as_long_as_the_cheapest_network_can_be_asked(
    seeing: LoadedModel, street: Path
) -> None:
    frames = np.stack([frame.pixels for frame in open_video(street)])
    run = WindowRun(seeing.labeller.engine, frames, Ledger(None), time.perf_counter())
    run.prepare(20)
    pixels = Pixels(run, 1, SIZE[::-1])
    assert not pixels.may_ask  # nothing is planned
    pixels.plan(math.inf)
    kind = run.engine.descriptors[0].source.kind  # type: ignore[attr-defined]
    for k in range(N_FRAMES):
        assert pixels.may_ask
        run.live.make_ahead((kind, k))
    assert not pixels.may_ask


def test_there_are_no_blocks_where_there_is_no_time_to_refine_labels(seeing: LoadedModel, street: Path) -> None:
    source, slow = open_video(street), {"supervoxels fast 2": 1e-5, "decode .mp4": 1e-9}
    for painting, tier in ((1e-9, BLOCKS), (1.0, None)):
        stages = StageCosts(slow | {"frames paint 2": painting})
        engine = replace(seeing.labeller.engine, stages=stages)
        assert Floor.of(engine, source, Request((Budget(1.0),))).begin().tier == tier


def test_confidence_of_frames_is_a_probability_at_every_pixel(seeing: LoadedModel, street: Path) -> None:
    result = seeing.label(street, budget_s=math.inf)
    assert result.confidence.shape == result.labels.shape
    assert 1 / len(CLASSES) - 0.01 < result.confidence.min() < result.confidence.max() <= 1
    assert not result.ledger.work_left


def test_a_budget_of_real_seconds_is_kept(seeing: LoadedModel, street: Path) -> None:
    seeing.label(street, budget_s=1)
    started = time.perf_counter()
    result = seeing.label(street, budget_s=0.5)
    assert time.perf_counter() - started < 1.0  # seen from outside, on a machine that others use, too
    assert result.ledger.spent_s < 0.75
