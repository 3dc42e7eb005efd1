"""Any ONNX segmentation network as a function from a frame to class probabilities."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card
from budgetseg.timing.deadline import LateError
from budgetseg.types import Float32, UInt8

__all__ = ["OnnxNetwork", "at_size"]

TOLERANCE = 1e-3  # by which probabilities may leave 0 to 1: those of networks in half precision are not exact


class OnnxNetwork:
    """A network that maps frames to class probabilities.

    Parameters
    ----------
    card : how to use the network
    threads : of each run

    Attributes
    ----------
    names : of the L classes
    size : width and height that frames are resized to
    shape : of the output, (h, w, L)
    input : name of the network's input
    digest : short digest of the contents of the file and its card; networks with one digest give the same output
    """

    def __init__(self, card: Card, threads: int = 1) -> None:
        self._card = card
        self._session = _open(card, threads)
        self._under_way: set[Any] = set()
        self.size = _input_size(card, self._session)
        self.input = self._session.get_inputs()[0].name
        height, width, channels = self._try()
        self.names, self._groups = _grouped(card, channels)
        self.shape = height, width, len(self.names)
        self.digest = _digest(card)

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3), uint8, at the size of the network's output."""
        output = self._raw(frame)
        if self._card.output == "scores":
            output = np.exp(output - output.max(axis=2, keepdims=True))
            output /= output.sum(axis=2, keepdims=True)
        if self._groups is not None:
            output = output @ self._groups
        return np.ascontiguousarray(output, np.float32)

    def planes(self, frame: UInt8) -> Float32:
        """A frame (H, W, 3) in the input format of the network, (1, 3, h, w) float32."""
        return _planes(at_size(frame, self.size), self._card)

    def cut_off(self) -> None:
        """Make every run that is under way, in any thread, end with LateError within milliseconds."""
        for run in list(self._under_way):
            run.terminate = True

    def _raw(self, frame: UInt8) -> Float32:
        planes = self.planes(frame)
        run = _new_run()
        self._under_way.add(run)
        try:
            output: Float32 = self._session.run(None, {self.input: planes}, run)[0][0].transpose(1, 2, 0)
        except Exception:
            if run.terminate:
                raise LateError from None
            raise
        finally:
            self._under_way.discard(run)
        return output

    def _try(self) -> tuple[int, int, int]:
        """Height, width and channels of the output, found by a run, since many files do not state them."""
        file = self._card.file
        (width, height) = self.size
        try:
            output = self._session.run(None, {self.input: np.zeros((1, 3, height, width), np.float32)})[0]
        except Exception as error:  # onnxruntime's errors have no common base
            raise ModelError(f"{file}: does not run on frames of {width}x{height} ({_line(error)})") from None
        _check_output(self._card, output)
        _, channels, rows, columns = output.shape
        return rows, columns, channels


def at_size(frame: UInt8, size: tuple[int, int]) -> UInt8:
    """A frame (H, W, 3) resized to a width and height."""
    if (frame.shape[1], frame.shape[0]) == size:
        return frame
    interpolation = cv2.INTER_AREA if size[0] < frame.shape[1] else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(frame, size, interpolation=interpolation), np.uint8)


