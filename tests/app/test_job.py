"""Videos become folders of results, which can be gone on from and done again."""

import json
import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from budgetseg.app import job as module
from budgetseg.app.job import Job, Order, Written
from budgetseg.app.model import ALL, LoadedModel
from budgetseg.app.output import Wanted
from budgetseg.app.trace import read_trace
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.errors import BudgetsegError, UsageError
from budgetseg.policy.features import n_features
from budgetseg.policy.learned import METHOD, Expected, LearnedPolicy
from budgetseg.policy.linear import LinearPolicy
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.types import Budget, UInt8
from budgetseg.video import VideoSource, open_video, read_image, read_label_pngs
from tests.app.simulated import load_simulated
from tests.app.streets import N_FRAMES, SIZE, write_model, write_street
from tests.spaces.frames.calibrations import calibration

Carry = Callable[..., list[Written]]
SHAPE = (N_FRAMES, SIZE[1], SIZE[0])
SOME = {"regions": (0.1, 0.5), "frames": (0.2, 0.6)}
"""Shares of what everything costs."""


@pytest.fixture
def written(loaded: LoadedModel) -> Carry:
    """Carry out an order by regions, with shares of all descriptors."""

    def written(*videos: Path, shares: tuple[float, ...] = (0.3,), **options: Any) -> list[Written]:
        budgets = tuple(Budget(share, is_share=True) for share in shares)
        request = None if "replay" in options else Request(budgets, "descriptors")
        return carry_out(loaded, *videos, request=request, **options)

    return written


@pytest.fixture(params=["frames", "regions"])
def model(request: pytest.FixtureRequest) -> LoadedModel:
    """One of each space."""
    found: LoadedModel = request.getfixturevalue("seeing" if request.param == "frames" else "loaded")
    return found


def carry_out(model: LoadedModel, *videos: Path, request: Request | None, **options: Any) -> list[Written]:
    order = Order(videos, request, **options)
    return list(Job(model).run(order, order.tasks()))


def shares(model: LoadedModel, n: int = 2, explain: bool = False) -> Request:
    """Budgets of a model's own space."""
    name = model.choose()
    budgets = tuple(Budget(share, is_share=True) for share in SOME[name][-n:])
    return Request(budgets, "descriptors" if name == "regions" else "total", explain=explain)


def ledger(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "ledger.json").read_text())
    return found


def labels(folder: Path) -> UInt8:
    return read_label_pngs(folder / "labels")


def n_actions(folder: Path) -> int:
    return sum(int(entry["count"]) for entry in ledger(folder)["sources"].values())


# Files


def test_all_files_are_there_and_agree(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    out, wanted = tmp_path / "out", Wanted(npz=True, why=True)
    (done,) = carry_out(model, street, request=shares(model, 1, explain=True), output=out, wanted=wanted)
    assert sorted(path.name for path in out.iterdir()) == [
        "labels",
        "labels.npz",
        "ledger.json",
        "overlay.mp4",
        "state.npz",
        "trace.json",
        "why.npz",
        "why.png",
    ]
    assert labels(out).shape == SHAPE
    with np.load(out / "labels.npz") as stored:
        assert np.array_equal(stored["labels"], labels(out))
    assert open_video(out / "overlay.mp4").read().shape == labels(out).shape
    assert open_video(out / "overlay.mp4").rate == pytest.approx(25)
    assert done.ledgers == [ledger(out)]
    trace = read_trace(out)
    assert len(trace.windows[0].events) == n_actions(out)
    assert sorted(trace.files) == sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())


def test_the_ledger_names_space_stages_sources_video_and_model(
    model: LoadedModel, street: Path, tmp_path: Path
) -> None:
    carry_out(model, street, request=shares(model, 1), output=tmp_path / "out")
    found, space = ledger(tmp_path / "out"), model.choose()
    assert list(found) == [
        "budget_s",
        "scope",
        "spent_s",
        "stages",
        "sources",
        "decisions",
        "cache_hits",
        "cache_misses",
        "work_left",
        "next_s",
        "notes",
        "overrun_s",
        "prior_only",
        "expected",
        "class_shares",
        "video",
        "model",
        "resumed",
        "replayed",
        "space",
        "backends",
        "stopped",
        "loading_s",
        "writing_s",
    ]
    assert found["space"] == read_trace(tmp_path / "out").space == space
    loop, sources = {"frames": ("networks", ["dcnn"]), "regions": ("descriptors", ["colour", "hog"])}[space]
    assert {"decode", "pixels", "release", loop} <= set(found["stages"])
    assert sorted(found["sources"]) == sources
    for entry in (*found["stages"].values(), *found["sources"].values()):
        assert list(entry) == ["planned_s", "spent_s", "count"]
    assert found["stages"][loop]["spent_s"] == pytest.approx(sum(own["spent_s"] for own in found["sources"].values()))
    assert found["video"] == {"name": "street", "n_frames": N_FRAMES, "size": list(SIZE)}
    assert (found["resumed"], found["replayed"], found["stopped"]) == (None, None, False)


