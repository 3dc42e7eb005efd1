"""Videos become folders of results, which can be gone on from and done again."""

import json
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from budgetseg.app.loaded import LoadedModel, load

from budgetseg.app import job as job_module
from budgetseg.app.job import Done, Job, Order
from budgetseg.app.output import Wanted
from budgetseg.app.trace import read_trace
from budgetseg.engine.request import Request
from budgetseg.errors import BudgetsegError
from budgetseg.types import Budget, UInt8
from budgetseg.video import open_video, read_label_pngs
from tests.app.streets import N_FRAMES, SIZE, write_model, write_street

Written = Callable[..., list[Done]]


@pytest.fixture
def written(loaded: LoadedModel) -> Written:
    """Carry out an order."""

    def written(*videos: Path, shares: tuple[float, ...] = (0.3,), **options: Any) -> list[Done]:
        budgets = tuple(Budget(share, is_share=True) for share in shares)
        request = None if "replay" in options else Request(budgets, "descriptors")
        order = Order(videos, request, **options)
        return list(Job(loaded).run(order, order.tasks()))

    return written


def ledger(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "ledger.json").read_text())
    return found


def labels(folder: Path) -> UInt8:
    return read_label_pngs(folder / "labels")


def n_computed(folder: Path) -> int:
    return sum(int(entry["count"]) for entry in ledger(folder)["descriptors"].values())


def test_all_files_are_there_and_agree(written: Written, street: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (done,) = written(street, output=out, wanted=Wanted(npz=True, why=True))
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
    assert labels(out).shape == (N_FRAMES, SIZE[1], SIZE[0])
    with np.load(out / "labels.npz") as stored:
        assert np.array_equal(stored["labels"], labels(out))
    assert open_video(out / "overlay.mp4").read().shape == labels(out).shape
    assert open_video(out / "overlay.mp4").rate == pytest.approx(25)
    assert done.ledgers == [ledger(out)]
    assert {"stages", "descriptors", "notes", "overrun_s", "loading_s", "writing_s", "model", "video"} <= set(
        ledger(out)
    )
    trace = read_trace(out)
    assert len(trace.windows[0].steps) == n_computed(out)
    assert sorted(trace.files) == sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())


