"""From labelled videos to network files: the job behind `budgetseg train-network`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

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
    fresh = not path.exists() or json.loads(path.read_text()) != card
    with atomic_file(path) as part:
        part.write_text(json.dumps(card, indent=2) + "\n")
    everything = [np.ones(len(video.labels), np.bool_) for video in footage]
    _fit_one(footage, everything, len(classes), folder, recipe, fresh, say)
    for fold in range(n_folds):
        kept = [own != fold for own in folds]
        place, own_recipe = folder / f"fold-{fold}", replace(recipe, seed=recipe.seed + 1 + fold)
        _fit_one(footage, kept, len(classes), place, own_recipe, fresh, say)


def _fit_one(
    footage: Sequence[Footage],
    kept: list[Bool],
    n_labels: int,
    folder: Path,
    recipe: Recipe,
    fresh: bool,
    say: Say,
) -> None:
    if not fresh and (folder / "dcnn.onnx").exists() and (folder / "dcnn_large.onnx").exists():
        say(f"{folder}: already trained")
        return
    frames = np.concatenate([video.frames[mask] for video, mask in zip(footage, kept, strict=True)])
    labels = np.concatenate([video.labels[mask] for video, mask in zip(footage, kept, strict=True)])
    say(f"{folder}: training on {len(frames)} frames")
    networks = train_networks(frames, labels, n_labels, recipe, say)
    for name, network in networks.items():
        export_onnx(network, folder / f"{name}.onnx", (frames.shape[2], frames.shape[1]))
