"""Simulated runs from which it is learned what to promise."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from budgetseg.learning.disturb import DISTURBANCES, Disturbance
from budgetseg.learning.promises import Labelled, Rehearsals, calibration_of, examples_of
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.networks.card import card_for
from budgetseg.networks.run import OnnxNetwork
from budgetseg.types import IGNORE, Float32, UInt8
from budgetseg.video import open_video

N, SIZE = 12, (48, 64)
SHARES = np.array([0.5, 0.5], np.float32)
FEW = Rehearsals(DISTURBANCES[:2], (10, 100), (50,))


def video(name: str = "moving", right: bool = True) -> Labelled:
    """A bright square that moves over a dark ground, and a network that finds it, or takes it for the ground."""
    truth = np.zeros((N, *SIZE), np.uint8)
    for t in range(N):
        truth[t, 12:30, 2 * t : 2 * t + 24] = 1
    noise = np.random.default_rng(len(name)).integers(0, 40, (*truth.shape, 3))
    frames = (noise + 180 * truth[..., None]).astype(np.uint8)

    def ask(_: int, frame: UInt8) -> Float32:
        bright = frame[::4, ::4].mean(axis=2) > 110
        sure = np.where(bright == right, 0.9, 0.1).astype(np.float32)
        return np.stack([1 - sure, sure], axis=2)

    return Labelled(name, frames, truth, 25.0, ask)


def test_more_key_frames_lose_less_and_are_no_less_right() -> None:
    found = examples_of(video(), SHARES, FEW)
    few, every, copied = found[:3]
    assert len(found) == 6
    assert [example.is_plain for example in found] == [True] * 3 + [False] * 3
    assert every.signs.lost == 0 < few.signs.lost
    assert every.accuracy >= few.accuracy > 0.7
    assert copied.signs.lost > 0


def test_a_network_that_is_wrong_has_little_accuracy_whatever_it_says() -> None:
    good, bad = (examples_of(video(right=right), SHARES, FEW)[1] for right in (True, False))
    assert good.signs.confidence == pytest.approx(bad.signs.confidence, abs=0.05)
    assert bad.accuracy < 0.2 < 0.9 < good.accuracy


def test_pixels_without_labels_do_not_count() -> None:
    own = video()
    blind = np.where(own.truth == 1, IGNORE, own.truth).astype(np.uint8)
    (every, *_) = examples_of(
        Labelled("blind", own.frames, blind, 25.0, own.ask), SHARES, Rehearsals((Disturbance(),), (100,), ())
    )
    assert every.accuracy > 0.9


def test_a_calibration_comes_from_videos_and_says_what_the_truth_was() -> None:
    learned = calibration_of([video("one"), video("two!"), video("three")], SHARES, "large", FEW)
    assert learned is not None
    assert (learned.truth, learned.n_videos) == ("large", 3)
    (_, every, *_) = examples_of(video("another"), SHARES, FEW)
    promise = learned.promise(every.signs)
    assert promise.in_domain is True
    assert promise.accuracy == pytest.approx(every.accuracy, abs=0.1)


def test_few_videos_teach_no_calibration() -> None:
    assert calibration_of([video("one")], SHARES, rehearsals=FEW) is None


@pytest.mark.parametrize("clip", ["carphone_pristine.mp4", "bikes.mp4"])
def test_clips_of_no_street_are_out_of_domain(data_root: Path, clip: str) -> None:
    model = load_model(find_model("camvid"))
    assert model.calibration is not None
    assert model.networks is not None
    network = OnnxNetwork(card_for(model.networks / "dcnn.onnx"), 1)
    frames = np.stack([frame.pixels for frame in islice(open_video(data_root / "clips" / clip), 12)])
    nothing = np.full(frames.shape[:3], IGNORE, np.uint8)
    own = Labelled(clip, frames, nothing, 25.0, lambda _, frame: network(frame))
    for example in examples_of(own, model.classifiers.prior.astype(np.float32), Rehearsals((Disturbance(),))):
        promise = model.calibration.promise(example.signs)
        assert promise.in_domain is False
        assert promise.low == 0