def test_why_of_whole_frames_has_key_frame_network_distance_and_confidence(
    seeing: LoadedModel, street: Path, tmp_path: Path
) -> None:
    request = replace(shares(seeing, explain=True), window=7)
    carry_out(seeing, street, request=request, output=tmp_path / "out", wanted=Wanted(why=True))
    with np.load(tmp_path / "out" / "why.npz") as why:
        names = ("first_frame", "key_frame", "network", "distance", "confidence")
        assert set(why.files) == {"classes", "networks", *(f"{k}/{name}" for k in range(2) for name in names)}
        assert why["networks"].tolist() == ["dcnn"]
        assert why["1/key_frame"].min() >= int(why["1/first_frame"]) > 0
    assert read_image(tmp_path / "out" / "why.png").size
    assert ledger(tmp_path / "out" / "60%")["space"] == "frames"


def test_label_files_are_named_after_images(written: Carry, tmp_path: Path) -> None:
    frames = tmp_path / "frames"
    frames.mkdir()
    for name in ("left-2", "left-10"):
        cv2.imwrite(str(frames / f"{name}.jpg"), np.full((48, 64, 3), 99, np.uint8))
    written(frames, output=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "labels").glob("*.png")) == ["left-10.png", "left-2.png"]


def test_every_budget_gets_a_folder_and_more_is_done_in_later_ones(
    model: LoadedModel, street: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (done,) = carry_out(model, street, request=shares(model), output=out)
    few, more = done.budgets
    assert sorted(path.name for path in out.iterdir()) == [few, more, "state.npz", "trace.json"]
    assert 0 < n_actions(out / few) < n_actions(out / more)
    for name in done.budgets:
        assert sorted(path.name for path in (out / name).iterdir()) == ["labels", "ledger.json", "overlay.mp4"]
    assert not np.array_equal(labels(out / few), labels(out / more))


def test_confidence_of_whole_frames_is_kept_at_every_budget(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    request = Request((Budget(1e-6), Budget(0.1)), window=7)
    carry_out(seeing, street, request=request, output=tmp_path / "out")
    results = seeing.run(street, request, "frames")
    with np.load(tmp_path / "out" / "state.npz") as state:
        for k, own in enumerate(results[-1].evidence):
            assert isinstance(own, FrameEvidence)
            nothing, something = state[f"{k}/confidence"]
            assert (nothing == int(255 * results[-1].least)).all()
            assert np.array_equal(something, own.cells)


def test_a_real_clip_is_labelled_and_done_again(data_root: Path, tmp_path: Path) -> None:
    model = load_simulated(write_model(tmp_path / "model", ("colour", "hog", "hof")))
    clip = data_root / "clips" / "carphone_pristine.mp4"
    (done,) = carry_out(model, clip, request=Request((Budget(1),)), output=tmp_path / "out")
    assert labels(tmp_path / "out").shape == (120, 144, 176)
    assert 0 < done.ledgers[0]["spent_s"] <= 1
    carry_out(model, clip, request=None, replay=tmp_path / "out", output=tmp_path / "again")
    assert np.array_equal(labels(tmp_path / "out"), labels(tmp_path / "again"))


# Going on


def test_a_run_goes_on_instead_of_starting_again(
    written: Carry, street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    written(street, output=out)
    first = n_actions(out)
    monkeypatch.setattr("budgetseg.spaces.regions.state.Segmenter", None)  # the supervoxels are there already
    written(street, shares=(math.inf,), resume=out)
    trace = read_trace(out)
    pairs = [(event.place, event.source) for event in trace.windows[0].events]
    assert first > 0
    assert len(pairs) == len(set(pairs)) == first + n_actions(out) == 2 * 25 * N_FRAMES
    assert ledger(out)["resumed"] == str(out)


def test_going_on_leads_to_what_one_run_would_have_found(written: Carry, street: Path, tmp_path: Path) -> None:
    written(street, output=tmp_path / "some")
    written(street, shares=(math.inf,), resume=tmp_path / "some", output=tmp_path / "rest")
    written(street, shares=(math.inf,), output=tmp_path / "all")
    assert np.array_equal(labels(tmp_path / "rest"), labels(tmp_path / "all"))
    assert not np.array_equal(labels(tmp_path / "some"), labels(tmp_path / "all"))


def test_whole_frames_that_were_asked_about_are_asked_again_beside_the_budget(
    seeing: LoadedModel, street: Path, tmp_path: Path
) -> None:
    carry_out(seeing, street, request=shares(seeing, 1), output=tmp_path / "some")
    request = Request((Budget(math.inf),))
    carry_out(seeing, street, request=request, resume=tmp_path / "some", output=tmp_path / "rest")
    found = ledger(tmp_path / "rest")
    assert found["notes"] == ["actions of the earlier run were repeated, outside the budget"]
    assert n_actions(tmp_path / "rest") == N_FRAMES - n_actions(tmp_path / "some")
    carry_out(seeing, street, request=request, output=tmp_path / "all")
    assert np.array_equal(labels(tmp_path / "rest"), labels(tmp_path / "all"))


def test_a_run_in_windows_is_gone_on_from_window_by_window(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    request = replace(shares(model, 1), window=5)
    carry_out(model, street, request=request, output=tmp_path / "some")
    everything = Request((Budget(math.inf),), request.scope)
    carry_out(model, street, request=everything, resume=tmp_path / "some", output=tmp_path / "rest")
    some, rest = (read_trace(tmp_path / name) for name in ("some", "rest"))
    assert [own.n_frames for own in rest.windows] == [own.n_frames for own in some.windows] == [4, 4, 4]
    assert not ledger(tmp_path / "rest")["work_left"]


def test_a_run_that_came_to_nothing_is_begun_anew(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    carry_out(model, street, request=Request((Budget(1e-6),)), output=tmp_path / "none")
    assert ledger(tmp_path / "none")["notes"][-1] == "the budget is short: prior"
    everything = Request((Budget(math.inf),))
    carry_out(model, street, request=everything, resume=tmp_path / "none", output=tmp_path / "all")
    assert not ledger(tmp_path / "all")["work_left"]


def test_so_is_one_that_took_too_long_to_read(tmp_path: Path, model_folder: Path, street: Path) -> None:
    slow = load_simulated(model_folder, rates={"decode .mp4": 2e-7})
    carry_out(slow, street, request=Request((Budget(0.008),)), output=tmp_path / "none")
    assert [window.n_places for window in read_trace(tmp_path / "none").windows] == [0]
    carry_out(slow, street, request=Request((Budget(1.0),)), resume=tmp_path / "none", output=tmp_path / "all")
    assert len(np.unique(labels(tmp_path / "all"))) > 1


def test_a_state_that_is_not_that_of_the_trace_is_refused(written: Carry, street: Path, tmp_path: Path) -> None:
    written(street, output=tmp_path / "out")
    longer = write_street(tmp_path / "longer.mp4", n_frames=N_FRAMES + 3)
    written(longer, output=tmp_path / "other")
    shutil.copy(tmp_path / "other" / "state.npz", tmp_path / "out" / "state.npz")
    with pytest.raises(
        UsageError, match=r"^the state in '.*out' does not fit its trace \(other supervoxels\); label the video again$"
    ):
        written(street, resume=tmp_path / "out")


# Doing it again


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("window", [None, 5])
def test_a_replay_writes_the_same_labels(
    model: LoadedModel, street: Path, tmp_path: Path, n: int, window: int | None
) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    wanted, request = Wanted(why=True), replace(shares(model, n, explain=True), window=window)
    (done,) = carry_out(model, street, request=request, output=out, wanted=wanted)
    carry_out(model, street, request=None, replay=out, output=again, wanted=wanted)
    for name in done.budgets if n > 1 else ["."]:
        assert np.array_equal(labels(out / name), labels(again / name))
    for before, after in zip(read_trace(out).windows, read_trace(again).windows, strict=True):
        assert vars(before) == vars(after)
    with np.load(out / "why.npz") as why, np.load(again / "why.npz") as other:
        assert set(why.files) == set(other.files)
        assert all(np.array_equal(why[name], other[name]) for name in why.files)


def test_the_ledger_of_a_replay_has_no_budget(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    carry_out(model, street, request=shares(model, 1), output=tmp_path / "out")
    carry_out(model, street, request=None, replay=tmp_path / "out", output=tmp_path / "again")
    found = ledger(tmp_path / "again")
    assert (found["budget_s"], found["overrun_s"]) == (None, 0)
    assert (found["replayed"], found["space"]) == (str(tmp_path / "out"), model.choose())


def test_a_run_that_went_on_from_another_can_be_done_again(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    request = shares(model, 1)
    carry_out(model, street, request=request, output=tmp_path / "first")
    more = Request((Budget(math.inf),), request.scope)
    carry_out(model, street, request=more, resume=tmp_path / "first", output=tmp_path / "second")
    carry_out(model, street, request=None, replay=tmp_path / "second", output=tmp_path / "again")
    assert np.array_equal(labels(tmp_path / "second"), labels(tmp_path / "again"))


def test_a_run_that_was_stopped_can_be_done_again(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    order = Order([street], Request((Budget(math.inf),), window=4), output=tmp_path / "out")
    answers = iter([False] * 4)
    list(Job(model, stopped=lambda: next(answers, True)).run(order, order.tasks()))
    carry_out(model, street, request=None, replay=tmp_path / "out", output=tmp_path / "again")
    assert np.array_equal(labels(tmp_path / "out"), labels(tmp_path / "again"))
    assert labels(tmp_path / "again").shape == SHAPE


def test_a_run_that_came_to_nothing_can_be_done_again(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    carry_out(model, street, request=Request((Budget(1e-6),)), output=tmp_path / "out")
    carry_out(model, street, request=None, replay=tmp_path / "out", output=tmp_path / "again")
    assert len(np.unique(labels(tmp_path / "again"))) == 1
    assert np.array_equal(labels(tmp_path / "out"), labels(tmp_path / "again"))


# What is refused


def test_another_video_or_model_cannot_be_gone_on_with(
    written: Carry, street: Path, tmp_path: Path, loaded: LoadedModel
) -> None:
    written(street, output=tmp_path / "out")
    with pytest.raises(BudgetsegError, match="is not the video of the earlier run, 'street'"):
        written(write_street(tmp_path / "other.mp4", seed=5), resume=tmp_path / "out")
    with _marked(loaded, "another"), pytest.raises(BudgetsegError, match="is not the model of the earlier run, 'made'"):
        written(street, resume=tmp_path / "out")
    with pytest.raises(BudgetsegError, match=r"--resume and --replay take one video\. Got 2; give one"):
        written(street, street, resume=tmp_path / "out")
    with pytest.raises(BudgetsegError, match="--resume and --replay cannot be combined; give one of them"):
        written(street, resume=tmp_path / "out", replay=tmp_path / "out")


@contextmanager
def _marked(model: LoadedModel, digest: str) -> Iterator[None]:
    """The model looks like another for a while."""
    mark = model.mark
    assert mark is not None
    model.mark = replace(mark, digest=digest)
    try:
        yield
    finally:
        model.mark = mark


def test_a_run_is_gone_on_from_in_its_own_space(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    carry_out(seeing, street, request=shares(seeing, 1), output=tmp_path / "out")
    more = Request((Budget(1.0),))
    for name in ("regions", "supervoxels"):
        with pytest.raises(
            UsageError, match=r"^the earlier run was by frames; leave out --space, or label the video again$"
        ):
            carry_out(seeing, street, request=more, resume=tmp_path / "out", space=name)
    carry_out(seeing, street, request=more, resume=tmp_path / "out", space="frames")


def test_a_trace_of_the_first_version_is_one_line(written: Carry, street: Path, tmp_path: Path) -> None:
    written(street, output=tmp_path / "out")
    stored = json.loads((tmp_path / "out" / "trace.json").read_text())
    (tmp_path / "out" / "trace.json").write_text(json.dumps(stored | {"format": 6}))
    for options in ({"resume": tmp_path / "out"}, {"replay": tmp_path / "out"}):
        with pytest.raises(UsageError, match=r"trace.json' has format 6, not 8; label the video again$"):
            written(street, **options)


def test_what_cannot_be_written_is_refused_before_the_work(street: Path, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "file").write_text("mine")
    for output, line in ((tmp_path, "holds 'labels'"), (tmp_path / "file", "it is a file")):
        with pytest.raises(BudgetsegError, match=line):
            Order([street], Request((Budget(1),)), output=output).tasks()


# Several videos, progress and promises


def test_videos_share_a_budget_in_proportion_to_their_work(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    write_street(videos / "short.mp4", n_frames=4)
    write_street(videos / "long.mp4", n_frames=12)
    order = Order([videos], Request((Budget(4), Budget(8)), "descriptors"), output=tmp_path / "out")
    given = []
    label = module.Job._label

    def watched(self: Job, order: Order, task: Any, request: Request) -> Written:
        given.append([budget.amount for budget in request.budgets])
        return label(self, order, task, request)

    monkeypatch.setattr(module.Job, "_label", watched)
    long, short = Job(loaded).run(order, order.tasks())
    assert given[0] == pytest.approx([3, 6])
    assert given[1] == pytest.approx([4 - long.ledgers[0]["spent_s"], 8 - long.ledgers[1]["spent_s"]])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["long", "short"]
    assert short.folder == tmp_path / "out" / "short"
    assert sorted(path.name for path in short.folder.iterdir()) == ["4s", "8s", "state.npz", "trace.json"]


def test_a_job_that_is_stopped_begins_no_other_video(model: LoadedModel, street: Path, tmp_path: Path) -> None:
    order = Order([street, street], Request((Budget(9),)), output=tmp_path / "out")
    (done,) = Job(model, stopped=lambda: True).run(order, order.tasks())
    assert labels(done.folder).shape == SHAPE
    assert done.ledgers[0]["stopped"]
    assert [entry["count"] for entry in done.ledgers[0]["sources"].values()] == [1]  # labels show the content


@pytest.mark.parametrize(("space", "by"), [("auto", "frames"), ("regions", "regions"), ("supervoxels", "regions")])
def test_what_is_done_and_written_is_shown(
    seeing: LoadedModel, street: Path, tmp_path: Path, space: str, by: str
) -> None:
    shown: list[object] = []

    def progress(what: str, n: int | None) -> AbstractContextManager[Callable[[int], None]]:
        shown.append((what, n))
        return nullcontext(shown.append)

    order = Order([street], Request((Budget(1),)), output=tmp_path / "out", space=space)
    list(Job(seeing, progress=progress, tell=shown.append).run(order, order.tasks()))
    assert shown == [f"labelling street by {by} within 1s", ("writing street", N_FRAMES), *[1] * N_FRAMES]
    assert ledger(tmp_path / "out")["space"] == by


def test_regions_promise_what_the_curve_of_their_policy_says(
    seeing: LoadedModel, street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, curve = seeing.trained, (Expected(0.1, 0.3, 0.6), Expected(0.5, 0.5, 0.8))
    weights = np.zeros((2, n_features(1, len(model.classes), True)), np.float32)
    own = LearnedPolicy(METHOD, ("dcnn",), "shared", LinearPolicy(weights, True), curve)
    monkeypatch.setattr(seeing, "model", replace(model, policies=(own,)))
    budgets = Budget(0.1, is_share=True), Budget(0.5, is_share=True)
    order = Order([street], Request(budgets, "descriptors"), output=tmp_path / "out", space="regions")
    (done,) = Job(seeing).run(order, order.tasks())
    found = [own["expected"] for own in done.ledgers]
    assert [(own["accuracy"], own["class_average"]) for own in found] == [(0.6, 0.3), (0.8, 0.5)]
    assert [(own["low"], own["high"], own["in_domain"]) for own in found] == [(None, None, None)] * 2
    assert found[1]["words"] == "Expected: about 80 % of the pixels right, 50 % on average over classes."


def test_frames_promise_at_every_budget_what_a_calibration_says(
    seeing: LoadedModel, street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seeing, "model", replace(seeing.model, calibration=calibration(n_labels=len(seeing.classes))))
    order = Order([street], Request((Budget(0.5), Budget(1))), output=tmp_path / "out", space="frames")
    (done,) = Job(seeing).run(order, order.tasks())
    for own in done.ledgers:
        assert own["expected"]["low"] < own["expected"]["accuracy"] < own["expected"]["high"]
        assert own["expected"]["in_domain"]


def test_nothing_is_promised_by_frames_without_a_calibration(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    order = Order([street], Request((Budget(1),)), output=tmp_path / "out", space="frames")
    (done,) = Job(seeing).run(order, order.tasks())
    assert done.ledgers[0]["expected"] is None


@pytest.mark.parametrize(("target", "is_reached"), [(0.01, True), (0.999, False)])
def test_a_target_ends_the_spending_or_is_said_not_to_be_reached(
    seeing: LoadedModel,
    street: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: float,
    is_reached: bool,
) -> None:
    monkeypatch.setattr(seeing, "model", replace(seeing.model, calibration=calibration(n_labels=len(seeing.classes))))
    tried: list[Budget] = []
    run = seeing.run

    def counted(source: VideoSource, request: Request, *rest: object) -> list[Result]:
        tried.extend(request.budgets)
        return run(source, request, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(seeing, "run", counted)
    order = Order([street], Request((ALL,)), output=tmp_path / "out", space="frames", target=target)
    (done,) = Job(seeing).run(order, order.tasks())
    assert all(after.amount == 2 * before.amount for before, after in pairwise(tried))
    assert (len(tried) == 1) == is_reached
    assert any("not what to expect" in note for note in done.ledgers[0]["notes"]) == (not is_reached)
