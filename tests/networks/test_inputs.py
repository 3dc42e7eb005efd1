"""Frames reach a network in its own layout, type, values and size, whatever its file leaves open."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from onnx import TensorProto, helper

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card
from budgetseg.networks.run import OnnxNetwork
from tests.networks.models import FLOAT, noise, save_mixer, save_model, tensor

SAME = np.eye(3, dtype=np.float32)


def identity(path: Path, kind: int, shape: tuple[int | str, ...]) -> Path:
    """A network that gives back what it takes, as float32."""
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=FLOAT)]
    return save_model(path, nodes, [tensor("x", kind, shape)], [tensor("y", shape=None)])


def test_bytes_enter_as_they_are_in_the_order_of_the_card(tmp_path: Path) -> None:
    path = identity(tmp_path / "net.onnx", TensorProto.UINT8, (1, 6, 8, 3))
    frame = noise(6, 8)
    for colours, wanted in (("rgb", frame), ("bgr", frame[..., ::-1])):
        found = OnnxNetwork(Card(path, colours=colours)).tensor(frame)
        assert found.dtype == np.uint8
        assert np.array_equal(found, wanted[None])


def test_bytes_may_come_with_channels_first(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(identity(tmp_path / "net.onnx", TensorProto.UINT8, (1, 3, 6, 8))))
    frame = noise(6, 8)
    assert np.array_equal(network.tensor(frame)[0], frame.transpose(2, 0, 1))


def test_bytes_with_a_mean_are_refused(tmp_path: Path) -> None:
    path = identity(tmp_path / "net.onnx", TensorProto.UINT8, (1, 6, 8, 3))
    with pytest.raises(ModelError, match="takes bytes, which enter as they are; remove 'mean', 'std' and 'scale'"):
        OnnxNetwork(Card(path, mean=(0.5, 0.5, 0.5)))


@pytest.mark.parametrize(("kind", "type_"), [(TensorProto.FLOAT16, np.float16), (TensorProto.DOUBLE, np.float64)])
def test_floats_of_other_precision_enter_with_mean_and_std(tmp_path: Path, kind: int, type_: type) -> None:
    network = OnnxNetwork(Card(identity(tmp_path / "net.onnx", kind, (1, 6, 8, 3)), mean=(0.5,) * 3, std=(0.5,) * 3))
    frame = noise(6, 8)
    found = network.tensor(frame)
    assert found.dtype == type_
    assert np.abs(found[0] - (frame / 127.5 - 1)).max() < 2e-3


def test_a_scale_of_255_gives_mean_and_std_in_grey_levels(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME)
    mean, std = (123.7, 116.3, 103.5), (58.4, 57.1, 57.4)
    frame = noise(6, 8)
    wanted = (frame - np.array(mean)) / std
    for colours, shown in (("rgb", wanted), ("bgr", wanted[..., ::-1])):
        card = Card(path, scale=255, mean=mean, std=std, colours=colours)
        assert np.abs(OnnxNetwork(card).tensor(frame)[0].transpose(1, 2, 0) - shown).max() < 1e-4
    plain = OnnxNetwork(Card(path, scale=255)).tensor(frame)
    assert np.abs(plain[0].transpose(1, 2, 0) - frame).max() < 1e-4


@pytest.mark.parametrize(
    ("shape", "layout", "is_told"),
    [
        ((1, 3, 6, 8), "nchw", True),
        (("n", 3, "h", "w"), "nchw", True),
        ((1, 6, 8, 3), "nhwc", True),
        (("n", "h", "w", 3), "nhwc", True),
        (("n", "c", "h", "w"), "nchw", False),
    ],
)
def test_the_layout_is_where_the_three_channels_are(
    tmp_path: Path, shape: tuple[int | str, ...], layout: str, is_told: bool
) -> None:
    found = OnnxNetwork(Card(identity(tmp_path / "net.onnx", FLOAT, shape))).frame
    assert (found.layout, found.is_told) == (layout, is_told)


def test_the_card_decides_where_the_file_says_nothing(tmp_path: Path) -> None:
    path = identity(tmp_path / "net.onnx", FLOAT, ("n", "a", "b", "c"))
    assert OnnxNetwork(Card(path, layout="nhwc")).tensor(noise(32, 64)).shape == (1, 32, 64, 3)


def test_a_layout_that_the_file_contradicts_is_refused(tmp_path: Path) -> None:
    path = identity(tmp_path / "net.onnx", FLOAT, (1, 3, 6, 8))
    with pytest.raises(ModelError, match=r"takes \[1, 3, 6, 8\], which is not 'layout' 'nhwc'"):
        OnnxNetwork(Card(path, layout="nhwc"))


@pytest.mark.parametrize(
    ("video", "size"),
    [
        ((640, 480), (640, 480)),
        ((176, 144), (192, 128)),
        ((1920, 1080), (1024, 576)),
        ((1080, 1920), (576, 1024)),
        ((8, 8), (32, 32)),
    ],
)
def test_a_network_of_any_size_takes_that_of_the_video_in_multiples_of_32(
    tmp_path: Path, video: tuple[int, int], size: tuple[int, int]
) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", SAME, (1, 3, "h", "w"))))
    assert network.size_for(video) == network.at(video).size == size
    assert network.tensor(np.zeros((video[1], video[0], 3), np.uint8)).shape == (1, 3, size[1], size[0])


def test_the_card_sets_the_longest_side_and_what_sides_are_multiples_of(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME, (1, 3, "h", "w"))
    assert OnnxNetwork(Card(path, longest=300, multiple=100)).size_for((1920, 1080)) == (300, 200)


def test_a_side_that_the_file_fixes_stays(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME, (1, 3, 96, "w"))
    assert OnnxNetwork(Card(path)).size_for((640, 480)) == (640, 96)


def test_a_network_of_one_size_is_the_same_for_all_videos(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", SAME)))
    assert network.at((640, 480)) is network


def test_prices_go_by_file_card_and_size(tmp_path: Path) -> None:
    card = Card(save_mixer(tmp_path / "net.onnx", SAME, (1, 3, "h", "w")))
    network = OnnxNetwork(card)
    keys = {network.at(size).key for size in ((640, 480), (641, 481), (320, 240))}
    assert keys == {f"{network.digest} 640x480", f"{network.digest} 320x256"}


def test_frames_are_reduced_by_means_of_areas(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(identity(tmp_path / "net.onnx", TensorProto.UINT8, (1, 6, 8, 3))))
    frame = noise(24, 32)
    assert np.array_equal(network.tensor(frame)[0], cv2.resize(frame, (8, 6), interpolation=cv2.INTER_AREA))
