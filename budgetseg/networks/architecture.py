"""A compact encoder-decoder of inverted residuals: class scores at a quarter of the frame's sides.

Two convolutions reduce the frame to a quarter, inverted residuals to an eighth and a sixteenth (dilated there, with the
mean over the frame added for context), and a thin decoder returns to a quarter. The last factor of four is not needed,
since supervoxels supply the outlines.
"""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import interpolate

__all__ = ["LARGE", "SMALL", "Network", "Shape", "count_parameters"]


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
