"""Labelled frames and published weights as a few small files, for a training on a machine that has only PyTorch.

A set is one `.npz`: frames as JPEG, labels as PNG, and for each frame its sequence and its fold. It is read with
NumPy and Pillow alone.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from budgetseg.types import IGNORE, UInt8

__all__ = ["FrameSet", "pack_set", "read_set", "write_weights"]


@dataclass(frozen=True, eq=False)
class FrameSet:
    """Frames of one size.

    Attributes
    ----------
    frames : (N, H, W, 3)
    labels : (N, H, W), `IGNORE` without a label
    sequences : (N,) names, of which one is left out whole
    folds : (N,) fold of each frame
    n_labels : number of classes
    """

    frames: UInt8
    labels: UInt8
    sequences: NDArray[np.str_]
    folds: NDArray[np.int64]
    n_labels: int

    def left_out(self, what: str) -> NDArray[np.bool_]:
        """Which frames are left out, (N,): those of a sequence, of `fold-K`, or none for an empty name."""
        if what.startswith("fold-"):
            return np.asarray(self.folds == int(what.removeprefix("fold-")))
        chosen = np.asarray(self.sequences == what)
        if what and not chosen.any():
            raise ValueError(f"no sequence '{what}'; choose from {', '.join(np.unique(self.sequences))}")
        return chosen


def pack_set(path: Path, found: FrameSet, quality: int) -> None:
    """Write a set, its frames as JPEG of a quality."""
    import cv2  # written where OpenCV is, read where it may not be

    options = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1]
    frames = [cv2.imencode(".jpg", frame[..., ::-1], options)[1] for frame in found.frames]
    labels = [cv2.imencode(".png", frame, [cv2.IMWRITE_PNG_COMPRESSION, 9])[1] for frame in found.labels]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        path,
        frames=np.concatenate(frames),
        frame_ends=np.cumsum([len(own) for own in frames]),
        labels=np.concatenate(labels),
        label_ends=np.cumsum([len(own) for own in labels]),
        sequences=found.sequences,
        folds=found.folds,
        n_labels=found.n_labels,
    )


def read_set(path: Path) -> FrameSet:
    """Read a set."""
    with np.load(path) as file:
        frames = np.stack([_decoded(own) for own in _split(file["frames"], file["frame_ends"])])
        labels = np.stack([_decoded(own) for own in _split(file["labels"], file["label_ends"])])
        return FrameSet(frames, labels, file["sequences"], file["folds"], int(file["n_labels"]))


def _split(joined: UInt8, ends: NDArray[np.int64]) -> Sequence[UInt8]:
    return np.split(joined, ends[:-1])


def _decoded(data: UInt8) -> UInt8:
    with Image.open(io.BytesIO(data.tobytes())) as image:
        return np.asarray(image, np.uint8)


def unlabelled(frames: UInt8, name: str) -> FrameSet:
    """A set of frames (N, H, W, 3) without labels."""
    n = len(frames)
    labels = np.full(frames.shape[:3], IGNORE, np.uint8)
    return FrameSet(frames, labels, np.full(n, name), np.full(n, -1, np.int64), 0)


def write_weights(path: Path, name: str) -> None:
    """Write the published weights of an encoder in half precision, normalisation in full, without its classifier."""
    import torch
    from safetensors.torch import save_file

    from budgetseg.networks.backbones import published_weights

    kept = {key: value for key, value in published_weights(name).items() if not key.startswith(("_fc", "_conv_head"))}
    small = {key: value.half() if value.dim() == 4 else value for key, value in kept.items()}
    plain = {key: value.contiguous() for key, value in small.items() if value.dtype != torch.int64}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(plain, path)