def test_label_files_are_named_after_images(written: Written, tmp_path: Path) -> None:
    frames = tmp_path / "frames"
    frames.mkdir()
    for name in ("left-2", "left-10"):
        cv2.imwrite(str(frames / f"{name}.jpg"), np.full((48, 64, 3), 99, np.uint8))
    written(frames, output=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out" / "labels").iterdir()) == ["left-10.png", "left-2.png"]


def test_every_budget_gets_a_folder_and_more_is_computed_in_later_ones(
    written: Written, street: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (done,) = written(street, shares=(0.1, 0.5), output=out)
    assert sorted(path.name for path in out.iterdir()) == ["10%", "50%", "state.npz", "trace.json"]
    assert 0 < n_computed(out / "10%") < n_computed(out / "50%")
    assert done.budgets == ["10%", "50%"]
    for name in done.budgets:
        assert sorted(path.name for path in (out / name).iterdir()) == ["labels", "ledger.json", "overlay.mp4"]
    assert not np.array_equal(labels(out / "10%"), labels(out / "50%"))


def test_a_run_goes_on_instead_of_starting_again(
    written: Written, street: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    written(street, output=out)
    first = n_computed(out)
    monkeypatch.setattr("budgetseg.spaces.regions.window.Segmenter", None)  # the supervoxels are there already
    written(street, shares=(math.inf,), resume=out)
    trace = read_trace(out)
    pairs = [(step.region, step.descriptor) for step in trace.windows[0].steps]
    assert first > 0
    assert len(pairs) == len(set(pairs)) == first + n_computed(out) == 2 * 25 * N_FRAMES
    assert ledger(out)["resumed"] == str(out)


def test_going_on_leads_to_what_one_run_would_have_found(written: Written, street: Path, tmp_path: Path) -> None:
    written(street, output=tmp_path / "some")
    written(street, shares=(math.inf,), resume=tmp_path / "some", output=tmp_path / "rest")
    written(street, shares=(math.inf,), output=tmp_path / "all")
    assert np.array_equal(labels(tmp_path / "rest"), labels(tmp_path / "all"))
    assert not np.array_equal(labels(tmp_path / "some"), labels(tmp_path / "all"))


@pytest.mark.parametrize("shares", [(0.4,), (0.1, 0.3)])
def test_a_replay_writes_the_same_labels(
    written: Written, street: Path, tmp_path: Path, shares: tuple[float, ...]
) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    (done,) = written(street, shares=shares, output=out)
    written(street, replay=out, output=again)
    for name in done.budgets if len(shares) > 1 else ["."]:
        assert np.array_equal(labels(out / name), labels(again / name))
    assert read_trace(again).windows[0].steps == read_trace(out).windows[0].steps


def test_a_run_that_went_on_from_another_can_be_done_again(written: Written, street: Path, tmp_path: Path) -> None:
    written(street, shares=(0.1,), output=tmp_path / "first")
    written(street, shares=(0.3,), resume=tmp_path / "first", output=tmp_path / "second")
    written(street, replay=tmp_path / "second", output=tmp_path / "again")
    assert np.array_equal(labels(tmp_path / "second"), labels(tmp_path / "again"))


def test_another_video_or_model_cannot_be_gone_on_with(
    written: Written, street: Path, tmp_path: Path, loaded: LoadedModel
) -> None:
    written(street, output=tmp_path / "out")
    with pytest.raises(BudgetsegError, match="is not the video of that run, 'street'"):
        written(write_street(tmp_path / "other.mp4", seed=5), resume=tmp_path / "out")
    order = Order([street], Request((Budget(1),)), resume=tmp_path / "out")
    other = replace(loaded, mark=replace(loaded.mark, digest="another"))
    with pytest.raises(BudgetsegError, match="is not the model of that run, 'made'"):
        list(Job(other).run(order, order.tasks()))
    with pytest.raises(BudgetsegError, match=r"an earlier run is of one video\. Got 2; give them one by one"):
        written(street, street, resume=tmp_path / "out")
    with pytest.raises(BudgetsegError, match="give --resume or --replay"):
        written(street, resume=tmp_path / "out", replay=tmp_path / "out")


def test_videos_share_a_budget_in_proportion_to_their_work(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    videos = tmp_path / "videos"
    videos.mkdir()
    write_street(videos / "short.mp4", n_frames=4)
    write_street(videos / "long.mp4", n_frames=12)
    order = Order([videos], Request((Budget(4), Budget(8)), "descriptors"), output=tmp_path / "out")
    given = []
    label = job_module.Job._label

    def watched(self: Job, order: Order, task: Any, request: Request) -> Done:
        given.append([budget.amount for budget in request.budgets])
        return label(self, order, task, request)

    monkeypatch.setattr(job_module.Job, "_label", watched)
    long, short = Job(loaded).run(order, order.tasks())
    assert given[0] == pytest.approx([3, 6])
    assert given[1] == pytest.approx([4 - long.ledgers[0]["spent_s"], 8 - long.ledgers[1]["spent_s"]])
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["long", "short"]
    assert short.folder == tmp_path / "out" / "short"
    assert sorted(path.name for path in short.folder.iterdir()) == ["4s", "8s", "state.npz", "trace.json"]


def test_who_is_stopped_begins_no_other_video(loaded: LoadedModel, street: Path, tmp_path: Path) -> None:
    order = Order([street, street], Request((Budget(9),)), output=tmp_path / "out")
    (done,) = Job(loaded, stopped=lambda: True).run(order, order.tasks())
    assert labels(done.folder).shape[0] == N_FRAMES
    assert done.ledgers[0]["stopped"]
    assert not done.ledgers[0]["descriptors"]


def test_what_cannot_be_written_is_told_before_the_work(street: Path, tmp_path: Path) -> None:
    (tmp_path / "labels").mkdir()
    (tmp_path / "file").write_text("mine")
    for output, line in ((tmp_path, "holds 'labels'"), (tmp_path / "file", "it is a file")):
        with pytest.raises(BudgetsegError, match=line):
            Order([street], Request((Budget(1),)), output=output).tasks()


def test_writing_is_shown(loaded: LoadedModel, street: Path, tmp_path: Path) -> None:
    told: list[object] = []

    def progress(what: str, n: int | None) -> AbstractContextManager[Callable[[int], None]]:
        told.append((what, n))
        return nullcontext(told.append)

    order = Order([street], Request((Budget(1),), "descriptors"), output=tmp_path / "out")
    list(Job(loaded, progress=progress, tell=told.append).run(order, order.tasks()))
    assert told == ["labelling street by supervoxels within 1s", ("writing street", N_FRAMES), *[1] * N_FRAMES]


def test_a_real_clip_is_labelled_within_its_budget(data_root: Path, tmp_path: Path) -> None:
    model = load(write_model(tmp_path / "model", ("colour", "hog", "hof", "mbh")), threads=1)
    clip = data_root / "clips" / "carphone_pristine.mp4"
    order = Order([clip], Request((Budget(4),)), output=tmp_path / "out")
    (done,) = Job(model).run(order, order.tasks())
    assert labels(tmp_path / "out").shape == (120, 144, 176)
    assert done.ledgers[0]["spent_s"] < 4.4
    again = Order([clip], None, replay=tmp_path / "out", output=tmp_path / "again")
    list(Job(model).run(again, again.tasks()))
    assert np.array_equal(labels(tmp_path / "out"), labels(tmp_path / "again"))
