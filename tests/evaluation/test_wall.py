"""Rows against the wall clock: what is measured, and what is judged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.datasets import LabelledVideo, open_dataset
from budgetseg.descriptors.describe import Description
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.errors import UsageError
from budgetseg.evaluation import wall
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.evaluation.experiment import Experiment
from budgetseg.evaluation.wall import METHODS, Timed, check_methods, evaluate_wall, n_runs, timed
from budgetseg.models.bundle import Model
from budgetseg.types import IGNORE, Budget, Classes, UInt8, Video
from budgetseg.video import VideoSource
from tests.learning.scenes import N_FRAMES, NAMES, SIZE, write_scenes
from tests.models.made import random_model

KEYS = "dataset split video method budget_fraction budget_s spent_s seed n_supervoxels accuracy temporal_consistency"
KEYS += " pixels pieces calibration_error descriptor_counts choices_over_time scope costs clock descriptors"
METHODS_HERE = ("static", "frames", "frames-even", "every-frame", "keyframes")
"""What a model with one network and no learned policy can do."""
BUDGETS = (Budget(0.3), Budget(0.5, True), Budget(np.inf))

Row = dict[str, Any]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_scenes(tmp_path_factory.mktemp("scenes"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """With a network that mixes colours."""
    pytest.importorskip("onnx")
    from tests.networks.models import save_mixer

    folder, n_labels = tmp_path_factory.mktemp("networks"), len(NAMES)
    weights = np.random.default_rng(0).normal(size=(n_labels, 3)).astype(np.float32)
    save_mixer(folder / "dcnn.onnx", weights, (1, 3, 24, 32))
    (folder / "dcnn.toml").write_text('output = "scores"\n')
    lengths = {"colour": BUILT_IN["colour"]().length, "dcnn": n_labels}
    return random_model(lengths, Classes(NAMES, np.zeros((n_labels, 3), np.uint8)), folder)


@pytest.fixture(scope="module")
def rows(scenes: Path, model: Model, tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    folder, reported = tmp_path_factory.mktemp("wall"), list[int]()
    plan = Description("folder", scenes, ("selection",), per_frame=12)
    experiment = Experiment(("all",), BUDGETS, 2, scope="total", clock="wall")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(folder / "cache"))
        results = evaluate_wall(model, plan, experiment, folder, 1, reported.append)
    assert json.loads((folder / "results.json").read_text()) == results
    assert sum(reported) == n_runs(plan, model, experiment) == 1 + len(METHODS_HERE) * 3 * 2
    found: list[Row] = results["rows"]
    return found


def test_there_is_a_row_for_each_method_budget_seed_and_video_and_one_for_all(rows: list[Row]) -> None:
    expected = [
        (method, seed, video) for method in METHODS_HERE for _ in BUDGETS for seed in (0, 1) for video in ("d", "all")
    ]
    assert [(row["method"], row["seed"], row["video"]) for row in rows] == expected
    for row in rows:
        assert list(row) == KEYS.split()
        assert (row["scope"], row["costs"], row["clock"]) == ("total", "shared", "wall")
        assert row["spent_s"] > 0
        assert 0 <= row["accuracy"]["global"] <= 1
        assert row["temporal_consistency"] is None or 0 <= row["temporal_consistency"] <= 1


def test_a_share_is_the_same_number_of_seconds_for_all_methods(rows: list[Row]) -> None:
    shares = [row for row in rows if row["budget_fraction"] == 0.5]
    assert len(shares) == 4 * len(METHODS_HERE)
    assert len({row["budget_s"] for row in shares}) == 1
    full_s = 2 * shares[0]["budget_s"]
    for row in rows:
        if row["budget_s"] == 0.3:
            assert row["budget_fraction"] == pytest.approx(0.3 / full_s)


def test_what_was_computed_is_counted(rows: list[Row]) -> None:
    for row in rows:
        assert row["descriptors"] == list(row["descriptor_counts"])
        if row["budget_s"] is None:
            n = N_FRAMES["d"]
            is_static = row["method"] == "static"
            assert row["descriptor_counts"] == ({"colour": 12 * n, "dcnn": 12 * n} if is_static else {"dcnn": n})
            assert row["n_supervoxels"] == (12 * n if is_static else 0)


def test_pixels_are_judged_at_full_size_where_they_have_labels() -> None:
    rng = np.random.default_rng(0)
    truth, labels = rng.integers(0, 3, (2, 4, 5)).astype(np.uint8), rng.integers(0, 3, (6, 4, 5)).astype(np.uint8)
    truth[:, 0] = IGNORE
    confusions = Timed("abc", None, (1, 4), truth).confusions(labels, 3)  # type: ignore[arg-type]
    assert confusions.sum(axis=(1, 2)).tolist() == [3 * 5, 3 * 5, 0, 0, 0]
    confusion = confusions.sum(axis=0)
    for true in range(3):
        for said in range(3):
            assert confusion[true, said] == ((truth == true) & (labels[[1, 4]] == said)).sum()


def test_who_knows_the_truth_is_right_everywhere(
    scenes: Path, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = {video.name: video.labels() for video in open_dataset("folder", scenes).videos("train")}

    def knows(source: VideoSource, _: float, seed: int) -> wall._Answer:
        labels: UInt8 = truth[source.name].copy()
        labels[:, :, :32] = (labels[:, :, :32] + seed) % 2  # the second time half of it is wrong
        return wall._Answer(labels, 7, {"dcnn": 1})

    monkeypatch.setitem(METHODS, "static", lambda _: knows)
    monkeypatch.setattr(wall, "_full_s", lambda *_: 2.0)
    monkeypatch.setattr(wall, "LoadedModel", lambda *_, **__: None)
    experiment = Experiment(("static",), (Budget(0.25, True),), 2, scope="total", clock="wall")
    rows = evaluate_wall(model, Description("folder", scenes, ("train",)), experiment, tmp_path)["rows"]
    assert [row["video"] for row in rows] == [*"abcd", "all"] * 2
    assert all(row["accuracy"]["global"] < 1 for row in rows[5:])
    n_labels, pooled = len(NAMES), np.zeros((len(NAMES), len(NAMES)), np.int64)
    for name in "abcd":
        said = knows(timed(open_dataset("folder", scenes).videos("train")["abcd".index(name)]).source, 0.0, 1).labels
        pairs = truth[name].astype(np.int64) * n_labels + said
        pooled += np.bincount(pairs[truth[name] != IGNORE], minlength=n_labels**2).reshape(n_labels, n_labels)
    assert rows[-1]["accuracy"]["miou"] == pytest.approx(accuracy_of(pooled).miou)
    counts = np.stack([np.diag(pooled), pooled.sum(axis=1), pooled.sum(axis=0)], axis=1).tolist()
    assert rows[-1]["pixels"] == {name: own for name, own in zip(NAMES, counts, strict=True) if any(own)}
    assert (rows[-1]["n_supervoxels"], rows[-1]["descriptor_counts"]) == (28, {"dcnn": 4})
    assert (rows[-1]["budget_s"], rows[0]["budget_s"]) == (2.0, 0.5)


def test_images_are_read_one_by_one_and_others_left_alone(scenes: Path) -> None:
    video = open_dataset("folder", scenes).videos("train")[0]
    found = timed(video)
    assert (found.name, found.source.size, found.source.n_frames) == ("a", SIZE, 3)
    assert found.source.can_skip
    whole = video.video().frames
    assert np.array_equal(found.source.read().frames, whole)
    assert [np.array_equal(frame.pixels, whole[frame.index]) for frame in found.source.pick([0, 2])] == [True, True]


def test_other_videos_are_read_anew_each_time_they_are_asked_for(scenes: Path) -> None:
    video, read = open_dataset("folder", scenes).videos("train")[0], list[int]()
    found = timed(_Counting(video, read))
    assert (found.name, found.source.size, found.source.n_frames) == ("a", SIZE, 3)
    assert found.source.clip.path.suffix == ".mp4"  # which the costs of decoding are known by
    n_before = len(read)
    for _ in range(2):
        assert np.array_equal(found.source.read().frames, video.video().frames)
    assert len(read) == n_before + 2


class _Counting(LabelledVideo):
    """The same video in one file; it tells when it is read."""

    def __init__(self, video: LabelledVideo, read: list[int]) -> None:
        self._video, self._read = video, read
        self.name, self.n_frames, self.labelled = video.name, video.n_frames, video.labelled

    def video(self) -> Video:
        self._read.append(1)
        return self._video.video()

    def labels(self) -> UInt8:
        return self._video.labels()

    def sources(self) -> tuple[str, ...]:
        return tuple(f"a.mp4[{index}]" for index in range(self.n_frames))


def test_large_is_the_network_that_takes_longest_whatever_its_name(
    scenes: Path, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from budgetseg.networks.run import OnnxNetwork
    from tests.networks.models import save_mixer

    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))
    weights = np.ones((len(NAMES), 3), np.float32)
    for name in ("dcnn", "a"):
        save_mixer(tmp_path / f"{name}.onnx", weights, (1, 3, 24, 32))
        (tmp_path / f"{name}.toml").write_text('output = "scores"\n')
    lengths = {"colour": BUILT_IN["colour"]().length, "a": len(NAMES), "dcnn": len(NAMES)}
    two = random_model(lengths, model.classes, tmp_path)
    usual = OnnxNetwork.__call__

    def call(network: OnnxNetwork, frame: UInt8) -> Any:
        for _ in range(50 if network.card.file.stem == "a" else 1):
            found = usual(network, frame)
        return found

    monkeypatch.setattr(OnnxNetwork, "__call__", call)
    methods = ("every-frame", "every-frame-large", "keyframes", "keyframes-large")
    assert set(methods) < set(check_methods(["all"], two))
    experiment = Experiment(methods, (Budget(np.inf),), 1, scope="total", clock="wall")
    rows = evaluate_wall(two, Description("folder", scenes, ("selection",), per_frame=12), experiment, tmp_path)["rows"]
    asked = {row["method"]: list(row["descriptor_counts"]) for row in rows}
    assert asked == {name: ["a" if name.endswith("-large") else "dcnn"] for name in methods}


def test_methods_are_refused_where_there_is_no_such_one_or_no_network(model: Model) -> None:
    assert check_methods(["all"], model) == METHODS_HERE
    assert check_methods(["keyframes"], model) == ("keyframes",)
    with pytest.raises(
        UsageError, match=r"^no method 'crf' for the wall clock; choose from all, static, budget-wanted-full, "
    ):
        check_methods(["crf"], model)
    with pytest.raises(UsageError, match="budget-wanted-full needs a learned policy"):
        check_methods(["budget-wanted-full"], model)
    for name in ("keyframes-large", "every-frame-large"):
        with pytest.raises(UsageError, match=f"^{name} needs a second network, which the model was trained without$"):
            check_methods([name], model)
    without = replace(model, networks=None)
    assert check_methods(["all"], without) == ("static",)
    with pytest.raises(UsageError, match=r"^every-frame needs a network, which the model was trained without$"):
        check_methods(["every-frame"], without)


@pytest.mark.parametrize(("scope", "clock"), [("total", "cost"), ("descriptors", "wall"), ("all", "cost")])
def test_scope_and_clock_must_go_together(scope: str, clock: str) -> None:
    with pytest.raises(UsageError, match="choose descriptors with cost, or total with wall"):
        Experiment(("static",), scope=scope, clock=clock)
