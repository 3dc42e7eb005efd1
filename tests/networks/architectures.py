"""Segmentation networks as others build them, from random weights: what `budgetseg` has never seen."""

import io
import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

CITYSCAPES = (
    "road",
    "sidewalk",
    "building",
    "wall",
    "fence",
    "pole",
    "traffic light",
    "traffic sign",
    "vegetation",
    "terrain",
    "sky",
    "person",
    "rider",
    "car",
    "truck",
    "bus",
    "train",
    "motorcycle",
    "bicycle",
)
"""The 19 classes that models of street scenes are usually trained on."""


class UNet(nn.Module):
    """Scores at the size of the frame, by transposed convolutions and connections across."""

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.down = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU())
        self.deep = nn.Sequential(nn.Conv2d(16, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.ReLU())
        self.up = nn.ConvTranspose2d(24, 16, 2, 2)
        self.wide = nn.ConvTranspose2d(32, 8, 2, 2)
        self.out = nn.Conv2d(16, n_classes, 1)

    def forward(self, frames: Tensor) -> Tensor:
        first = self.first(frames)
        down = self.down(first)
        up = torch.cat([self.up(self.deep(down)), down], 1)
        scores: Tensor = self.out(torch.cat([self.wide(up), first], 1))
        return scores


class Stride8(nn.Module):
    """Probabilities at an eighth of the size of the frame."""

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        sizes = (3, 16, 24, 32)
        layers = [nn.Sequential(nn.Conv2d(a, b, 3, 2, 1), nn.GELU()) for a, b in pairwise(sizes)]
        self.layers = nn.Sequential(*layers, nn.Conv2d(32, n_classes, 1))

    def forward(self, frames: Tensor) -> Tensor:
        scores: Tensor = self.layers(frames)
        return scores.softmax(1)


class IndexMap(nn.Module):
    """The number of the class, at the size of the frame, behind scores at an eighth of it."""

    def __init__(self, n_classes: int, keepdim: bool = False) -> None:
        super().__init__()
        self.layers = Stride8(n_classes)
        self.keepdim = keepdim

    def forward(self, frames: Tensor) -> Any:
        scores = self.layers(frames)
        whole = nn.functional.interpolate(scores, scale_factor=8.0, mode="bilinear")
        return scores, whole.argmax(1, keepdim=self.keepdim)


def save_torch(
    path: Path,
    network: nn.Module,
    size: tuple[int, int] = (64, 48),
    is_open: bool = False,
    metadata: Mapping[str, str] | None = None,
    outputs: Sequence[str] = ("scores",),
    half: bool = False,
) -> Path:
    """Export a network for frames of a width and height, or of any, with random weights that do not change."""
    torch.manual_seed(0)
    for weight in network.parameters():
        nn.init.normal_(weight, std=0.5 if weight.ndim == 1 else (2 / weight[0].numel()) ** 0.5)
    kind = torch.float16 if half else torch.float32
    buffer = io.BytesIO()
    open_sides = {0: "batch", 2: "height", 3: "width"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter says that it is the older one
        torch.onnx.export(
            network.eval().to(kind),
            (torch.zeros(1, 3, size[1], size[0], dtype=kind),),
            buffer,  # type: ignore[arg-type]
            input_names=["image"],
            output_names=list(outputs),
            dynamic_axes={"image": open_sides} if is_open else None,
            opset_version=17,
            dynamo=False,
        )
    model = onnx.load_from_string(buffer.getvalue())
    helper.set_model_props(model, dict(metadata or {}))
    onnx.save(model, str(path))
    return path


def save_bytes(path: Path, n_classes: int = 5, size: tuple[int, int] = (64, 48), is_open: bool = False) -> Path:
    """A network of bytes (1, H, W, 3) with scores (1, H / 4, W / 4, classes), as from TensorFlow."""
    weights = np.random.default_rng(0).normal(size=(3, n_classes)).astype(np.float32) / 20
    nodes = [
        helper.make_node("Cast", ["image"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Transpose", ["real"], ["planes"], perm=[0, 3, 1, 2]),
        helper.make_node("AveragePool", ["planes"], ["few"], kernel_shape=[4, 4], strides=[4, 4]),
        helper.make_node("Transpose", ["few"], ["pixels"], perm=[0, 2, 3, 1]),
        helper.make_node("MatMul", ["pixels", "weights"], ["scores"]),
    ]
    shape: list[int | str] = ["n", "h", "w", 3] if is_open else [1, size[1], size[0], 3]
    inputs = [helper.make_tensor_value_info("image", TensorProto.UINT8, shape)]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "network", inputs, outputs, [numpy_helper.from_array(weights, "weights")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path