def _open(card: Card, threads: int) -> Any:
    import onnxruntime

    if not card.file.is_file():
        raise ModelError(f"{card.file}: no such file; a network needs its ONNX file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # errors are raised as exceptions anyway
    try:
        return onnxruntime.InferenceSession(str(card.file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base
        raise ModelError(f"{card.file}: not an ONNX network that can be run ({_line(error)})") from None


def _new_run() -> Any:
    """The options object of a run, by which it can be cut off."""
    import onnxruntime

    run = onnxruntime.RunOptions()
    run.log_severity_level = 4
    return run


def _input_size(card: Card, session: Any) -> tuple[int, int]:
    inputs = session.get_inputs()
    if len(inputs) != 1 or not _is_image(inputs[0]):
        raise ModelError(
            f"{card.file}: must have one input, float32 of shape (1, 3, height, width). "
            f"Got {', '.join(f'{tensor.type} {tensor.shape}' for tensor in inputs) or 'none'}"
        )
    height, width = (side if isinstance(side, int) else None for side in inputs[0].shape[2:])
    if card.size is None:
        if width is None or height is None:
            raise ModelError(f"{card.file}: takes frames of any size; set 'size' in its TOML file")
        return width, height
    if width not in (None, card.size[0]) or height not in (None, card.size[1]):
        raise ModelError(
            f"{card.file}: takes frames of {width or '?'}x{height or '?'}, "
            f"but 'size' in its TOML file says {card.size[0]}x{card.size[1]}"
        )
    return card.size


def _check_output(card: Card, output: Any) -> None:
    is_tensor = isinstance(output, np.ndarray)  # it may be a list or a dictionary
    if not is_tensor or output.dtype != np.float32 or output.ndim != 4 or output.shape[0] != 1 or output.size == 0:
        raise ModelError(
            f"{card.file}: the first output must be float32 of shape (1, classes, height, width). "
            f"Got {f'{output.dtype} {output.shape}' if is_tensor else type(output).__name__}"
        )
    low, high = float(output.min()), float(output.max())
    if card.output == "probabilities" and not (low > -TOLERANCE and high < 1 + TOLERANCE):
        raise ModelError(
            f"{card.file}: gives {low:.3g} to {high:.3g}, which are no probabilities; "
            "if they are scores, set output = 'scores' in its TOML file"
        )


def _is_image(tensor: Any) -> bool:
    """Whether an input of a network is float32 of shape (1, 3, H, W); a side that is left open is a name or None."""
    fits = [not isinstance(side, int) or side == must for side, must in zip(tensor.shape, (1, 3), strict=False)]
    return tensor.type == "tensor(float)" and len(tensor.shape) == 4 and all(fits) and 0 not in tensor.shape


def _grouped(card: Card, channels: int) -> tuple[tuple[str, ...], Float32 | None]:
    """Names of the classes, and the 0/1 matrix (channels, L) that adds up channels; None if they are one to one."""
    if card.classes is None:
        return tuple(str(k) for k in range(channels)), None
    if len(card.classes) != channels:
        raise ModelError(f"{card.file}: gives {channels} classes, but 'classes' names {len(card.classes)}")
    names = tuple(dict.fromkeys(name for name in card.classes if name))
    groups = np.array([[channel == name for name in names] for channel in card.classes], np.float32)
    return names, None if names == card.classes else groups


def _planes(frame: UInt8, card: Card) -> Float32:
    """A frame in the input format of a network, (1, 3, H, W) float32."""
    is_rgb = card.colours == "rgb"
    mean, std = (values if is_rgb else values[::-1] for values in (card.mean, card.std))
    if not is_rgb:
        frame = np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), np.uint8)
    # OpenCV has one scale for all channels; the other channels are corrected afterwards.
    means = [255 * value for value in mean]
    planes = np.asarray(cv2.dnn.blobFromImage(frame, 1 / 255 / std[0], mean=means), np.float32)
    for channel in (1, 2):
        if std[channel] != std[0]:
            planes[0, channel] *= np.float32(std[0] / std[channel])
    return planes


def _digest(card: Card) -> str:
    digest = hashlib.sha256(repr(replace(card, file=Path())).encode())
    for end in ("", ".data", "_data"):  # files with weights that are stored beside the network
        file = card.file.with_name(card.file.name + end)
        if file.is_file():
            digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def _line(error: Exception) -> str:
    """The message of an error of onnxruntime on one line, without its source location."""
    message = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (Load model from .*? failed:)?", "", str(error))
    message = " ".join(message.split()).rpartition(" was false. ")[2]
    return message[:200].rstrip(".")
