"""Any ONNX segmentation network as a function from a frame to class probabilities."""

import hashlib
from typing import Any

import cv2
import numpy as np

from budgetseg.descriptors.network.card import Card
from budgetseg.errors import ModelError
from budgetseg.types import Float32, UInt8

__all__ = ["OnnxNetwork"]


class OnnxNetwork:
    """Class probabilities of frames.

    Parameters
    ----------
    card : how to use the network
    threads : of each run

    Attributes
    ----------
    names : of the classes, L
    size : width and height that frames are brought to
    digest : short, of the file and its card: two networks with the same digest say the same
    """

    def __init__(self, card: Card, threads: int = 1) -> None:
        self._card = card
        self._session = _open(card, threads)
        self._input = self._session.get_inputs()[0].name
        self.size = _input_size(card, self._session)
        channels = self._try().shape[2]
        self.names, self._groups = _grouped(card, channels)
        self.digest = hashlib.sha256(card.file.read_bytes() + repr(card).encode()).hexdigest()[:8]

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3), at whatever size the network gives them."""
        said = self._raw(frame)
        if self._card.output == "scores":
            said = np.exp(said - said.max(axis=2, keepdims=True))
            said /= said.sum(axis=2, keepdims=True)
        if self._groups is not None:
            said = said @ self._groups
        return np.ascontiguousarray(said, np.float32)

    def _raw(self, frame: UInt8) -> Float32:
        if (frame.shape[1], frame.shape[0]) != self.size:
            smaller = self.size[0] < frame.shape[1]
            how = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
            frame = np.asarray(cv2.resize(frame, self.size, interpolation=how), np.uint8)
        scale, shift = (np.array(values, np.float32) for values in _affine(self._card))
        pixels = cv2.split(frame if self._card.colours == "rgb" else frame[..., ::-1])
        planes = np.stack([plane * scale[k] + shift[k] for k, plane in enumerate(pixels)])[None]
        said: Float32 = self._session.run(None, {self._input: planes})[0][0].transpose(1, 2, 0)
        return said

    def _try(self) -> Float32:
        """Output on a black frame; the outputs of many files do not tell their shape before they have run."""
        file = self._card.file
        try:
            output = self._session.run(None, {self._input: np.zeros((1, 3, *self.size[::-1]), np.float32)})[0]
        except Exception as error:  # onnxruntime's errors have no common base
            raise ModelError(
                f"{file}: does not run on frames of {self.size[0]}x{self.size[1]} ({_line(error)})"
            ) from None
        if output.ndim != 4 or output.shape[0] != 1 or output.dtype != np.float32:
            raise ModelError(
                f"{file}: the first output must be float32 of shape (1, classes, height, width). "
                f"Got {output.dtype} {output.shape}"
            )
        said: Float32 = output[0].transpose(1, 2, 0)
        return said


def _open(card: Card, threads: int) -> Any:
    import onnxruntime

    if not card.file.is_file():
        raise ModelError(f"{card.file}: no such file; a network needs its ONNX file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # what goes wrong is raised anyway
    try:
        return onnxruntime.InferenceSession(str(card.file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base
        raise ModelError(f"{card.file}: not an ONNX network that can be run ({_line(error)})") from None


def _input_size(card: Card, session: Any) -> tuple[int, int]:
    inputs = session.get_inputs()
    shape = inputs[0].shape
    is_image = len(inputs) == 1 and inputs[0].type == "tensor(float)" and len(shape) == 4
    if not is_image or (isinstance(shape[1], int) and shape[1] != 3):
        raise ModelError(
            f"{card.file}: must have one input, float32 of shape (1, 3, height, width). "
            f"Got {', '.join(f'{one.type} {one.shape}' for one in inputs)}"
        )
    fixed = [side if isinstance(side, int) else None for side in (shape[3], shape[2])]
    if card.size is None:
        width, height = fixed
        if width is None or height is None:
            raise ModelError(f"{card.file}: takes frames of any size; say which with 'size' in its TOML file")
        return width, height
    if any(side not in (None, wanted) for side, wanted in zip(fixed, card.size, strict=True)):
        raise ModelError(f"{card.file}: takes frames of {fixed}, but 'size' says {list(card.size)}")
    return card.size


def _grouped(card: Card, channels: int) -> tuple[tuple[str, ...], Float32 | None]:
    """Names of the classes, and the 0/1 matrix (channels, L) that adds channels up, if they are not one to one."""
    if card.classes is None:
        return tuple(str(k) for k in range(channels)), None
    if len(card.classes) != channels:
        raise ModelError(f"{card.file}: gives {channels} classes, but 'classes' names {len(card.classes)}")
    names = tuple(dict.fromkeys(name for name in card.classes if name))
    groups = np.array([[name == own for own in names] for name in card.classes], np.float32)
    return names, None if names == card.classes else groups


def _affine(card: Card) -> tuple[list[float], list[float]]:
    """Scale and shift that take a pixel of 0 to 255 to what the network wants, per channel."""
    order = (0, 1, 2) if card.colours == "rgb" else (2, 1, 0)
    return [1 / 255 / card.std[k] for k in order], [-card.mean[k] / card.std[k] for k in order]


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:160]
