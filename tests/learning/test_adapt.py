"""What networks are worth is measured on videos, without labels and with them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.learning.adapt import AdaptRecipe, Answers, Float16, adapt_model, expected_gains, table_gains
from budgetseg.models.bundle import NetworkModel
from budgetseg.models.networks import networks_alone
from budgetseg.spaces.frames.settings import Losses
from budgetseg.timing.clock import ManualClock
from budgetseg.types import UInt8
from budgetseg.video import VideoSource, open_video
from tests.app.streets import SIZE, write_street
from tests.models.made import HAND_MADE, random_table
from tests.networks.models import save_mixer

N_FRAMES = 12
SHAPE = (12, 20)
SHARP = np.array([[4, 0, 0], [0, 4, 0], [0, 0, 4]], np.float32)
ALIKE = np.array([[4, 1, 0], [0, 4, 1], [1, 0, 4]], np.float32)


@pytest.fixture
def pair(tmp_path: Path) -> NetworkModel:
    """Two networks that differ on some pixels."""
    shape = (1, 3, SIZE[1], SIZE[0])
    for name, weights, stride in (("small", ALIKE, 8), ("large", SHARP, 2)):
        save_mixer(tmp_path / f"{name}.onnx", weights, shape, stride)
        (tmp_path / f"{name}.toml").write_text('output = "scores"\nscale = 0.01\n')
    return networks_alone([tmp_path / "small.onnx", tmp_path / "large.onnx"], "pair")


@pytest.fixture
def street(tmp_path: Path) -> VideoSource:
    return open_video(write_street(tmp_path / "street.mp4", N_FRAMES))


def test_every_network_is_asked_about_frames_of_all_videos(pair: NetworkModel, street: VideoSource) -> None:
    done: list[int] = []
    found = adapt_model(pair, [street, street], AdaptRecipe(n_frames=5), stage=lambda *_: done.append)
    assert (found.n_asked, found.n_frames, sum(done)) == (10, 2 * N_FRAMES, 10)
    assert set(found.model.gains) == set(found.network_s) == {"small", "large"}
    cheapest, dearest = found.network_s
    assert found.model.gains[cheapest] == 0 <= found.model.gains[dearest]
    assert found.as_dict()["gains"] == found.model.gains
    assert isinstance(found.model, NetworkModel)
    assert found.model.cards == pair.cards


def test_where_there_is_no_time_a_few_frames_of_each_video_are_asked_about(
    pair: NetworkModel, street: VideoSource
) -> None:
    clock = ManualClock()
    found = adapt_model(pair, [street, street], AdaptRecipe(fewest=4, limit_s=0.0), clock=clock)
    assert found.n_asked == 8


def test_one_network_cannot_be_compared(pair: NetworkModel, street: VideoSource) -> None:
    alone = replace(pair, cards={"small": pair.cards["small"]})
    with pytest.raises(UsageError, match="there is only 'small'; give two or more"):
        adapt_model(alone, [street], AdaptRecipe())


def test_a_video_of_few_frames_is_refused(pair: NetworkModel, street: VideoSource, tmp_path: Path) -> None:
    short = open_video(write_street(tmp_path / "short.mp4", 3))
    with pytest.raises(UsageError, match=r"'short.*' has 3 frames; give videos of 4 or more"):
        adapt_model(pair, [street, short], AdaptRecipe())


# Gains


def answers(labels: UInt8, certainty: float = 0.9, n: int = 3) -> Float16:
    """Probabilities (n, h, w, 3) of a network that is so sure of these labels on every frame."""
    other = (1 - certainty) / 2
    own = np.where(labels[..., None] == np.arange(3), certainty, other)
    return np.broadcast_to(own, (n, *own.shape)).astype(np.float16)


def halves(shift: int = 0) -> UInt8:
    labels = np.zeros(SHAPE, np.uint8)
    labels[:, SHAPE[1] // 2 + shift :] = 1
    return labels


def test_the_more_a_network_differs_from_the_dearest_the_more_that_gains() -> None:
    def gain(shift: int) -> float:
        video = {"small": answers(halves(shift)), "large": answers(halves())}
        return expected_gains([video], ("small", "large"), Losses())["large"]

    assert 0 == gain(0) < gain(1) < gain(3)


def test_videos_count_by_their_frames() -> None:
    same = {"small": answers(halves(), n=9), "large": answers(halves(), n=9)}
    other = {"small": answers(halves(2), n=1), "large": answers(halves(), n=1)}
    alone = expected_gains([other], ("small", "large"), Losses())["large"]
    assert expected_gains([same, other], ("small", "large"), Losses())["large"] == pytest.approx(alone / 10)


def test_labels_tell_which_network_is_better_on_training_videos() -> None:
    table = random_table({**HAND_MADE, "good": 3, "poor": 3})
    sure = np.eye(3, dtype=np.float32)[table.truth.argmax(axis=1)]
    values = {**table.values, "good": sure, "poor": np.roll(sure, 1, axis=1)}
    gains = table_gains([replace(table, values=values)], ["poor", "good"])
    assert gains["poor"] == 0 < 10 < gains["good"]
    assert table_gains([table], ["good"]) == {}


def test_answers_know_their_number() -> None:
    assert Answers({}, {"small": [0.1, 0.2]}).n_frames == 2
