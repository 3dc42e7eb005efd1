"""Find which frames a network was trained on, and the fold network that must predict them instead.

Predictions for frames of the training are too good, and must not train later stages. `networks.json` beside the
networks lists every frame that they have seen, by a digest of its content, and its fold: the network in `fold-K` has
not seen the frames of fold K.
"""

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from budgetseg.errors import ModelError
from budgetseg.types import UInt8

__all__ = ["CARD", "NO_FOLD", "frame_digest", "seen_frames", "stand_ins"]

CARD = "networks.json"
NO_FOLD = -1
"""Fold of a frame that all networks of the folder have seen."""


def frame_digest(frame: UInt8) -> str:
    """A digest of the pixels of a frame, which does not depend on the file they come from."""
    return blake2b(np.ascontiguousarray(frame).data, digest_size=8).hexdigest()


def stand_ins(folder: Path, name: str, frames: UInt8) -> list[Path | None]:
    """For every frame, the network file to use instead of `folder/name.onnx`; None if that network has not seen it.

    Unlabelled frames between frames that a network has seen are treated like the nearest of them.
    """
    seen = _read_seen(folder)
    folds = np.array([seen.get(frame_digest(frame), NO_FOLD - 1) for frame in frames])
    known = np.flatnonzero(folds >= NO_FOLD)
    if len(known) == 0:
        return [None] * len(frames)
    nearest = known[np.abs(np.arange(len(frames))[:, None] - known).argmin(axis=1)]
    return [_stand_in(folder, name, int(fold)) for fold in folds[nearest]]


def _stand_in(folder: Path, name: str, fold: int) -> Path:
    path = folder / f"fold-{fold}" / f"{name}.onnx"
    if fold == NO_FOLD or not path.is_file():
        raise ModelError(
            f"{folder / name}.onnx was trained on frames of this video, and there is no fold network that was not; "
            "train with 'budgetseg train-network --folds 4', or describe other videos"
        )
    return path


def _read_seen(folder: Path) -> dict[str, int]:
    path = folder / CARD
    try:
        seen = json.loads(path.read_text())["seen"] if path.exists() else {}
        return {digest: int(fold) for digest, fold in seen.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: not readable as the card of networks ({error!r}); train them again") from None


def seen_frames(frames: Sequence[UInt8], folds: Sequence[Sequence[int]]) -> dict[str, int]:
    """Fold of every frame by its digest, from videos (K, H, W, 3) and the folds of their frames."""
    return {
        frame_digest(frame): int(fold)
        for video, of_video in zip(frames, folds, strict=True)
        for frame, fold in zip(video, of_video, strict=True)
    }
