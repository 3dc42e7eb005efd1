"""Export networks as ONNX files: class probabilities from frames, weights stored in half precision."""

import io
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from budgetseg.files import atomic_file

__all__ = ["export_onnx", "temperature_in"]

_TEMPERATURE = "temperature"

_WORTH_HALVING = 64  # smallest array, in numbers, that is stored in half precision; smaller ones are sizes and scalars


def export_onnx(
    network: nn.Module, path: Path, size: tuple[int, int], temperature: float = 1.0, *, is_open: bool = False
) -> None:
    """Write a network: input `frames` (1, 3, H, W), output `probabilities`.

    Parameters
    ----------
    network : gives class scores, by a last convolution `scores`
    path : of the ONNX file
    size : width and height of frames
    temperature : scores are divided by it, so that probabilities are calibrated
    is_open : whether frames of any other size are taken, too
    """
    width, height = size
    buffer = io.BytesIO()
    sides = {2: "height", 3: "width"}
    with warnings.catch_warnings():
        # The exporter that folds normalisation into the convolutions warns that it is the older of the two.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Probabilities(_cooled(network, temperature)).eval().cpu(),
            (torch.zeros(1, 3, height, width),),
            buffer,  # type: ignore[arg-type]
            input_names=["frames"],
            output_names=["probabilities"],
            dynamic_axes={"frames": sides, "probabilities": sides} if is_open else None,
            opset_version=17,
            dynamo=False,
        )
    model = onnx.load_from_string(buffer.getvalue())
    _halve_weights(model)
    if temperature != 1:
        model.metadata_props.add(key=_TEMPERATURE, value=str(temperature))
    with atomic_file(path) as part:
        onnx.save(model, str(part))


def temperature_in(path: Path) -> float:
    """The temperature that the scores of an exported network are divided by."""
    properties = onnx.load(str(path), load_external_data=False).metadata_props
    return float(next((own.value for own in properties if own.key == _TEMPERATURE), 1.0))


def _cooled(network: nn.Module, temperature: float) -> nn.Module:
    """A copy whose last convolution divides the scores by a temperature."""
    copy = deepcopy(network)
    with torch.no_grad():
        for parameter in copy.get_submodule("scores").parameters():
            parameter.div_(temperature)
    return copy


class _Probabilities(nn.Module):
    def __init__(self, network: nn.Module) -> None:
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
