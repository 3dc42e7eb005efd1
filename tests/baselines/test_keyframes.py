"""Labels carried from key frames: right where the truth is known, and within the budget."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.baselines.keyframe_plan import COPY, FLOW, KeyframeCosts
from budgetseg.baselines.keyframes import (
    EVERY_FRAME,
    KeyframeRun,
    key_frames,
    label_keyframes,
    label_keyframes_within,
    measure_costs,
)
from budgetseg.datasets import open_dataset
from budgetseg.datasets.synthetic import render
from budgetseg.errors import UsageError
from budgetseg.evaluation.accuracy import Accuracy, accuracy_of
from budgetseg.models import bundled
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.propagate.cells import step_flow
from budgetseg.types import IGNORE, Float32, UInt8, Video
from budgetseg.video import VideoSource, open_video
from tests.baselines.worlds import knowing, moving

NETWORK_S, FLOW_S = 0.010, 0.001
COSTS = KeyframeCosts(NETWORK_S, FLOW_S, 1e-6)


class Timeline:
    """A clock that only moves when the network is asked, flow is found, or a video is decoded."""

    def __init__(self, slowdown: float = 1.0) -> None:
        self.now, self.slowdown = 0.0, slowdown

    def __call__(self) -> float:
        return self.now

    def charged(self, work: Callable[..., Float32], cost_s: float) -> Callable[..., Float32]:
        def and_pay(*arguments: UInt8) -> Float32:
            self.now += self.slowdown * cost_s
            return work(*arguments)

        return and_pay


@pytest.fixture(scope="module")
def dcnn() -> OnnxNetwork:
    return OnnxNetwork(read_card(bundled("camvid", "dcnn.onnx")))


def run_within(
    monkeypatch: pytest.MonkeyPatch, budget_s: float, slowdown: float = 1.0, threads: int = 1
) -> KeyframeRun:
    """A run on 100 frames, `slowdown` times as slow as expected."""
    video, truth = moving(100, (1, 0), (64, 48))
    clock = Timeline(slowdown)
    monkeypatch.setattr("budgetseg.baselines.keyframes.step_flow", clock.charged(step_flow, FLOW_S))
    network = clock.charged(knowing(video, truth), NETWORK_S)
    return label_keyframes_within(video, network, budget_s, COSTS, clock=clock, threads=threads)


def score(labels: UInt8, truth: UInt8, n_labels: int) -> Accuracy:
    kept = truth != IGNORE
    pairs = truth[kept].astype(np.int64) * n_labels + labels[kept]
    return accuracy_of(np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels))


@pytest.mark.parametrize(("n_frames", "n_keys"), [(1, 1), (10, 1), (10, 3), (101, 21), (7, 7)])
def test_key_frames_lie_in_the_middle_of_even_shares(n_frames: int, n_keys: int) -> None:
    keys = key_frames(n_frames, n_keys)
    assert len(set(keys)) == n_keys
    far = np.abs(np.arange(n_frames)[:, None] - np.array(keys)).min(axis=1).max()
    assert far <= -(-n_frames // n_keys) / 2


def test_k_of_one_is_the_network_on_each_frame(dcnn: OnnxNetwork) -> None:
    video, _ = render(3, 3, (480, 360))
    labels = label_keyframes(video, dcnn, 1)
    for frame, own in zip(video.frames, labels, strict=True):
        assert np.mean(own != cv2.resize(dcnn(frame), (480, 360)).argmax(axis=2)) < 1e-4


@pytest.mark.parametrize("carry", [FLOW, COPY])
@pytest.mark.parametrize("k", [2, 3, 7, 12])
def test_a_still_video_has_the_same_labels_for_every_k(dcnn: OnnxNetwork, k: int, carry: str) -> None:
    frame = render(3, 1, (480, 360))[0].frames
    still = Video(np.repeat(frame, 12, axis=0), np.arange(12) / 25)
    labels = label_keyframes(still, dcnn, k, carry)
    assert np.mean(labels != label_keyframes(still, dcnn, 1)) < 1e-5


@pytest.mark.parametrize("move", [(3, 0), (0, -2), (-2, 2)])
@pytest.mark.parametrize("k", [2, 5, 10, 21])
def test_labels_move_with_the_picture(move: tuple[int, int], k: int) -> None:
    video, truth = moving(21, move)
    network = knowing(video, truth)
    wrong = {carry: np.mean(label_keyframes(video, network, k, carry) != truth) for carry in (FLOW, COPY)}
    at_best = np.mean(label_keyframes(video, network, 1) != truth)
    assert wrong[FLOW] - at_best < 0.3 * (wrong[COPY] - at_best)


def test_a_frame_between_is_fused_from_the_key_frames_on_both_sides() -> None:
    video, truth = moving(11, (8, 0))
    network = knowing(video, truth)
    entering = np.s_[:, :, :16]  # what comes into view is only seen by the key frame after
    labels = label_keyframes(video, network, 5)
    middle = slice(key_frames(11, 3)[0] + 1, key_frames(11, 3)[-1])
    assert np.mean(labels[middle][entering] == truth[middle][entering]) > 0.9


def test_of_two_key_frames_that_disagree_the_nearer_is_right() -> None:
    still = Video(np.full((11, 48, 64, 3), 90, np.uint8), np.arange(11) / 25)
    answers = iter([0.9, 0.1])

    def network(frame: UInt8) -> Float32:
        first = np.full((frame.shape[0] // 4, frame.shape[1] // 4), next(answers), np.float32)
        return np.stack([first, 1 - first], axis=2)

    labels = label_keyframes(still, network, 6)
    assert key_frames(11, 2) == [2, 8]
    assert (labels[:5] == 0).all()
    assert (labels[6:] == 1).all()


def test_two_threads_label_as_one() -> None:
    video, truth = moving(30, (2, 1))
    network = knowing(video, truth)
    for k in (1, 3, 30):
        alone, together = (label_keyframes(video, network, k, threads=threads) for threads in (1, 2))
        assert np.array_equal(alone, together)


@pytest.mark.parametrize("n_frames", [1, 2])
@pytest.mark.parametrize("k", [1, 2, 50])
def test_the_shortest_videos_are_labelled(n_frames: int, k: int) -> None:
    video, truth = moving(n_frames, (1, 0))
    assert label_keyframes(video, knowing(video, truth), k).shape == truth.shape


def test_what_makes_no_sense_is_refused() -> None:
    video, truth = moving(2, (1, 0))
    with pytest.raises(UsageError, match="k must be 1 or more"):
        label_keyframes(video, knowing(video, truth), 0)
    with pytest.raises(UsageError, match="choose from flow, copy"):
        label_keyframes(video, knowing(video, truth), 2, "telepathy")
    with pytest.raises(UsageError, match="more than 0 s"):
        label_keyframes_within(video, knowing(video, truth), 0, COSTS)


@pytest.mark.parametrize("slowdown", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("budget_s", [0.3, 0.4, 0.6, 0.8])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_run_fills_its_budget_and_keeps_it(
    monkeypatch: pytest.MonkeyPatch, budget_s: float, slowdown: float, threads: int
) -> None:
    run = run_within(monkeypatch, budget_s, slowdown, threads)
    assert run.spent_s <= budget_s
    assert run.spent_s > 0.9 * budget_s or len(run.keys) > 95
    assert run.note == ""
    assert sum(run.frames.values()) == len(run.labels) == 100


def test_more_budget_means_more_key_frames_evenly_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = [np.diff(run_within(monkeypatch, budget_s).keys) for budget_s in (0.25, 0.5, 0.9)]
    assert len(gaps[0]) < len(gaps[1]) < len(gaps[2])
    for gap in gaps:
        assert np.mean(abs(gap - np.median(gap)) <= 2) > 0.9


def test_enough_budget_is_the_network_on_each_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_within(monkeypatch, 1.2)
    assert run.keys == tuple(range(100))


def test_a_budget_below_one_key_frame_copies_one_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_within(monkeypatch, 0.001)
    assert run.keys == (50,)
    assert run.frames == {"network": 1, FLOW: 0, COPY: 99}
    assert "too small: all frames have the labels of frame 50" in run.note
    assert (run.labels == run.labels[50]).all()


def test_when_time_runs_out_the_last_key_frame_serves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_within(monkeypatch, 0.5, slowdown=100)
    assert "too small: frames from" in run.note
    assert run.spent_s > run.budget_s
    assert (run.labels[run.keys[-1] :] == run.labels[run.keys[-1]]).all()


def test_decoding_is_paid_from_the_budget(tmp_path: Path) -> None:
    video, truth = moving(40, (1, 0), (64, 48))
    for index, frame in enumerate(video.frames):
        cv2.imwrite(str(tmp_path / f"{index}.png"), frame[..., ::-1])
    clock = Timeline()

    class Slow(VideoSource):
        def read(self) -> Video:
            clock.now += 0.3
            return super().read()

    opened = open_video(tmp_path)
    network = clock.charged(knowing(video, truth), NETWORK_S)
    run = label_keyframes_within(Slow(opened.clip, opened.span, opened.size), network, 0.4, COSTS, clock=clock)
    assert run.decode_s == pytest.approx(0.3)
    assert 0.35 < run.spent_s <= 0.4
    assert label_keyframes_within(tmp_path, network, 10, COSTS).keys == tuple(range(40))


@pytest.mark.parametrize(("budget_s", "n_asked"), [(0.105, 10), (0.53, 52), (1.2, 100)])
def test_every_frame_asks_about_as_many_as_fit_and_copies_the_nearest(budget_s: float, n_asked: int) -> None:
    video, truth = moving(100, (1, 0), (64, 48))
    clock = Timeline()
    network = clock.charged(knowing(video, truth), NETWORK_S)
    run = label_keyframes_within(video, network, budget_s, COSTS, clock=clock, settings=EVERY_FRAME)
    assert len(run.keys) == n_asked
    assert run.frames[FLOW] == 0
    assert run.spent_s <= budget_s
    alone = label_keyframes(video, knowing(video, truth), 1)
    for t, own in enumerate(run.labels):
        gaps = [abs(key - t) for key in run.keys]
        assert any(np.array_equal(own, alone[key]) for key, gap in zip(run.keys, gaps, strict=True) if gap == min(gaps))
    assert np.ptp(np.diff(run.keys)) <= 2


def test_every_frame_reads_no_image_that_it_does_not_ask_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    video, truth = moving(40, (1, 0), (64, 48))
    for index, frame in enumerate(video.frames):
        cv2.imwrite(str(tmp_path / f"{index}.png"), frame[..., ::-1])
    read = list[int]()
    monkeypatch.setattr("budgetseg.video.images.ImageFolder._read", lambda _, file: _note(read, file, video.frames))
    clock = Timeline()
    network = clock.charged(knowing(video, truth), NETWORK_S)
    run = label_keyframes_within(tmp_path, network, 0.1, COSTS, clock=clock, threads=2, settings=EVERY_FRAME)
    assert 8 <= len(run.keys) <= 10
    assert sorted(read) == list(run.keys)


def _note(read: list[int], file: Path, frames: UInt8) -> UInt8:
    read.append(int(file.stem))
    own: UInt8 = frames[int(file.stem)]
    return own


def test_measured_costs_are_those_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Timeline()
    monkeypatch.setattr("budgetseg.baselines.keyframes.step_flow", clock.charged(step_flow, FLOW_S))

    def network(frame: UInt8) -> Float32:
        clock.now += NETWORK_S
        return np.full((9, 12, 2), 0.5 + 0 * frame[0, 0, 0], np.float32)

    def copy(labels: UInt8, *_: object) -> UInt8:
        clock.now += 1e-4
        return labels

    monkeypatch.setattr("budgetseg.baselines.keyframes._copy", copy)
    costs = measure_costs(network, (48, 36), clock=clock)
    assert costs.network_s == pytest.approx(NETWORK_S)
    assert FLOW_S <= costs.flow_s < 1.5 * FLOW_S


def test_on_a_drive_flow_keeps_what_every_fifth_frame_knows(data_root: Path, dcnn: OnnxNetwork) -> None:
    dataset = open_dataset("camvid", data_root / "camvid")
    (dense,) = dataset.videos("val")
    whole, truth, n = dense.video(), dense.labels()[:51], len(dataset.classes)
    drive = Video(whole.frames[:51], whole.times_s[:51])
    every, carried, copied = (
        score(label_keyframes(drive, dcnn, k, carry), truth, n) for k, carry in ((1, FLOW), (5, FLOW), (5, COPY))
    )
    for figure in ("overall", "class_average", "miou"):
        assert getattr(carried, figure) > getattr(every, figure) - 0.03
        assert getattr(carried, figure) > getattr(copied, figure)
