"""Tiny ONNX files whose answer can be worked out by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from budgetseg.types import Float32, UInt8

FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
SHAPE = (1, 3, 6, 8)

Shape = Sequence[int | str]


def tensor(name: str, kind: int = FLOAT, shape: Shape | None = SHAPE) -> Any:
    """An input or output of a network; a name in place of a side leaves it open."""
    return helper.make_tensor_value_info(name, kind, shape)


def save_model(
    path: Path, nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], weights: Float32 | None = None
) -> Path:
    """Write a network, whose nodes may name `weights`."""
    stored = [] if weights is None else [numpy_helper.from_array(np.asarray(weights, np.float32), "weights")]
    graph = helper.make_graph(nodes, "network", inputs, outputs, stored)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def save_mixer(path: Path, weights: Float32, shape: Shape = SHAPE, stride: int = 1) -> Path:
    """Write a 1x1 convolution with weights (L, 3): each output pixel is weights @ input pixel."""
    node = helper.make_node("Conv", ["x", "weights"], ["y"], strides=[stride, stride])
    return save_model(path, [node], [tensor("x", shape=shape)], [tensor("y", shape=None)], weights[:, :, None, None])


def save_operator(path: Path, operator: str, kind: int = FLOAT, **settings: Any) -> Path:
    """Write a network of one operator on the input x; `kind` is that of its output."""
    node = helper.make_node(operator, ["x"], ["y"], **settings)
    return save_model(path, [node], [tensor("x")], [tensor("y", kind, None)])


def noise(height: int, width: int, seed: int = 0) -> UInt8:
    """A frame, (H, W, 3), without any structure."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
