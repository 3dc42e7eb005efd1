"""From a small dataset to tables: whole, the same each time, and never computed twice."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.datasets import open_dataset
from budgetseg.descriptors import describe
from budgetseg.descriptors.describe import Description, count_frames, describe_dataset, table_folder
from budgetseg.descriptors.table import VideoTable, read_table
from budgetseg.errors import BudgetsegError, DatasetError, ModelError, OutputError, UsageError
from budgetseg.networks.seen import CARD, NO_FOLD, frame_digest
from tests.descriptors.streets import LABELLED, N_FRAMES, SIZE, write_streets
from tests.networks.models import save_mixer

NAMES = ("colour", "hog", "hof")
TRAIN = ["a", "b", "c"]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Description:
    root = write_streets(tmp_path_factory.mktemp("streets"))
    return Description("folder", root, ("train", "val"), NAMES, per_frame=10)


@pytest.fixture(scope="module")
def tables(plan: Description, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the plan asks for, computed on one core; not to be changed."""
    folder = tmp_path_factory.mktemp("tables")
    describe_dataset(plan, folder)
    return folder


@pytest.fixture
def copy(tables: Path, tmp_path: Path) -> Path:
    """The tables, to be changed."""
    return shutil.copytree(tables, tmp_path / "tables")


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails where a video would be described."""

    def work(_: object, jobs: Sequence[object], *__: object) -> None:
        assert not jobs

    monkeypatch.setattr(describe, "in_processes", work)


def assert_same(one: VideoTable, other: VideoTable) -> None:
    """Equal in all but seconds."""
    assert (one.name, one.n_frames, one.settings) == (other.name, other.n_frames, other.settings)
    for field in fields(one.graph):
        assert np.array_equal(getattr(one.graph, field.name), getattr(other.graph, field.name)), field.name
    assert np.array_equal(one.truth, other.truth)
    assert list(one.values) == list(other.values)
    assert all(np.array_equal(one.values[name], other.values[name]) for name in one.values)
    assert one.costs.kinds == other.costs.kinds
    assert np.array_equal(one.costs.first, other.costs.first)
    assert np.array_equal(one.costs.needed, other.costs.needed)


def assert_all_same(one: Path, other: Path) -> None:
    for split, name in (*(("train", name) for name in TRAIN), ("val", "d")):
        assert_same(read_table(table_folder(one, split, name)), read_table(table_folder(other, split, name)))


def times(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in sorted(folder.rglob("*")) if file.is_file()}


def test_every_video_has_a_table_of_what_was_asked_for(tables: Path) -> None:
    assert sorted(str(path.relative_to(tables)) for path in tables.glob("*/*")) == [
        "train/a",
        "train/b",
        "train/c",
        "val/d",
    ]
    for folder in tables.glob("*/*"):
        table = read_table(folder)
        assert (table.name, table.n_frames) == (folder.name, N_FRAMES[folder.name])
        assert len(table.graph) == 10 * table.n_frames
        assert tuple(table.values) == NAMES
        assert all(len(values) == len(table.graph) and np.isfinite(values).all() for values in table.values.values())
        assert table.costs.private_s.shape == (len(table.graph), len(NAMES))


def test_frames_without_labels_count_for_nothing(tables: Path) -> None:
    for folder in tables.glob("*/*"):
        table = read_table(folder)
        assert table.truth.sum() == len(LABELLED[folder.name]) * SIZE[0] * SIZE[1]
        assert (table.truth.sum(axis=1) <= table.graph.sizes).all()


def test_two_cores_give_the_tables_of_one(plan: Description, tables: Path, tmp_path: Path) -> None:
    told: list[int] = []
    folders = describe_dataset(plan, tmp_path, 2, told.append)
    assert folders == [*(tmp_path / "train" / name for name in TRAIN), tmp_path / "val" / "d"]
    assert sum(told) == count_frames(plan) == sum(N_FRAMES.values())
    assert_all_same(tmp_path, tables)


def test_what_is_finished_is_kept_and_what_is_missing_is_made(plan: Description, tables: Path, copy: Path) -> None:
    before = times(copy)
    shutil.rmtree(copy / "train" / "b")
    (copy / "train" / ".b.0123abcd").mkdir()  # as a killed run would leave it
    (copy / "train" / ".notes").mkdir()
    told: list[int] = []
    describe_dataset(plan, copy, 2, told.append)
    after = times(copy)
    assert after.keys() == before.keys()
    assert {file.relative_to(copy / "train").parts[0] for file in before if after[file] != before[file]} == {"b"}
    assert sum(told) == count_frames(plan)
    assert_all_same(copy, tables)
    assert sorted(path.name for path in (copy / "train").iterdir()) == [".notes", *TRAIN]


@pytest.mark.usefixtures("no_work")
def test_names_given_twice_are_computed_once(plan: Description, tables: Path) -> None:
    twice = replace(plan, splits=(*plan.splits, "train"), descriptors=(*NAMES, "hog"))
    assert count_frames(twice) == sum(N_FRAMES.values())
    assert len(describe_dataset(twice, tables)) == len(N_FRAMES)


OTHERS: list[dict[str, object]] = [{"tier": "fast"}, {"per_frame": 11}, {"descriptors": ("colour", "hog")}]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_tables_of_other_settings_are_not_mixed_in(plan: Description, tables: Path, other: dict[str, object]) -> None:
    with pytest.raises(OutputError, match="a' was described with other settings; choose another folder or delete it"):
        describe_dataset(replace(plan, **other), tables)  # type: ignore[arg-type]  # fields of a plan


def test_a_network_of_the_same_name_is_another_setting(plan: Description, tmp_path: Path) -> None:
    network, weights = tmp_path / "networks" / "net.onnx", np.full((2, 3), 0.1, np.float32)
    network.parent.mkdir()
    save_mixer(network, weights)
    one = replace(plan, splits=("val",), descriptors=("net",), networks=network.parent)
    describe_dataset(one, tmp_path / "out")
    describe_dataset(one, tmp_path / "out")
    save_mixer(network, -weights)
    with pytest.raises(OutputError, match="described with other settings"):
        describe_dataset(one, tmp_path / "out")


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("bad", "line"),
    [
        ({"descriptors": ("colour", "hoof")}, "no descriptor 'hoof'; choose from colour, hog, hof, mbh"),
        ({"networks": Path("nowhere")}, "no folder 'nowhere' of networks"),
        ({"splits": ("train", "holidays")}, "no split 'holidays'"),
        ({"dataset": "kitti"}, "no dataset 'kitti'"),
        ({"root": Path("nowhere")}, "nowhere"),
    ],
    ids=str,
)
def test_what_does_not_exist_is_told_before_any_work(
    plan: Description, tmp_path: Path, bad: dict[str, object], line: str
) -> None:
    with pytest.raises((UsageError, DatasetError), match=line) as error:
        describe_dataset(replace(plan, **bad), tmp_path / "out")  # type: ignore[arg-type]  # fields of a plan
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("no_work")
def test_a_place_that_cannot_be_written_is_told_before_any_work(plan: Description, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", Path("/proc/nowhere")):
        with pytest.raises(OutputError, match="cannot write"):
            describe_dataset(plan, place)


def test_errors_in_other_processes_are_one_line_and_leave_nothing_half_written(
    plan: Description, tmp_path: Path
) -> None:
    root = shutil.copytree(str(plan.root), tmp_path / "streets")
    (root / "frames" / "b" / "2.png").write_bytes(b"no image")
    with pytest.raises(BudgetsegError, match=r"2\.png") as error:
        describe_dataset(replace(plan, root=root), tmp_path / "out")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out" / "train" / "b").exists()
    assert all(read_table(folder) for folder in (tmp_path / "out").glob("*/*"))


def test_a_network_is_not_asked_about_frames_that_it_has_learned(plan: Description, tmp_path: Path) -> None:
    save_mixer(tmp_path / "net.onnx", np.full((2, 3), 0.1, np.float32))
    (video,) = open_dataset("folder", plan.root).videos("val")
    (tmp_path / CARD).write_text(f'{{"seen": {{"{frame_digest(video.video().frames[0])}": {NO_FOLD}}}}}')
    with pytest.raises(ModelError, match="was trained on frames of this video"):
        describe_dataset(replace(plan, splits=("val",), descriptors=("net",), networks=tmp_path), tmp_path / "out")


def test_after_a_kill_all_that_is_visible_is_whole_and_the_next_run_completes_it(
    plan: Description, tables: Path, tmp_path: Path
) -> None:
    words = ["describe", "folder", "--root", str(plan.root), "-o", str(tmp_path), "--descriptors", ",".join(NAMES)]
    words = [sys.executable, "-m", "budgetseg", *words, "--per-frame", "10", "--threads", "1", "--split", "train"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        while process.poll() is None and not list(tmp_path.glob("train/*")):
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)  # waits for the worker, which holds the pipe too
    finished = [folder for folder in tmp_path.glob("train/*") if not folder.name.startswith(".")]
    assert process.returncode == -signal.SIGKILL
    for folder in finished:
        assert_same(read_table(folder), read_table(tables / "train" / folder.name))
    before = {folder: times(folder) for folder in finished}
    describe_dataset(plan, tmp_path, 2)
    assert_all_same(tmp_path, tables)
    assert {folder: times(folder) for folder in finished} == before
    assert sorted(path.name for path in (tmp_path / "train").iterdir()) == TRAIN
