"""From labelled videos to network files: the job behind `budgetseg train-network`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.descriptors.network import MEAN, STD
from budgetseg.descriptors.network.export import export_onnx
from budgetseg.descriptors.network.folds import frame_folds
from budgetseg.descriptors.network.seen import CARD, NO_FOLD, seen_frames
from budgetseg.descriptors.network.training import Recipe, train_networks
from budgetseg.files import atomic_file
from budgetseg.types import Bool, Classes, Int32, UInt8

__all__ = ["Footage", "fit_networks"]

Say = Callable[[str], None]
FILES = "dcnn.onnx", "dcnn_large.onnx"


@dataclass(frozen=True, eq=False)
class Footage:
    """The labelled frames of one video: frames (K, H, W, 3) and labels (K, H, W)."""

    name: str
    frames: UInt8
    labels: UInt8


def fit_networks(
    footage: Sequence[Footage], classes: Classes, folder: Path, recipe: Recipe, n_folds: int = 0, say: Say = print
) -> None:
    """Train on all footage into `folder`, and per fold on the rest of it into `folder/fold-K`.

    `networks.json` tells the classes, the recipe, and every frame that was learned from with its fold. What is already
    in the folder from a run with the same recipe is kept, so that an interrupted training goes on where it was.
    """
    none: list[Int32] = [np.full(len(video.labels), NO_FOLD, np.int32) for video in footage]
    folds = frame_folds([video.labels for video in footage], n_folds) if n_folds else none
    card = {
        "format": 2,
        "classes": list(classes.names),
        "mean": MEAN,
        "std": STD,
        "recipe": {**asdict(recipe), "time_limit_s": None},
        "seen": seen_frames([video.frames for video in footage], [fold.tolist() for fold in folds]),
    }
    path = folder / CARD
    with atomic_file(path) as part:
        if not _holds(path, card):
            _forget_networks(folder)  # first, or after a kill they would pass for networks of the new card
        part.write_text(json.dumps(card, indent=2) + "\n")
    everything = [np.ones(len(video.labels), np.bool_) for video in footage]
    _fit_one(footage, everything, len(classes), folder, recipe, say)
    for fold in range(n_folds):
        kept = [own != fold for own in folds]
        place, own_recipe = folder / f"fold-{fold}", replace(recipe, seed=recipe.seed + 1 + fold)
        _fit_one(footage, kept, len(classes), place, own_recipe, say)


def _holds(path: Path, card: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(path.read_text()) == card)
    except (OSError, ValueError):
        return False


def _forget_networks(folder: Path) -> None:
    for place in (folder, *folder.glob("fold-*")):
        for name in FILES:
            (place / name).unlink(missing_ok=True)


def _fit_one(
    footage: Sequence[Footage],
    kept: list[Bool],
    n_labels: int,
    folder: Path,
    recipe: Recipe,
    say: Say,
) -> None:
    if all((folder / name).exists() for name in FILES):
        say(f"{folder}: already trained")
        return
    frames = np.concatenate([video.frames[mask] for video, mask in zip(footage, kept, strict=True)])
    labels = np.concatenate([video.labels[mask] for video, mask in zip(footage, kept, strict=True)])
    say(f"{folder}: training on {len(frames)} frames")
    networks = train_networks(frames, labels, n_labels, recipe, say)
    for name, network in networks.items():
        export_onnx(network, folder / f"{name}.onnx", (frames.shape[2], frames.shape[1]))
