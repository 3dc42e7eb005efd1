"""The networks of the ladder: a published encoder and a light top-down decoder.

The decoder starts at the coarsest features. At each size it adds the encoder's features and refines the sum by
depthwise convolutions, then doubles the sides. It ends at a quarter of the sides of the input, or at a half.
"""

from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import interpolate

from budgetseg.networks.encoder import LITE, Encoder, convolution

__all__ = ["Pyramid", "PyramidShape"]


@dataclass(frozen=True)
class PyramidShape:
    """Sizes of a network of the ladder.

    Attributes
    ----------
    backbone : name of the published encoder
    depths : blocks of each of its stages that are kept; empty for all
    thin : channels of a plain convolution in place of its first part (see `Encoder`); 0 for none
    decoder : channels of the decoder
    refine : depthwise convolutions at each size
    side : of their kernels
    finest : sides of the input over those of the answer, 2 or 4
    """

    backbone: str
    depths: tuple[int, ...] = ()
    thin: int = 0
    decoder: int = 96
    refine: int = 2
    side: int = 5
    finest: int = 4


class Pyramid(nn.Module):
    """Class scores (B, L, H/4, W/4) of frames (B, 3, H, W), or at half the sides."""

    def __init__(self, n_labels: int, shape: PyramidShape) -> None:
        super().__init__()
        self.encoder = Encoder(LITE[shape.backbone], shape.depths, shape.thin)
        self.first = shape.finest // 4  # 0 for a half, 1 for a quarter: number of the finest level that is used
        widths = self.encoder.widths[self.first :]
        self.enter = nn.ModuleList(convolution(width, shape.decoder, 1, active=False) for width in widths)
        self.refine = nn.ModuleList(_refinement(shape) for _ in widths)
        self.scores = nn.Conv2d(shape.decoder, n_labels, 1)

    def forward(self, frames: Tensor) -> Tensor:
        """Class scores of the cells."""
        levels = self.encoder(frames)[self.first :]
        x: Tensor | None = None
        for enter, refine, features in zip(self.enter[::-1], self.refine[::-1], levels[::-1], strict=True):
            own = enter(features)
            if x is not None:
                own = own + interpolate(x, size=own.shape[2:], mode="bilinear", align_corners=False)
            x = refine(own)
        scores: Tensor = self.scores(x)
        return scores


def _refinement(shape: PyramidShape) -> nn.Sequential:
    layers = []
    for _ in range(shape.refine):
        layers.append(convolution(shape.decoder, shape.decoder, shape.side, groups=shape.decoder))
        layers.append(convolution(shape.decoder, shape.decoder, 1))
    return nn.Sequential(*layers)
