"""The encoder of the ladder: EfficientNet-lite, inverted residuals without squeeze-and-excite, with ReLU6.

Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks" (2019), in the lite form of the
TensorFlow TPU models (2020). Strided convolutions are padded alike on all sides. TensorFlow pads them at the end only:
the same function of a frame that is shifted by up to 31 pixels, so weights of one form serve in the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from budgetseg.networks import MEAN, STD

__all__ = ["LITE", "Encoder", "EncoderShape", "convolution", "load_published"]


@dataclass(frozen=True)
class EncoderShape:
    """Sizes of an encoder.

    Attributes
    ----------
    stem : channels of the first convolution, which halves the sides
    widths : channels after each stage
    depths : blocks of each stage
    sides : of the depthwise kernels of each stage
    strides : of the first block of each stage
    expand : how many times as many channels the blocks of each stage have inside
    """

    stem: int
    widths: tuple[int, ...]
    depths: tuple[int, ...]
    sides: tuple[int, ...] = (3, 3, 5, 3, 5, 5, 3)
    strides: tuple[int, ...] = (1, 2, 2, 2, 1, 2, 1)
    expand: tuple[int, ...] = (1, 6, 6, 6, 6, 6, 6)


LITE = {
    "lite0": EncoderShape(32, (16, 24, 40, 80, 112, 192, 320), (1, 2, 2, 3, 3, 4, 1)),
    "lite1": EncoderShape(32, (16, 24, 40, 80, 112, 192, 320), (1, 3, 3, 4, 4, 5, 1)),
    "lite2": EncoderShape(32, (16, 24, 48, 88, 120, 208, 352), (1, 3, 3, 4, 4, 5, 1)),
}
"""Shapes whose weights on ImageNet are published, by name."""

_PUBLISHED_MEAN = 127 / 255
_PUBLISHED_STD = 128 / 255
"""Frames, 0 to 1, enter the published networks as (frame - mean) / std."""


class Encoder(nn.Module):
    """Features of frames (B, 3, H, W): a tensor for each size, finest first, from half the sides on.

    Parameters
    ----------
    shape : sizes
    depths : blocks of each stage that are kept, the first ones; stages beyond the last number are left out
    thin : channels of a plain convolution in place of the stem and the first two stages, which take half of the time;
        0 for those
    """

    def __init__(self, shape: EncoderShape, depths: tuple[int, ...] = (), thin: int = 0) -> None:
        super().__init__()
        self.shape = shape
        self.depths = depths or shape.depths
        self.thin = thin
        last = len(self.depths) - 1
        self.levels = [k for k in range(last + 1) if k == last or shape.strides[k + 1] > 1]
        self.widths = [thin if thin and k == 0 else shape.widths[k] for k in self.levels]
        self.stem = convolution(3, thin or shape.stem, 3, stride=2)
        self.stages = nn.ModuleList(self._stage(k) for k in range(last + 1))

    def _stage(self, k: int) -> nn.Sequential:
        shape = self.shape
        if self.thin and k < 2:
            return nn.Sequential() if k == 0 else convolution(self.thin, shape.widths[k], 3, stride=shape.strides[k])
        before = shape.widths[k - 1] if k else shape.stem
        blocks = [_Block(before, shape.widths[k], shape.sides[k], shape.strides[k], shape.expand[k])]
        more = range(self.depths[k] - 1)
        blocks += [_Block(shape.widths[k], shape.widths[k], shape.sides[k], 1, shape.expand[k]) for _ in more]
        return nn.Sequential(*blocks)

    def forward(self, frames: Tensor) -> list[Tensor]:
        """Features, a tensor for each level."""
        x = self.stem(frames)
        found = []
        for k, stage in enumerate(self.stages):
            x = stage(x)
            if k in self.levels:
                found.append(x)
        return found


class _Block(nn.Module):
    """An inverted residual: widen, filter each channel on its own, narrow; with a short cut where sizes allow it."""

    def __init__(self, n_in: int, n_out: int, side: int, stride: int, expand: int) -> None:
        super().__init__()
        wide = n_in * expand
        layers: list[nn.Module] = [convolution(n_in, wide, 1)] if expand > 1 else []
        layers += [
            convolution(wide, wide, side, stride=stride, groups=wide),
            convolution(wide, n_out, 1, active=False),
        ]
        self.path = nn.Sequential(*layers)
        self.short_cut = stride == 1 and n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.path(x)
        return x + y if self.short_cut else y


def convolution(
    n_in: int, n_out: int, side: int, *, stride: int = 1, groups: int = 1, active: bool = True
) -> nn.Sequential:
    """A convolution with normalisation as in the published networks, and ReLU6 where it is active."""
    kind = _Depthwise if groups > 1 and (side > 3 or stride > 1) else nn.Conv2d
    layers: list[nn.Module] = [
        kind(n_in, n_out, side, stride, side // 2, groups=groups, bias=False),
        nn.BatchNorm2d(n_out, eps=1e-3, momentum=0.01),
    ]
    if active:
        layers.append(nn.ReLU6(inplace=True))
    return nn.Sequential(*layers)


class _Depthwise(nn.Conv2d):
    """A convolution of single channels; a CPU learns it in 32 bits: in 16, gradients take ten times as long."""

    def forward(self, x: Tensor) -> Tensor:
        if x.device.type != "cpu":
            return super().forward(x)
        with torch.autocast("cpu", enabled=False):
            return super().forward(x.float())


@torch.no_grad()
def load_published(encoder: Encoder, weights: Mapping[str, Tensor]) -> None:
    """Fill an encoder with published weights, by the names that these have in their file.

    Frames enter our networks in another range than the published ones. The first convolution makes up for that.
    KeyError or RuntimeError if the weights are those of another network.
    """
    if not encoder.thin:
        _fill(encoder.stem, weights["_conv_stem.weight"], weights, "_bn0")
        _shift_range(encoder.stem)
    first = 0  # number of the first block of the stage in the file
    for k, stage in enumerate(encoder.stages):
        if not (encoder.thin and k < 2):
            for block, module in enumerate(stage.children()):
                _fill_block(module, weights, f"_blocks.{first + block}")
        first += encoder.shape.depths[k]


def _fill_block(block: nn.Module, weights: Mapping[str, Tensor], name: str) -> None:
    assert isinstance(block, _Block)
    names = [("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2")]
    layers = list(block.path.children())
    for layer, (kernel, norm) in zip(layers, names[-len(layers) :], strict=True):
        _fill(layer, weights[f"{name}.{kernel}.weight"], weights, f"{name}.{norm}")


def _fill(layer: nn.Module, kernel: Tensor, weights: Mapping[str, Tensor], norm: str) -> None:
    values = {f"1.{part}": weights[f"{norm}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")}
    layer.load_state_dict({"0.weight": kernel, **values}, strict=False)


def _shift_range(stem: nn.Sequential) -> None:
    """Make a stem for frames in the published range one for frames as (frame - MEAN) / STD."""
    kernel = stem[0].weight
    running_mean = stem[1].running_mean
    assert isinstance(kernel, Tensor)
    assert isinstance(running_mean, Tensor)
    offset = (MEAN - _PUBLISHED_MEAN) / _PUBLISHED_STD
    running_mean -= offset * kernel.sum((1, 2, 3))
    kernel *= STD / _PUBLISHED_STD
