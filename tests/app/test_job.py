"""Jobs of many videos: nothing is lost, nothing is done twice, and bad videos do not stop good ones."""

import errno
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from budgetseg.app import trace, worker
from budgetseg.app.claims import Claims
from budgetseg.app.job import JobSettings, Status, Terms
from budgetseg.app.manifest import MANIFEST, Row
from budgetseg.app.output import Wanted
from budgetseg.errors import BudgetsegError, OutputError, UsageError, VideoError
from budgetseg.processes import Answer
from budgetseg.timing.clock import ManualClock
from budgetseg.types import Budget
from budgetseg.video import read_label_pngs
from tests.app.jobs import Playing, carry_out, job_of, order_of
from tests.app.streets import write_seeing_model, write_street


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    return write_seeing_model(tmp_path_factory.mktemp("models") / "seeing")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short, a middle and a long street."""
    folder = tmp_path_factory.mktemp("made")
    for name, n_frames in (("long", 12), ("middle", 8), ("short", 4)):
        write_street(folder / f"{name}.mp4", n_frames)
    return folder


@pytest.fixture
def videos(made: Path, tmp_path: Path) -> Path:
    """Three streets that a test may change."""
    shutil.copytree(made, tmp_path / "videos")
    return tmp_path / "videos"


def states(rows: list[Row]) -> dict[str, str]:
    return {row.name: row.state for row in rows}


def labelled(calls: list[tuple[str, tuple[Any, ...]]]) -> list[str]:
    """Names of the videos that workers were asked to label."""
    return [args[2].stem for name, args in calls if name == "label_video"]


def test_every_video_has_a_folder_and_a_row_and_a_rerun_does_nothing(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    rows = carry_out(order, model)
    assert states(rows) == {"long": "done", "middle": "done", "short": "done"}
    assert sorted(path.name for path in order.folder.iterdir()) == ["long", MANIFEST, "middle", "short"]
    assert len(read_label_pngs(order.folder / "short" / "labels")) == 4
    assert all(len(row.digest) == 64 for row in rows)
    executor = Playing(lambda *_: True)
    again = job_of(order, model)
    assert again.run(executor) == []
    assert executor.calls == []
    assert states(again.rows) == states(rows)


def test_a_video_that_has_changed_or_lost_its_results_is_labelled_again(
    model: Path, videos: Path, tmp_path: Path
) -> None:
    order = order_of([videos], tmp_path / "out")
    carry_out(order, model)
    write_street(videos / "short.mp4", 5)
    shutil.rmtree(order.folder / "long")
    assert states(carry_out(order, model)) == {"long": "done", "short": "done"}
    assert len(read_label_pngs(order.folder / "short" / "labels")) == 5


def test_broken_videos_are_skipped_and_tried_again_by_the_next_run(model: Path, videos: Path, tmp_path: Path) -> None:
    good = (videos / "middle.mp4").read_bytes()
    (videos / "middle.mp4").write_text("no video\n" * 50)
    (videos / "empty.mp4").touch()
    order = order_of([videos, tmp_path / "gone.mp4"], tmp_path / "out")
    job = job_of(order, model)
    executor = Playing(lambda *_: True)
    rows = job.run(executor)
    assert states(rows) == {
        "long": "done",
        "short": "done",
        "middle": "skipped",
        "empty": "skipped",
        "gone": "skipped",
    }
    why = {row.name: row.why for row in rows if row.state == "skipped"}
    assert "cannot be read as a video" in why["middle"]
    assert "is empty; copy or export it again" in why["empty"]
    assert "there is no video at" in why["gone"]
    assert sorted(labelled(executor.calls)) == ["long", "short"]
    job.check()
    (videos / "middle.mp4").write_bytes(good)
    assert states(carry_out(order, model))["middle"] == "done"


def test_a_job_of_broken_videos_alone_is_an_error(model: Path, videos: Path, tmp_path: Path) -> None:
    for path in videos.iterdir():
        path.write_text("no video\n" * 50)
    job = job_of(order_of([videos], tmp_path / "out"), model)
    job.run(Playing(lambda *_: True))
    with pytest.raises(VideoError, match=r"none of 3 videos can be read; the first: .*long.mp4"):
        job.check()


def test_a_video_whose_labelling_fails_is_skipped(model: Path, videos: Path, tmp_path: Path) -> None:
    def play(name: str, args: tuple[Any, ...]) -> Answer | bool:
        is_bad = name == "label_video" and args[2].stem == "long"
        return Answer(error=ValueError("odd")) if is_bad else True

    rows = carry_out(order_of([videos], tmp_path / "out"), model, Playing(play))
    assert {row.name: row.why for row in rows} == {"long": "ValueError: odd", "middle": "", "short": ""}


def test_another_job_is_refused_and_replaced_on_demand(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    carry_out(order, model)
    before = (order.folder / MANIFEST).read_bytes()
    other = order_of([videos], tmp_path / "out", Budget(0.25, is_share=True))
    with pytest.raises(OutputError, match=r"other settings \(budget 50%, not 25%\); choose .* or add --overwrite"):
        job_of(other, model)
    assert (order.folder / MANIFEST).read_bytes() == before
    assert len(carry_out(other, model, terms=Terms(overwrite=True))) == 3
    assert carry_out(other, model) == []


def test_a_folder_of_others_is_refused_before_the_work(model: Path, videos: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "long" / "labels").mkdir(parents=True)
    with pytest.raises(OutputError, match="holds 'labels', which is not of a complete earlier run"):
        job_of(order_of([videos], tmp_path / "out"), model)


def test_a_single_video_is_not_written_over_a_job(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    carry_out(order, model)
    with pytest.raises(OutputError, match="holds a job of several videos; choose another folder"):
        order_of([videos / "long.mp4"], tmp_path / "out").task()


def test_a_worker_that_is_lost_is_replaced_and_its_video_tried_again(model: Path, videos: Path, tmp_path: Path) -> None:
    lost = iter(["long", "long"])

    def play(name: str, args: tuple[Any, ...]) -> Answer | bool:
        is_lost = name == "label_video" and args[2].stem == "long" and next(lost, None) is not None
        return Answer(is_lost=True) if is_lost else True

    executor = Playing(play)
    rows = carry_out(order_of([videos], tmp_path / "out"), model, executor)
    assert set(states(rows).values()) == {"done"}
    assert labelled(executor.calls).count("long") == 3


def test_a_video_that_ends_its_worker_every_time_is_skipped(model: Path, videos: Path, tmp_path: Path) -> None:
    def play(name: str, args: tuple[Any, ...]) -> Answer | bool:
        return Answer(is_lost=True) if name == "label_video" and args[2].stem == "long" else True

    rows = carry_out(order_of([videos], tmp_path / "out"), model, Playing(play))
    assert {row.name: row.why for row in rows}["long"] == "its worker was lost, 3 times"
    assert states(rows)["short"] == "done"


def test_workers_that_never_begin_are_an_error(model: Path, videos: Path, tmp_path: Path) -> None:
    with pytest.raises(BudgetsegError, match="workers end as soon as they begin"):
        carry_out(order_of([videos], tmp_path / "out"), model, Playing(lambda *_: Answer(is_lost=True)))


def test_a_worker_that_hangs_is_ended(model: Path, videos: Path, tmp_path: Path) -> None:
    clock = ManualClock()

    def play(name: str, args: tuple[Any, ...]) -> Answer | bool:
        return name != "label_video" or args[2].stem != "long"

    executor = Playing(play, clock=clock)
    settings = JobSettings(tries=2, hang=2.0, hang_s=10.0, poll_s=1.0)
    order = order_of([videos], tmp_path / "out", Budget(30.0))
    rows = carry_out(order, model, executor, settings=settings, clock=clock)
    assert {row.name: row.why for row in rows}["long"] == "its worker hung, 2 times"
    assert len(executor.cancelled) == 2
    assert [states(rows)[name] for name in ("middle", "short")] == ["done", "done"]


def test_what_other_machines_work_on_is_left_to_them(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    with Claims(order.folder, "other") as others:
        assert others.take("long")
        job = job_of(order, model)
        assert sorted(states(job.run(Playing(lambda *_: True)))) == ["middle", "short"]
        assert job.elsewhere == ["long"]
    assert list(states(carry_out(order, model))) == ["long"]
    assert job.elsewhere == []


def test_what_another_machine_has_done_meanwhile_is_not_done_again(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    others: list[str] = []

    def play(name: str, args: tuple[Any, ...]) -> Answer | bool:
        if name == "label_video" and not others:
            others.append(args[2].stem)
            rest = [path for path in videos.iterdir() if path.stem != args[2].stem]
            carry_out(order_of([videos], tmp_path / "out"), model)  # all but the one that is claimed
            assert len(rest) == 2
        return True

    executor = Playing(play)
    carry_out(order, model, executor)
    assert labelled(executor.calls) == others


def test_a_stop_ends_the_job_and_the_rerun_takes_it_up(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    executor = Playing(lambda *_: True)
    job = job_of(order, model, stopped=lambda: bool(labelled(executor.calls)))
    assert len(job.run(executor)) == 1
    assert not (order.folder / ".claims").exists()
    assert len(carry_out(order, model)) == 2


def test_a_full_disk_is_one_line_and_the_rerun_takes_it_up(
    model: Path, videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = order_of([videos], tmp_path / "out")
    write = trace.write_trace

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("budgetseg.app.output.write_trace", full)
    with pytest.raises(OutputError, match="No space left on device; free some space"):
        carry_out(order, model)
    assert sorted(path.name for path in order.folder.iterdir()) == [MANIFEST]
    monkeypatch.setattr("budgetseg.app.output.write_trace", write)
    assert len(carry_out(order, model)) == 3


def test_a_worker_of_another_version_refuses(
    model: Path, videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "__version__", "0.0.9")
    with pytest.raises(UsageError, match=r"has budgetseg 0\.0\.9, and the job was started by .*; install the same"):
        carry_out(order_of([videos], tmp_path / "out"), model)


def test_seconds_are_divided_and_what_one_leaves_the_next_may_use(model: Path, videos: Path, tmp_path: Path) -> None:
    clock = ManualClock()

    def play(name: str, _: tuple[Any, ...]) -> Answer | bool:
        clock.advance(5.0 * (name == "label_video"))  # whatever it was given
        return True

    order = order_of([videos], tmp_path / "out", Budget(20.0), Budget(40.0))
    executor = Playing(play)
    rows = carry_out(order, model, executor, clock=clock)
    given = [args[3] for name, args in executor.calls if name == "label_video"]
    assert all(len(budgets) == 2 and 2 * budgets[0].amount == pytest.approx(budgets[1].amount) for budgets in given)
    assert sum(row.budget_s or 0 for row in rows) > 35
    assert given[-1][1].amount == pytest.approx(40 - 10, rel=0.2)  # files take 5 s less what was spent, too


def test_a_rerun_after_a_kill_has_what_is_left_of_the_budget(model: Path, videos: Path, tmp_path: Path) -> None:
    clock = ManualClock()
    order = order_of([videos], tmp_path / "out", Budget(40.0))

    def play(name: str, args: tuple[Any, ...]) -> Answer | bool:
        clock.advance(10.0 * (name == "label_video"))
        if name == "label_video" and args[2].stem == "short":
            raise KeyboardInterrupt  # it ends here, and writes nothing down any more
        return True

    with pytest.raises(KeyboardInterrupt):
        carry_out(order, model, Playing(play), clock=clock)
    seen: list[Status] = []
    carry_out(order, model, show=seen.append)
    assert seen[0].left_s == pytest.approx(20.0, abs=1.0)
    videos.joinpath("more.mp4").write_bytes((videos / "long.mp4").read_bytes())
    carry_out(order, model, show=seen.append)  # the last run has ended all: the next one has the whole budget
    assert seen[-1].left_s == pytest.approx(40.0)


def test_the_status_says_how_far_a_job_is(model: Path, videos: Path, tmp_path: Path) -> None:
    seen: list[Status] = []
    carry_out(order_of([videos], tmp_path / "out", Budget(math.inf)), model, show=seen.append)
    assert [status.n_done for status in seen] == sorted(status.n_done for status in seen)
    assert (seen[-1].n_videos, seen[-1].n_done, seen[-1].left_s) == (3, 3, None)
    assert any(status.running for status in seen)


def test_two_hundred_tiny_videos_are_labelled_once_each(model: Path, tmp_path: Path) -> None:
    tiny = write_street(tmp_path / "tiny.mp4", 1)
    (tmp_path / "many").mkdir()
    for k in range(200):
        (tmp_path / "many" / f"{k}.mp4").symlink_to(tiny)
    order = replace(order_of([tmp_path / "many"], tmp_path / "out"), wanted=Wanted(overlay=False, png=False))
    rows = carry_out(order, model)
    assert [row.state for row in rows] == ["done"] * 200
    assert len({row.digest for row in rows}) == 1


def test_a_replay_takes_no_folder(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    carry_out(order, model)
    with pytest.raises(UsageError, match="--resume and --replay take one video"):
        job_of(order_of([videos], tmp_path / "again", resume=order.folder / "long"), model)


def test_rows_of_the_manifest_are_json_lines(model: Path, videos: Path, tmp_path: Path) -> None:
    order = order_of([videos], tmp_path / "out")
    carry_out(order, model)
    header, *rows = [json.loads(line) for line in (order.folder / MANIFEST).read_text().splitlines()]
    assert header["settings"]["budget"] == "50%"
    assert [row["state"] for row in rows] == ["done"] * 3 + ["ended"]
    assert set(rows[0]) >= {"name", "video", "stamp", "seconds", "spent_s", "digest", "host", "run", "at_s"}
