"""A network sees what its card asks for, and one that cannot be used is refused in a line."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from budgetseg.errors import ModelError
from budgetseg.models import bundled
from budgetseg.networks.backends.core import Choice
from budgetseg.networks.backends.registry import BACKENDS
from budgetseg.networks.card import Card, read_card
from budgetseg.networks.fastest import Measuring, measure
from budgetseg.networks.run import OnnxNetwork
from budgetseg.timing.clock import ManualClock
from budgetseg.timing.deadline import LateError, cutting_off
from budgetseg.types import Float32, UInt8
from budgetseg.video import open_video
from tests.networks.models import (
    FLOAT,
    INT64,
    SHAPE,
    noise,
    save_mixer,
    save_model,
    save_operator,
    tensor,
)

SAME = np.eye(3, dtype=np.float32)
MIX = np.array([[1, 2, 3], [0, 0, -1], [4, 0, 0], [-1, 5, 1]], np.float32)
MEAN, STD = (0.1, 0.2, 0.3), (0.5, 0.25, 2.0)


def seen(frame: UInt8) -> Float32:
    """What a network sees of a frame with `MEAN` and `STD`."""
    return np.asarray((frame / 255 - MEAN) / STD, np.float32)


def softmax(scores: Float32) -> Float32:
    powers = np.exp(scores)
    return np.asarray(powers / powers.sum(axis=2, keepdims=True), np.float32)


def refusal(card: Card) -> str:
    with pytest.raises(ModelError) as caught:
        OnnxNetwork(card)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{card.file}: ")
    return line


def test_every_channel_enters_with_its_own_mean_and_std(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", MIX), mean=MEAN, std=STD))
    frame = noise(6, 8)
    assert network.size == (8, 6)
    assert np.allclose(network(frame), softmax(seen(frame) @ MIX.T), atol=1e-4)


def test_bgr_swaps_the_channels_and_each_keeps_its_mean(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", SAME), mean=MEAN, std=STD, colours="bgr"))
    frame = noise(6, 8)
    assert np.allclose(network(frame), softmax(seen(frame)[..., ::-1]), atol=1e-5)


def test_a_large_frame_is_averaged_down_to_the_size(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME, (1, 3, "height", "width"))
    network = OnnxNetwork(Card(path, size=(4, 3), mean=(0, 0, 0), std=(1, 1, 1), output="probabilities"))
    frame = noise(6, 8)
    blocks = frame.reshape(3, 2, 4, 2, 3).mean(axis=(1, 3)) / 255
    assert np.abs(network(frame) - blocks).max() < 0.6 / 255


def test_a_small_frame_is_interpolated_up_to_the_size(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", SAME), mean=MEAN, std=STD))
    frame = noise(3, 5)
    larger = np.asarray(cv2.resize(frame, (8, 6), interpolation=cv2.INTER_LINEAR), np.uint8)
    assert np.allclose(network(frame), softmax(seen(larger)), atol=1e-5)


def test_the_answer_keeps_the_size_that_the_network_gives_it(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", MIX, stride=2), mean=MEAN, std=STD))
    frame = noise(6, 8)
    found = network(frame)
    assert found.shape == (3, 4, 4)
    assert found.flags.c_contiguous
    assert np.allclose(found, softmax(seen(frame[::2, ::2]) @ MIX.T), atol=1e-4)


def test_scores_get_a_softmax(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", MIX), mean=MEAN, std=STD, output="scores"))
    frame = noise(6, 8)
    assert np.allclose(network(frame), softmax(seen(frame) @ MIX.T), atol=1e-5)
    assert np.allclose(network(frame).sum(axis=2), 1, atol=1e-6)


def test_large_scores_do_not_overflow(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", 1e4 * MIX), output="scores"))
    assert np.allclose(network(noise(6, 8)).sum(axis=2), 1, atol=1e-6)


def test_equal_names_are_added_up_and_empty_ones_left_out(tmp_path: Path) -> None:
    card = Card(save_mixer(tmp_path / "net.onnx", MIX), output="scores")
    all_four, some = OnnxNetwork(card), OnnxNetwork(replace(card, classes=("road", "", "car", "road")))
    frame = noise(6, 8)
    apart, together = all_four(frame), some(frame)
    assert all_four.names == ("0", "1", "2", "3")
    assert some.names == ("road", "car")
    assert np.allclose(together, np.stack([apart[..., 0] + apart[..., 3], apart[..., 2]], axis=2), atol=1e-6)


def test_names_one_to_one_change_nothing_else(tmp_path: Path) -> None:
    card = Card(save_mixer(tmp_path / "net.onnx", SAME))
    named = OnnxNetwork(replace(card, classes=("sky", "road", "car")))
    assert named.names == ("sky", "road", "car")
    assert np.array_equal(named(noise(6, 8)), OnnxNetwork(card)(noise(6, 8)))


def test_outputs_after_the_first_are_not_looked_at(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Shape", ["x"], ["z"])]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x")], [tensor("y"), tensor("z", INT64, (4,))])
    assert OnnxNetwork(Card(path))(noise(6, 8)).shape == (6, 8, 3)


@pytest.mark.parametrize(("multiple", "found"), [(64, (512, 384)), (14, (476, 364))])
def test_sides_that_are_no_multiples_of_32_are_tried_too(tmp_path: Path, multiple: int, found: tuple[int, int]) -> None:
    network = OnnxNetwork(Card(save_patches(tmp_path / "net.onnx", multiple))).at((480, 360))
    assert network.size == found
    assert network(noise(360, 480)).shape == (found[1] // multiple, found[0] // multiple, 3)


def test_what_a_card_says_of_multiples_is_kept(tmp_path: Path) -> None:
    card = Card(save_patches(tmp_path / "net.onnx", 14), multiple=40)
    assert "does not run on frames of 320x240 (" in refusal(card)
    assert refusal(card).endswith("set 'size', or 'multiple' of both sides, in its TOML file to what it takes")


def save_patches(path: Path, side: int) -> Path:
    """A network that cuts frames into patches of `side` by `side` pixels, and fails where they do not come out even."""
    nodes = [
        helper.make_node("SpaceToDepth", ["x"], ["deep"], blocksize=side),
        helper.make_node("Slice", ["deep", "begin", "end", "axis"], ["y"]),
    ]
    stored = [
        numpy_helper.from_array(np.array([value], np.int64), name)
        for name, value in (("begin", 0), ("end", 3), ("axis", 1))
    ]
    inputs = [tensor("x", shape=("n", 3, "h", "w"))]
    graph = helper.make_graph(nodes, "network", inputs, [tensor("y", shape=None)], stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def test_the_digest_tells_networks_apart_but_not_places(tmp_path: Path) -> None:
    card = Card(save_mixer(tmp_path / "net.onnx", SAME))
    (tmp_path / "elsewhere").mkdir()
    moved = Path(shutil.copy(card.file, tmp_path / "elsewhere" / "other.onnx"))
    other = save_mixer(tmp_path / "other.onnx", 2 * SAME)
    digest = OnnxNetwork(card).digest
    assert OnnxNetwork(replace(card, file=moved)).digest == digest
    assert OnnxNetwork(replace(card, file=other)).digest != digest
    assert OnnxNetwork(replace(card, output="scores")).digest != digest
    onnx.save(onnx.load(card.file), str(card.file), save_as_external_data=True, location="apart", size_threshold=0)
    apart = OnnxNetwork(card).digest
    (tmp_path / "apart").write_bytes((2 * SAME).tobytes())
    assert len({digest, apart, OnnxNetwork(card).digest}) == 3


def test_classes_of_another_number_are_refused(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", MIX)
    for classes in (("road", "car"), 2):
        assert "gives 4 classes, but 'classes' of its TOML file names 2" in refusal(Card(path, classes=classes))


@pytest.mark.parametrize("shape", [(1, 3, "height", "width"), ("batch", "channels", 6, "width"), (1, 3, -1, -1)])
def test_a_network_of_any_size_has_none_unless_its_card_says_so(tmp_path: Path, shape: tuple[int | str, ...]) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME, shape)
    assert OnnxNetwork(Card(path)).size is None
    assert OnnxNetwork(Card(path, size=(8, 6))).size == (8, 6)


@pytest.mark.parametrize(("side", "told"), [(8, "8x6"), ("width", "?x6")])
def test_a_size_that_the_network_does_not_take_is_refused(tmp_path: Path, side: int | str, told: str) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME, (1, 3, 6, side))
    line = refusal(Card(path, size=(8, 5)))
    assert f"takes frames of {told}, but 'size' in its TOML file says 8x5" in line


def test_a_size_that_the_network_cannot_run_on_is_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "weights"], ["y"])]
    inputs, outputs = [tensor("x", shape=(1, 3, "height", "width"))], [tensor("y", shape=None)]
    path = save_model(tmp_path / "net.onnx", nodes, inputs, outputs, np.zeros((1, 3, 6, 8), np.float32))
    assert "does not run on frames of 5x4 (" in refusal(Card(path, size=(5, 4)))


@pytest.mark.parametrize(
    ("inputs", "got"),
    [
        ([tensor("x"), tensor("z")], "'x' tensor(float) [1, 3, 6, 8], 'z' tensor(float) [1, 3, 6, 8]"),
        ([tensor("x", shape=(1, 1, 6, 8))], "'x' tensor(float) [1, 1, 6, 8]"),
        ([tensor("x", shape=(3, 6, 8))], "'x' tensor(float) [3, 6, 8]"),
        ([tensor("x", shape=(1, 3, 0, 0))], "'x' tensor(float) [1, 3, 0, 0]"),
        ([tensor("x", INT64)], "'x' tensor(int64) [1, 3, 6, 8]"),
    ],
)
def test_an_input_that_is_no_frame_is_refused(tmp_path: Path, inputs: list[object], got: str) -> None:
    nodes = [helper.make_node("Shape", ["x"], ["y"])]
    line = refusal(Card(save_model(tmp_path / "net.onnx", nodes, inputs, [tensor("y", INT64, None)])))
    assert "must have one input, an image of shape (1, 3, height, width) or (1, height, width, 3)" in line
    assert line.endswith(f"Got {got}; export it so")


def test_a_network_without_an_input_is_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["weights"], ["y"])]
    path = save_model(tmp_path / "net.onnx", nodes, [], [tensor("y")], np.zeros(SHAPE, np.float32))
    assert refusal(Card(path)).endswith("Got none; export it so")


@pytest.mark.parametrize(
    ("operator", "kind", "settings", "got"),
    [
        ("GlobalAveragePool", FLOAT, {}, "float32 (1, 3, 1, 1)"),
        ("ReduceMean", FLOAT, {"axes": [2, 3], "keepdims": 0}, "float32 (1, 3)"),
        ("ArgMax", INT64, {"axis": 2, "keepdims": 0}, "int64 (1, 3, 8)"),
        ("Shape", INT64, {}, "int64 (4,)"),
    ],
)
def test_an_output_without_a_value_for_each_pixel_is_refused(
    tmp_path: Path, operator: str, kind: int, settings: dict[str, object], got: str
) -> None:
    line = refusal(Card(save_operator(tmp_path / "net.onnx", operator, kind, **settings)))
    assert "must have an output with a value for each pixel" in line
    assert f"Got {got} of frames of 8x6; export a segmentation network, without steps after it" in line


def test_an_output_of_two_frames_is_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Concat", ["x", "x"], ["y"], axis=0)]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x")], [tensor("y", shape=None)])
    assert "Got float32 (2, 3, 6, 8) of" in refusal(Card(path))


def test_an_output_that_is_a_list_is_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("SequenceConstruct", ["x"], ["y"])]
    outputs = [helper.make_tensor_sequence_value_info("y", FLOAT, None)]
    assert "Got list of" in refusal(Card(save_model(tmp_path / "net.onnx", nodes, [tensor("x")], outputs)))


def test_scores_given_as_probabilities_are_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("Add", ["x", "weights"], ["y"])]
    weights = np.array([-2, 0, 7], np.float32)[None, :, None, None]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x")], [tensor("y", shape=None)], weights)
    assert "which are no probabilities; if they are scores, set" in refusal(Card(path, output="probabilities"))
    assert OnnxNetwork(Card(path)).output.kind == "scores"


def test_what_is_no_onnx_file_is_refused_in_silence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = save_mixer(tmp_path / "whole.onnx", MIX).read_bytes()
    for content in (b"a text\nof two lines\n", b"", whole[: len(whole) // 2], whole[:-1]):
        path = tmp_path / "net.onnx"
        path.write_bytes(content)
        assert "is no ONNX file, or is damaged; export it, or fetch it, again" in refusal(Card(path))
    assert capfd.readouterr() == ("", "")


def test_an_operator_that_nobody_knows_is_refused_by_name(tmp_path: Path) -> None:
    assert "Frobnicate" in refusal(Card(save_operator(tmp_path / "net.onnx", "Frobnicate")))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert "no such file" in refusal(Card(tmp_path / "net.onnx"))


@pytest.mark.parametrize("colours", ["rgb", "bgr"])
def test_what_enters_is_exact_to_five_digits(tmp_path: Path, colours: str) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", SAME), mean=MEAN, std=STD, colours=colours))
    frame = noise(6, 8)
    wanted = seen(frame) if colours == "rgb" else seen(frame)[..., ::-1]
    assert np.abs(network.tensor(frame)[0].transpose(1, 2, 0) - wanted).max() < 1e-5


def test_a_run_that_is_cut_off_ends_at_once_and_the_next_is_as_before() -> None:
    network = OnnxNetwork(read_card(bundled("camvid", "dcnn_large.onnx")))
    frame = noise(360, 480)
    before = network(frame)
    for _ in range(3):
        with cutting_off([network], lambda: 0.0, ManualClock()), pytest.raises(LateError):
            network(frame)
    network.cut_off()  # nothing is under way
    assert np.array_equal(network(frame), before)


# Back ends


def test_by_the_reference_a_network_is_itself() -> None:
    network = OnnxNetwork(read_card(bundled("camvid", "dcnn.onnx")))
    assert network.choice == Choice("onnxruntime", "f32")
    assert network.by(network.choice) is network
    assert network.key == f"{network.digest} 480x360"


def test_another_back_end_gives_the_same_probabilities() -> None:
    if not BACKENDS["openvino"].precisions():
        pytest.skip("OpenVINO is not installed")
    network = OnnxNetwork(read_card(bundled("camvid", "dcnn.onnx"))).onto((45, 60))
    other = network.by(Choice("openvino", "f32"), streams=2)
    frame = noise(360, 480)
    assert other.shape == network.shape
    assert other.key == f"{network.key} openvino f32"
    assert np.allclose(other(frame), network(frame), atol=1e-4)


def test_another_back_end_is_cut_off_as_well() -> None:
    if not BACKENDS["openvino"].precisions():
        pytest.skip("OpenVINO is not installed")
    network = OnnxNetwork(read_card(bundled("camvid", "dcnn_large.onnx")))
    other = network.by(Choice("openvino", network.choice.precision))
    before = other(noise(360, 480))
    with cutting_off([other], lambda: 0.0, ManualClock()), pytest.raises(LateError):
        other(noise(360, 480))
    assert np.array_equal(other(noise(360, 480)), before)


def test_bf16_agrees_on_frames_like_those_it_was_trained_on(data_root: Path) -> None:
    able = BACKENDS["openvino"].precisions()
    if "bf16" not in able:
        pytest.skip("OpenVINO is not installed, or the processor has no bf16")
    network = OnnxNetwork(read_card(bundled("camvid", "dcnn.onnx")))
    frames = [frame.pixels for frame in open_video(data_root / "camvid" / "train").pick(range(0, 360, 90))]
    settings = Measuring()
    reference, rough = measure(network, [Choice("openvino", "bf16")], frames, 1, settings)
    assert reference.agrees(settings)
    assert rough.agrees(settings)


def test_nothing_of_other_back_ends_is_imported_before_it_is_asked_for() -> None:
    lines = (
        "import sys, budgetseg.app.model, budgetseg.cli.app",
        "from budgetseg.networks.backends.registry import Wanted, candidates, versions",
        "Wanted('onnxruntime').check(), versions(), candidates(Wanted('onnxruntime'), 'f32', None)",
        "sys.exit('openvino' in sys.modules)",
    )
    assert subprocess.run([sys.executable, "-c", "; ".join(lines)], check=False).returncode == 0
