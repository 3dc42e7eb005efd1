"""Train networks from labelled videos: the work behind `budgetseg train-network`."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from budgetseg.datasets.core import LabelledVideo
from budgetseg.errors import UsageError
from budgetseg.files import atomic_file
from budgetseg.networks import MEAN, NAMES, STD
from budgetseg.networks.card import Card
from budgetseg.networks.export import export_onnx
from budgetseg.networks.folds import frame_folds
from budgetseg.networks.quantize import quantize
from budgetseg.networks.recipe import NetworkRecipe
from budgetseg.networks.run import at_size
from budgetseg.networks.seen import CARD, NO_FOLD, seen_frames
from budgetseg.networks.training import train_networks
from budgetseg.types import IGNORE, Classes, Int32, UInt8

__all__ = ["Footage", "fit_networks", "footage_of"]

Say = Callable[[str], None]
Advance = Callable[[int], None]
FILES = tuple(f"{name}.onnx" for name in NAMES)


@dataclass(frozen=True, eq=False)
class Footage:
    """The labelled frames of one video: frames (K, H, W, 3) and labels (K, H, W)."""

    name: str
    frames: UInt8
    labels: UInt8


def footage_of(videos: Iterable[LabelledVideo]) -> list[Footage]:
    """The labelled frames of those videos that have any."""
    return [
        Footage(video.name, video.video().frames[list(video.labelled)], video.labels())
        for video in videos
        if video.labelled
    ]


def fit_networks(
    footage: Sequence[Footage],
    classes: Classes,
    folder: Path,
    recipe: NetworkRecipe,
    n_folds: int = 0,
    say: Say = print,
    advance: Advance = lambda _: None,
) -> None:
    """Train networks on all footage into `folder`, and for each fold on the rest of it into `folder/fold-K`.

    `networks.json` holds the classes, the recipe, and every frame that was learned from with its fold. Networks from a
    run with the same recipe are kept, so that an interrupted training continues where it was.

    Parameters
    ----------
    footage : labelled frames
    classes : names and colours of the labels
    folder : for the networks
    recipe : settings
    n_folds : number of folds; 0 for none
    say : called with lines on the progress
    advance : called with the number of steps done; networks that are kept count, too
    """
    folds = _folds_of(footage, n_folds)
    card = {
        "format": 2,
        "classes": list(classes.names),
        "mean": MEAN,
        "std": STD,
        "recipe": _stored(recipe),
        "seen": seen_frames([video.frames for video in footage], [fold.tolist() for fold in folds]),
    }
    path = folder / CARD
    with atomic_file(path) as part:
        if not _holds(path, card):
            _forget_networks(folder)  # first, or after a kill they would pass for networks of the new card
        part.write_text(json.dumps(card, indent=2) + "\n")
    frames, labels = _joined(footage)
    fold_of = np.concatenate(folds)
    n_labels = len(classes)
    _fit_one(frames, labels, n_labels, folder, recipe, say, advance)
    for fold in range(n_folds):
        kept = fold_of != fold
        fold_recipe = replace(recipe, seed=recipe.seed + 1 + fold)
        _fit_one(frames[kept], labels[kept], n_labels, folder / f"fold-{fold}", fold_recipe, say, advance)


def _stored(recipe: NetworkRecipe) -> dict[str, Any]:
    """The recipe for `networks.json`, without newer fields at their default, so that older networks are kept."""
    stored = {**asdict(recipe), "time_limit_s": None}
    return stored if recipe.int8 else {name: value for name, value in stored.items() if name != "int8"}


def _folds_of(footage: Sequence[Footage], n_folds: int) -> list[Int32]:
    """Fold of every frame of every video; UsageError if a network would have nothing to learn from."""
    if not any((video.labels != IGNORE).any() for video in footage):
        raise UsageError("no frame of this split has labels; choose another split")
    if not n_folds:
        return [np.full(len(video.labels), NO_FOLD, np.int32) for video in footage]
    folds = frame_folds([video.labels for video in footage], n_folds)
    if len(np.unique(np.concatenate(folds))) < 2:
        raise UsageError("labelled frames are all in one fold; give more folds, more videos or longer ones")
    return folds


def _joined(footage: Sequence[Footage]) -> tuple[UInt8, UInt8]:
    """All frames (N, H, W, 3) and labels (N, H, W), at the size that most videos have."""
    sizes = [video.labels.shape[:0:-1] for video in footage]  # width and height
    size = max(sizes, key=sizes.count)
    frames = [at_size(frame, size) for video in footage for frame in video.frames]
    labels = [cv2.resize(frame, size, interpolation=cv2.INTER_NEAREST) for video in footage for frame in video.labels]
    return np.stack(frames), np.stack(labels)


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
    frames: UInt8, labels: UInt8, n_labels: int, folder: Path, recipe: NetworkRecipe, say: Say, advance: Advance
) -> None:
    if all((folder / name).exists() for name in FILES):
        say(f"{folder}: already trained")
        advance(recipe.n_steps)
        return
    say(f"{folder}: training on {len(frames)} frames")
    networks = train_networks(frames, labels, n_labels, recipe, say, advance)
    for name, network in networks.items():
        export_onnx(network, folder / f"{name}.onnx", (frames.shape[2], frames.shape[1]))
    if recipe.int8:
        quantize(Card(folder / FILES[-1]), list(frames), folder / FILES[-1])
