"""Quantize networks: convolutions in 8-bit integers take half the time and lose a few tenths of a point of accuracy."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from budgetseg.files import atomic_file
from budgetseg.networks.card import Card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.types import Float32, UInt8

__all__ = ["quantize"]

N_FRAMES = 32
"""Frames that the ranges of activations are measured on, at most."""


def quantize(card: Card, frames: Sequence[UInt8], path: Path) -> None:
    """Write a network with 8-bit convolutions to `path`; the ranges of activations are measured on frames (H, W, 3).

    Weights have a scale for each channel, and 7 bits: with 8, processors without 8-bit dot products overflow.
    """
    network = OnnxNetwork(card)
    shown = frames[:: max(1, len(frames) // N_FRAMES)]
    with tempfile.TemporaryDirectory() as folder, atomic_file(path) as part:
        plain = Path(folder) / "plain.onnx"
        quant_pre_process(str(card.file), str(plain), skip_symbolic_shape=True)
        quantize_static(
            str(plain),
            str(part),
            _Shown(network, shown),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv"],
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


class _Shown(CalibrationDataReader):  # type: ignore[misc]
    """Frames in the input format of a network, one after the other."""

    def __init__(self, network: OnnxNetwork, frames: Sequence[UInt8]) -> None:
        self._inputs: Iterator[dict[str, Float32]] = ({network.input: network.tensor(frame)} for frame in frames)

    def get_next(self) -> dict[str, Float32] | None:
        """The next frame; None after the last one."""
        return next(self._inputs, None)
