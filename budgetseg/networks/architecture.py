"""The shapes of networks that can be trained, by name, and the compact encoder-decoder that starts from nothing.

Its answer has a quarter of the frame's sides. Two convolutions reduce the frame to a quarter, inverted residuals to an
eighth and a sixteenth (dilated there, with the mean over the frame added for context), and a thin decoder returns to a
quarter. The last factor of four is not needed, since supervoxels supply the outlines.
"""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import interpolate

from budgetseg.networks.backbones import backbone_file, published_weights
from budgetseg.networks.encoder import load_published
from budgetseg.networks.pyramid import Pyramid, PyramidShape
from budgetseg.networks.recipe import NetworkRecipe

__all__ = ["LARGE", "SHAPES", "SMALL", "Network", "Shape", "build", "check_backbones", "count_parameters"]


@dataclass(frozen=True)
class Shape:
    """Sizes of a network.

    Attributes
    ----------
    widths : channels after the stem, at a quarter, an eighth and a sixteenth
    depths : residual blocks at a quarter, an eighth and a sixteenth
    decoder : channels of the decoder
    """

    widths: tuple[int, int, int, int]
    depths: tuple[int, int, int]
    decoder: int


SMALL = Shape((12, 24, 40, 64), (1, 2, 3), 32)
LARGE = Shape((32, 64, 128, 192), (2, 4, 8), 96)
_DILATIONS = (1, 2, 4, 8)

SHAPES: dict[str, Shape | PyramidShape] = {
    "small": SMALL,
    "large": LARGE,
    "trim": PyramidShape("lite0", (1, 2, 2, 2, 2, 2), decoder=48, refine=1),
    "fine": PyramidShape("lite0", (1, 2, 2, 2, 2, 2), decoder=48, refine=1, side=3, finest=2),
    "thin": PyramidShape("lite0", (1, 2, 2, 2, 2, 2), thin=24, decoder=64, refine=1),
    "slim": PyramidShape("lite0", (1, 2, 1, 2, 1, 1), thin=16, decoder=48, refine=1, side=3),
    "lite0": PyramidShape("lite0"),
    "lite1": PyramidShape("lite1"),
    "lite2": PyramidShape("lite2"),
    "lite2-wide": PyramidShape("lite2", decoder=160),
}
"""Shapes by name: `small` and `large` start from random weights, all others from a published encoder.

`trim`, `fine`, `thin` and `slim` are about as fast as `small`, at the share of the frame's sides that
`notebook/ladder.md` states.
"""


class Network(nn.Module):
    """Class scores (B, L, H/4, W/4) of frames (B, 3, H, W)."""

    def __init__(self, n_labels: int, shape: Shape) -> None:
        super().__init__()
        stem, quarter, eighth, sixteenth = shape.widths
        n4, n8, n16 = shape.depths
        half = shape.decoder // 2
        whole = shape.decoder
        self.to4 = nn.Sequential(
            _conv(3, stem, 3, stride=2),
            _conv(stem, quarter, 3, stride=2),
            *(_Residual(quarter, quarter, expand=2) for _ in range(n4)),
        )
        self.to8 = nn.Sequential(_Residual(quarter, eighth, stride=2), *(_Residual(eighth, eighth) for _ in range(n8)))
        self.to16 = nn.Sequential(
            _Residual(eighth, sixteenth, stride=2),
            *(_Residual(sixteenth, sixteenth, dilation=_DILATIONS[i % 4]) for i in range(n16)),
        )
        self.context = nn.Sequential(nn.Conv2d(sixteenth, sixteenth, 1), nn.ReLU(inplace=True))
        self.from16 = _conv(sixteenth, whole, 1)
        self.from8 = _conv(eighth, whole, 1)
        self.from4 = _conv(quarter, half, 1)
        self.refine8 = nn.Sequential(_conv(whole, whole, 3, groups=whole), _conv(whole, half, 1))
        self.refine4 = _conv(half, half, 3, groups=half)
        self.scores = nn.Conv2d(half, n_labels, 1)

    def forward(self, frames: Tensor) -> Tensor:
        """Class scores, (B, L, H/4, W/4)."""
        quarter = self.to4(frames)
        eighth = self.to8(quarter)
        deep = self.to16(eighth)
        deep = deep + self.context(deep.mean((2, 3), keepdim=True))
        up = self.refine8(_grow(self.from16(deep), eighth) + self.from8(eighth))
        up = self.refine4(_grow(up, quarter) + self.from4(quarter))
        scores: Tensor = self.scores(up)
        return scores


class _Residual(nn.Module):
    """An inverted residual: widen, filter each channel on its own, narrow again; with a short cut if sizes allow it."""

    def __init__(self, n_in: int, n_out: int, *, expand: int = 4, stride: int = 1, dilation: int = 1) -> None:
        super().__init__()
        wide = n_in * expand
        self.path = nn.Sequential(
            _conv(n_in, wide, 1),
            _conv(wide, wide, 3, stride=stride, dilation=dilation, groups=wide),
            _conv(wide, n_out, 1, active=False),
        )
        self.short_cut = stride == 1 and n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.path(x)
        return x + y if self.short_cut else y


def _conv(
    n_in: int, n_out: int, side: int, *, stride: int = 1, dilation: int = 1, groups: int = 1, active: bool = True
) -> nn.Sequential:
    margin = side // 2 * dilation
    layers: list[nn.Module] = [
        nn.Conv2d(n_in, n_out, side, stride, margin, dilation, groups, bias=False),
        nn.BatchNorm2d(n_out),
    ]
    if active:
        layers.append(nn.ReLU(inplace=True))
    return nn.Sequential(*layers)


def _grow(x: Tensor, like: Tensor) -> Tensor:
    return interpolate(x, size=like.shape[2:], mode="bilinear", align_corners=False)


def count_parameters(network: nn.Module) -> int:
    """Number of learned parameters."""
    return sum(parameter.numel() for parameter in network.parameters())


def build(name: str, n_labels: int, *, published: bool = True) -> nn.Module:
    """A network of a shape of `SHAPES`, with the published weights of its encoder, or with random ones."""
    shape = SHAPES[name]
    if isinstance(shape, Shape):
        return Network(n_labels, shape)
    network = Pyramid(n_labels, shape)
    if published:
        load_published(network.encoder, published_weights(shape.backbone))
    return network


def check_backbones(recipe: NetworkRecipe) -> None:
    """Raise an error of one line if weights that a recipe starts from are not installed, or not as published."""
    for rung in recipe.rungs:
        shape = SHAPES[rung.shape]
        if isinstance(shape, PyramidShape):
            backbone_file(shape.backbone)
