"""The input of a network: what it takes, and frames in that form."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.errors import ModelError
from budgetseg.networks import MEAN, STD
from budgetseg.networks.backends.core import Port
from budgetseg.networks.card import Card
from budgetseg.types import Float32, UInt8

__all__ = ["ImageInput", "at_size", "image_input"]

KINDS: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}
"""Types of inputs that frames can be turned into, by their names in onnxruntime."""

CHANNEL = {"nchw": 1, "nhwc": 3}
SIDES = {"nchw": (2, 3), "nhwc": (1, 2)}
"""Where the channels, and height and width, stand in the shape of an input or output."""


@dataclass(frozen=True)
class ImageInput:
    """The one input of a network.

    Attributes
    ----------
    name : of the input
    kind : type of its values
    layout : `nchw` or `nhwc`
    is_told : whether the file alone says which layout it is
    height, width : of frames; None where the file leaves them open
    batch : frames that it takes at a time; 1 where the file leaves that open
    """

    name: str
    kind: type[np.generic]
    layout: str
    is_told: bool
    height: int | None
    width: int | None
    batch: int = 1

    @property
    def is_bytes(self) -> bool:
        """Whether frames enter as they are, values of 0 to 255."""
        return self.kind is np.uint8

    def size(self, card: Card) -> tuple[int, int] | None:
        """Width and height that frames are resized to; None where these are those of the video."""
        if card.size is None:
            return None if self.width is None or self.height is None else (self.width, self.height)
        if self.width not in (None, card.size[0]) or self.height not in (None, card.size[1]):
            raise ModelError(
                f"{card.file}: takes frames of {self.width or '?'}x{self.height or '?'}, "
                f"but 'size' in its TOML file says {card.size[0]}x{card.size[1]}"
            )
        return card.size

    def size_for(self, card: Card, size: tuple[int, int]) -> tuple[int, int]:
        """Width and height that frames of a video with this width and height are resized to."""
        fixed = self.size(card)
        if fixed is not None:
            return fixed
        scale = min(1.0, card.longest / max(size))
        width, height = (max(1, round(scale * side / card.multiple)) * card.multiple for side in size)
        return self.width or width, self.height or height

    def tensor(self, frame: UInt8, card: Card) -> NDArray[Any]:
        """A frame (H, W, 3) in the form of the input, (N, 3, H, W) or (N, H, W, 3): as often as a batch has frames."""
        one = self._one(frame, card)
        return one if self.batch == 1 else np.repeat(one, self.batch, axis=0)

    def _one(self, frame: UInt8, card: Card) -> NDArray[Any]:
        """A frame (H, W, 3) as a batch of one."""
        if self.is_bytes:
            ordered = frame if card.colours == "rgb" else frame[..., ::-1]
            return np.ascontiguousarray((ordered if self.layout == "nhwc" else ordered.transpose(2, 0, 1))[None])
        planes = _planes(frame, card)
        if self.layout == "nhwc":
            planes = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        return np.asarray(planes, self.kind)


def image_input(card: Card, inputs: Sequence[Port]) -> ImageInput:
    """The one of a network's inputs, as an image; ModelError where it is none."""
    layouts = _layouts(inputs[0]) if len(inputs) == 1 else []
    if not layouts:
        got = ", ".join(f"'{own.name}' {own.type} {own.shape}" for own in inputs)
        raise ModelError(
            f"{card.file}: must have one input, an image of shape (1, 3, height, width) or (1, height, width, 3), of "
            f"float32, float16 or uint8. Got {got or 'none'}; export it so"
        )
    if card.layout is not None and card.layout not in layouts:
        raise ModelError(
            f"{card.file}: takes {inputs[0].shape}, which is not 'layout' {card.layout!r} of its TOML file; remove that"
        )
    layout = card.layout or layouts[0]
    is_told = isinstance(inputs[0].shape[CHANNEL[layout]], int)
    kind = KINDS[inputs[0].type]
    if kind is np.uint8 and (card.mean is not None or card.std is not None or card.scale != 1.0):
        raise ModelError(
            f"{card.file}: takes bytes, which enter as they are; remove 'mean', 'std' and 'scale' from its TOML file"
        )
    height, width = (
        side if isinstance(side, int) and side > 0 else None for side in map(inputs[0].shape.__getitem__, SIDES[layout])
    )
    batch = inputs[0].shape[0]
    n_frames = batch if isinstance(batch, int) and batch > 0 else 1
    return ImageInput(inputs[0].name, kind, layout, is_told, height, width, n_frames)


def at_size(frame: UInt8, size: tuple[int, int]) -> UInt8:
    """A frame (H, W, 3) resized to a width and height."""
    if (frame.shape[1], frame.shape[0]) == size:
        return frame
    interpolation = cv2.INTER_AREA if size[0] < frame.shape[1] else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(frame, size, interpolation=interpolation), np.uint8)


def _layouts(tensor: Port) -> list[str]:
    """Layouts that an input may have; first those in which three channels are stated. Open sides are names or None."""
    shape = tensor.shape
    if tensor.type not in KINDS or len(shape) != 4 or 0 in shape:
        return []
    fitting = [layout for layout, channel in CHANNEL.items() if _may_be(shape[channel], 3)]
    return sorted(fitting, key=lambda layout: shape[CHANNEL[layout]] != 3)


def _may_be(side: Any, number: int) -> bool:
    return not isinstance(side, int) or side < 0 or side == number


def _planes(frame: UInt8, card: Card) -> Float32:
    """A frame in the colours and values of a card, (1, 3, H, W) float32."""
    usual = (MEAN, STD) if card.scale == 1.0 else (0.0, 1.0)
    mean, std = (own or (value,) * 3 for own, value in zip((card.mean, card.std), usual, strict=True))
    if card.colours == "bgr":
        frame = np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), np.uint8)
        mean, std = mean[::-1], std[::-1]
    # OpenCV has one scale for all channels; the other channels are corrected afterwards.
    means = [255 * value / card.scale for value in mean]
    planes = np.asarray(cv2.dnn.blobFromImage(frame, card.scale / 255 / std[0], mean=means), np.float32)
    for channel in (1, 2):
        if std[channel] != std[0]:
            planes[0, channel] *= np.float32(std[0] / std[channel])
    return planes
