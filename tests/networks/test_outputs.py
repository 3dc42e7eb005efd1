"""Whatever a network gives for each pixel becomes class probabilities in cells."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx import save as save_onnx

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card
from budgetseg.networks.outputs import Grid, onto_cells
from budgetseg.networks.run import OnnxNetwork
from budgetseg.types import Float32
from tests.networks.models import FLOAT, INT64, noise, save_mixer, save_model, tensor

MIX = np.array([[1, 2, 3], [0, 0, -1], [4, 0, 0], [-1, 5, 1]], np.float32)
MEAN, STD = (0.5,) * 3, (0.25,) * 3
SHAPE = (1, 3, 12, 16)

Step = tuple[str, dict[str, Any]]
"""An operator of ONNX, and its settings."""


def chain(path: Path, *steps: Step, weights: Float32 = MIX, kind: int = FLOAT, shape: Any = SHAPE) -> Card:
    """A network that mixes channels to scores, and then does some steps."""
    nodes = [helper.make_node("Conv", ["x", "weights"], ["y0"])]
    for k, (operator, settings) in enumerate(steps):
        nodes.append(helper.make_node(operator, [f"y{k}"], [f"y{k + 1}"], **settings))
    outputs = [tensor(f"y{len(steps)}", kind, None)]
    return Card(
        save_model(path, nodes, [tensor("x", shape=shape)], outputs, weights[:, :, None, None]),
        None,
        mean=MEAN,
        std=STD,
    )


def scores_of(frame: Any) -> Float32:
    return np.asarray(((np.asarray(frame) / 255 - MEAN) / STD) @ MIX.T, np.float32)


def softmax(scores: Any) -> Float32:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), np.float32)


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([], "scores"),
        ([("Softmax", {"axis": 1})], "probabilities"),
        ([("Sigmoid", {})], "independent"),
        ([("Transpose", {"perm": [0, 2, 3, 1]})], "scores"),
        ([("Softmax", {"axis": 1}), ("Transpose", {"perm": [0, 2, 3, 1]})], "probabilities"),
    ],
)
def test_what_an_output_holds_is_found_out_by_a_run(tmp_path: Path, steps: list[Step], kind: str) -> None:
    network = OnnxNetwork(chain(tmp_path / "net.onnx", *steps))
    frame = noise(12, 16)
    found, scores = network(frame), scores_of(frame)
    assert network.output.kind == kind
    assert network.output.layout == ("nhwc" if steps[-1:] and steps[-1][0] == "Transpose" else "nchw")
    assert found.shape == network.shape == (12, 16, 4)
    inside = 1 / (1 + np.exp(-scores))
    wanted = inside / inside.sum(axis=2, keepdims=True) if kind == "independent" else softmax(scores)
    assert np.allclose(found, wanted, atol=1e-4)
    assert np.array_equal(found.argmax(axis=2), scores.argmax(axis=2))


@pytest.mark.parametrize(
    ("steps", "shape"),
    [
        ([("Squeeze", {})], (4, 12, 16)),
        ([("Squeeze", {}), ("Transpose", {"perm": [1, 2, 0]})], (12, 16, 4)),
        ([("ArgMax", {"axis": 1, "keepdims": 0}), ("Squeeze", {}), ("Cast", {"to": FLOAT})], (12, 16)),
    ],
)
def test_an_output_without_a_batch_is_read_too(tmp_path: Path, steps: list[Step], shape: tuple[int, ...]) -> None:
    card = chain(tmp_path / "net.onnx", *steps)
    network = OnnxNetwork(Card(card.file, mean=MEAN, std=STD, classes=4))
    frame = noise(12, 16)
    assert network.output.shape == shape
    assert network(frame).shape == (12, 16, 4)
    assert np.array_equal(network(frame).argmax(axis=2), scores_of(frame).argmax(axis=2))


@pytest.mark.parametrize("steps", [[], [("ArgMax", {"axis": 1, "keepdims": 0}), ("Cast", {"to": FLOAT})]])
def test_of_a_batch_of_several_frames_one_is_used(tmp_path: Path, steps: list[Step]) -> None:
    card = chain(tmp_path / "net.onnx", *steps, shape=(4, *SHAPE[1:]))
    network = OnnxNetwork(Card(card.file, mean=MEAN, std=STD, classes=4))
    frame = noise(12, 16)
    assert network.tensor(frame).shape == (4, 3, 12, 16)
    assert network.output.shape[0] == 4
    assert np.array_equal(network(frame).argmax(axis=2), scores_of(frame).argmax(axis=2))


def test_the_card_may_say_what_an_output_holds(tmp_path: Path) -> None:
    card = chain(tmp_path / "net.onnx", ("Sigmoid", {}))
    network = OnnxNetwork(Card(card.file, mean=MEAN, std=STD, output="scores"))
    frame = noise(12, 16)
    assert np.allclose(network(frame), softmax(1 / (1 + np.exp(-scores_of(frame)))), atol=1e-4)


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("kind", [INT64, FLOAT, TensorProto.UINT8])
def test_an_index_map_gives_each_cell_its_class_alone(tmp_path: Path, keepdims: int, kind: int) -> None:
    steps: list[Step] = [("ArgMax", {"axis": 1, "keepdims": keepdims}), ("Cast", {"to": kind})]
    card = chain(tmp_path / "net.onnx", *steps, kind=kind)
    network = OnnxNetwork(Card(card.file, mean=MEAN, std=STD, classes=4))
    frame = noise(12, 16)
    found = network(frame)
    assert network.output.kind == "index"
    assert found.shape == (12, 16, 4)
    assert np.array_equal(found, np.eye(4)[scores_of(frame).argmax(axis=2)])


def test_an_index_map_of_an_unknown_number_of_classes_may_have_any(tmp_path: Path) -> None:
    steps: Step = ("ArgMax", {"axis": 1, "keepdims": 0})
    network = OnnxNetwork(chain(tmp_path / "net.onnx", steps, kind=INT64))
    assert network.classes.source == "assumed"
    assert len(network.names) == 255
    frame = noise(12, 16)
    assert np.array_equal(network(frame).argmax(axis=2), scores_of(frame).argmax(axis=2))


def test_cells_whose_class_is_left_out_have_that_of_the_nearest_other(tmp_path: Path) -> None:
    steps: Step = ("ArgMax", {"axis": 1, "keepdims": 0})
    card = chain(tmp_path / "net.onnx", steps, kind=INT64)
    network = OnnxNetwork(Card(card.file, mean=MEAN, std=STD, classes=("a", "", "c", "d")))
    frame = np.zeros((12, 16, 3), np.uint8)
    frame[:, 8:] = (255, 255, 255)
    numbers = scores_of(frame).argmax(axis=2)
    assert set(np.unique(numbers)) == {1, 0} or set(np.unique(numbers)) == {1, 3}
    left = network(frame).argmax(axis=2)
    others = {0: 0, 3: 2}
    assert (left == others[int(numbers[numbers != 1][0])]).all()


def test_one_channel_tells_a_class_from_the_rest(tmp_path: Path) -> None:
    frame, inside = noise(12, 16), 1 / (1 + np.exp(-scores_of(noise(12, 16))[..., 0]))
    cases: list[tuple[list[Step], str]] = [([], "scores"), ([("Sigmoid", {})], "probabilities")]
    for steps, kind in cases:
        network = OnnxNetwork(chain(tmp_path / "net.onnx", *steps, weights=MIX[:1]))
        assert (network.output.kind, network.names) == (kind, ("0", "1"))
        assert np.allclose(network(frame), np.stack([1 - inside, inside], axis=2), atol=1e-4)


def two_outputs(path: Path) -> Path:
    """A mean of the frame, scores, and probabilities."""
    nodes = [
        helper.make_node("GlobalAveragePool", ["x"], ["mean"]),
        helper.make_node("Conv", ["x", "weights"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["shares"], axis=1),
    ]
    outputs = [tensor(name, shape=None) for name in ("mean", "scores", "shares")]
    return save_model(path, nodes, [tensor("x", shape=SHAPE)], outputs, MIX[:, :, None, None])


def test_the_first_output_with_a_value_for_each_pixel_is_used_unless_the_card_names_one(tmp_path: Path) -> None:
    path = two_outputs(tmp_path / "net.onnx")
    assert OnnxNetwork(Card(path)).output.name == "scores"
    named = OnnxNetwork(Card(path, output_name="shares"))
    assert (named.output.name, named.output.kind) == ("shares", "probabilities")
    assert np.allclose(named(noise(12, 16)), OnnxNetwork(Card(path))(noise(12, 16)), atol=1e-5)


def test_of_several_outputs_the_one_with_as_many_channels_as_names_is_used(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Identity", ["x"], ["aux"]),
        helper.make_node("Conv", ["x", "weights"], ["out"]),
    ]
    outputs = [tensor(name, shape=None) for name in ("aux", "out")]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x", shape=SHAPE)], outputs, MIX[:, :, None, None])
    assert OnnxNetwork(Card(path)).output.name == "aux"
    assert OnnxNetwork(Card(path, classes=4)).output.name == "out"
    assert OnnxNetwork(Card(path, classes=("a", "b", "c", "d"))).output.name == "out"
    with pytest.raises(ModelError, match="gives 3 classes, but 'classes' of its TOML file names 2"):
        OnnxNetwork(Card(path, classes=("a", "b")))


def test_an_output_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has no output 'masks'; choose from 'mean', 'scores', 'shares'"):
        OnnxNetwork(Card(two_outputs(tmp_path / "net.onnx"), output_name="masks"))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_network_that_gives_nan_is_refused(tmp_path: Path, value: float) -> None:
    weights = MIX.copy()
    weights[1, 1] = value
    with pytest.raises(ModelError, match="gives NaN or infinity in 'y0'; check its weights"):
        OnnxNetwork(chain(tmp_path / "net.onnx", weights=weights))


def test_an_index_map_of_several_channels_is_refused(tmp_path: Path) -> None:
    card = chain(tmp_path / "net.onnx")
    with pytest.raises(ModelError, match="gives 4 channels, which are no index map; remove 'output'"):
        OnnxNetwork(Card(card.file, output="index"))


# Cells


def test_large_outputs_are_averaged_down_to_the_most_cells() -> None:
    grid = Grid(most_cells=1000, most_values=8000)
    assert grid.fit(20, 50, 8) == (20, 50)
    assert grid.fit(40, 100, 8) == (20, 50)
    assert grid.fit(41, 100, 4) == (14, 34)
    assert grid.fit(40, 100, 16) == (14, 34)
    for height, width, n in ((512, 1024, 19), (1080, 1920, 255), (90, 120, 11)):
        rows, columns = Grid().fit(height, width, n)
        assert rows * columns <= 40_000
        assert rows * columns * n <= 1_000_000
        assert (rows, columns) == (height, width) or rows < height


def test_reducing_takes_the_mean_of_areas() -> None:
    planes = np.random.default_rng(0).random((3, 12, 16), np.float32)
    found = onto_cells(planes, (4, 8))
    wanted = planes.reshape(3, 4, 3, 8, 2).mean(axis=(2, 4)).transpose(1, 2, 0)
    assert found.flags.c_contiguous
    assert np.allclose(found, wanted, atol=1e-6)


def test_enlarging_interpolates_and_keeps_sums() -> None:
    planes = np.random.default_rng(0).random((3, 4, 5), np.float32)
    planes /= planes.sum(axis=0)
    found = onto_cells(planes, (9, 11))
    assert found.shape == (9, 11, 3)
    assert np.allclose(found.sum(axis=2), 1, atol=1e-5)
    assert found.min() >= planes.min() - 1e-6
    assert found.max() <= planes.max() + 1e-6


def test_a_network_bound_to_a_grid_predicts_on_it(tmp_path: Path) -> None:
    network = OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", MIX, SHAPE), mean=MEAN, std=STD))
    frame = noise(12, 16)
    bound = network.onto((6, 8))
    assert bound.shape == (6, 8, 4)
    wanted = network(frame).reshape(6, 2, 8, 2, 4).mean(axis=(1, 3))
    assert np.allclose(bound(frame), wanted, atol=1e-6)
    assert network.shape == (12, 16, 4)


def test_outputs_in_half_precision_are_probabilities_too(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(MIX[:, :, None, None].astype(np.float16), "weights")
    nodes = [helper.make_node("Conv", ["x", "weights"], ["s"]), helper.make_node("Softmax", ["s"], ["y"], axis=1)]
    inputs = [tensor("x", TensorProto.FLOAT16, SHAPE)]
    graph = helper.make_graph(nodes, "half", inputs, [tensor("y", TensorProto.FLOAT16, None)], [weights])
    path = tmp_path / "net.onnx"
    save_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    network = OnnxNetwork(Card(path, mean=MEAN, std=STD))
    assert network.output.kind == "probabilities"
    assert network(noise(12, 16)).dtype == np.float32
