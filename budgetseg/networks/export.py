"""Export networks as ONNX files: class probabilities from frames, weights stored in half precision."""

import io
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from budgetseg.files import atomic_file
from budgetseg.networks.architecture import Network

__all__ = ["export_onnx"]

_WORTH_HALVING = 64  # smallest array, in numbers, that is stored in half precision; smaller ones are sizes and scalars


def export_onnx(network: Network, path: Path, size: tuple[int, int]) -> None:
    """Write a network for frames of a size (width, height): input `frames` (1, 3, H, W), output `probabilities`."""
    width, height = size
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # The exporter that folds normalisation into the convolutions warns that it is the older of the two.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Probabilities(network).eval().cpu(),
            (torch.zeros(1, 3, height, width),),
            buffer,  # type: ignore[arg-type]
            input_names=["frames"],
            output_names=["probabilities"],
            opset_version=17,
            dynamo=False,
        )
    model = onnx.load_from_string(buffer.getvalue())
    _halve_weights(model)
    with atomic_file(path) as part:
        onnx.save(model, str(part))


class _Probabilities(nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, frames: Tensor) -> Tensor:
        return torch.softmax(self.network(frames), 1)


def _halve_weights(model: onnx.ModelProto) -> None:
    """Store the weights as float16, cast back when the file is loaded: half the size, the same arithmetic."""
    graph = model.graph
    casts = []
    for weight in graph.initializer:
        if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) < _WORTH_HALVING:
            continue
        name = weight.name
        values = numpy_helper.to_array(weight).astype(np.float16)
        weight.CopyFrom(numpy_helper.from_array(values, f"{name}_half"))
        casts.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
