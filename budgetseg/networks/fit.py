"""Train networks from labelled videos: the work behind `budgetseg train-network`."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from torch import nn

from budgetseg.datasets.core import LabelledVideo
from budgetseg.errors import UsageError
from budgetseg.files import atomic_file
from budgetseg.networks import MEAN, STD
from budgetseg.networks.architecture import build
from budgetseg.networks.calibrate import sample_scores, temperature_of
from budgetseg.networks.card import Card
from budgetseg.networks.checkpoint import load_checkpoint
from budgetseg.networks.export import export_onnx, temperature_in
from budgetseg.networks.folds import frame_folds
from budgetseg.networks.quantize import quantize
from budgetseg.networks.recipe import LADDER, SCRATCH, NetworkRecipe, Rung
from budgetseg.networks.run import at_size
from budgetseg.networks.seen import CARD, NO_FOLD, seen_frames
from budgetseg.networks.sizes import input_size
from budgetseg.networks.training import Checkpoints, Teacher, Teaching, class_scores, train_networks
from budgetseg.types import IGNORE, Classes, Float32, Int32, UInt8

__all__ = ["Footage", "fit_networks", "footage_of", "network_card"]

Say = Callable[[str], None]
Advance = Callable[[int], None]
_OLDEST = ("n_steps", "batch", "rate", "decay", "average", "distil", "time_limit_s", "seed", "device")
"""Fields of the recipe that every `networks.json` states."""
_QUANTISED = "dcnn_large"
"""The network that `int8` is for."""


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

    If the recipe says so, every fold network is calibrated on its fold, and the network of all footage by the mean of
    these temperatures. `networks.json` holds the classes, the recipe, and every frame that was learned from with its
    fold. Networks from a run with the same recipe are kept, so that an interrupted training continues where it was.

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
    card = network_card(footage, classes, recipe, folds)
    path = folder / CARD
    with atomic_file(path) as part:
        if not _holds(path, card):
            _forget_networks(folder, recipe)  # first, or after a kill they would pass for networks of the new card
        part.write_text(json.dumps(card, indent=2) + "\n")
    frames, labels = _joined(footage)
    fold_of = np.concatenate(folds)
    n_labels = len(classes)
    found = []
    for fold in range(n_folds):
        kept = fold_of != fold
        fold_recipe = replace(recipe, seed=recipe.seed + 1 + fold)
        part_of = _Part(folder / f"fold-{fold}", frames[kept], labels[kept], (frames[~kept], labels[~kept]))
        found.append(_fit_part(part_of, n_labels, fold_recipe, {}, say, advance))
    mean = {name: float(np.exp(np.mean([np.log(own[name]) for own in found]))) for name in recipe.names if found}
    _fit_part(_Part(folder, frames, labels), n_labels, recipe, mean, say, advance)


def network_card(
    footage: Sequence[Footage], classes: Classes, recipe: NetworkRecipe, folds: Sequence[Int32]
) -> dict[str, Any]:
    """What `networks.json` holds, from labelled frames and the fold of each frame of each video."""
    return {
        "format": 2,
        "classes": list(classes.names),
        "mean": MEAN,
        "std": STD,
        "recipe": _stored(recipe),
        "seen": seen_frames([video.frames for video in footage], [fold.tolist() for fold in folds]),
    }


def _stored(recipe: NetworkRecipe) -> dict[str, Any]:
    """The recipe for `networks.json`, without newer fields at their default, so that older networks are kept."""
    usual = asdict(NetworkRecipe())
    stored = {**asdict(recipe), "time_limit_s": None}
    return {name: value for name, value in stored.items() if name in _OLDEST or value != usual[name]}


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
        return bool(json.loads(path.read_text()) == json.loads(json.dumps(card)))
    except (OSError, ValueError):
        return False


def _forget_networks(folder: Path, recipe: NetworkRecipe) -> None:
    names = {*(rung.name for rung in SCRATCH), *LADDER.names, *recipe.names}
    for place in (folder, *folder.glob("fold-*")):
        for name in names:
            (place / f"{name}.onnx").unlink(missing_ok=True)
            _unfinished(place, name).unlink(missing_ok=True)


def _unfinished(folder: Path, name: str) -> Path:
    """The checkpoint of a network whose folder is not finished."""
    return folder / f"{name}.part.safetensors"


@dataclass(frozen=True, eq=False)
class _Part:
    """What the networks of one folder learn from.

    Attributes
    ----------
    folder : for the networks
    frames : (N, H, W, 3)
    labels : (N, H, W)
    unseen : frames and labels that calibrate the networks; None if others do
    """

    folder: Path
    frames: UInt8
    labels: UInt8
    unseen: tuple[UInt8, UInt8] | None = None


def _fit_part(
    part: _Part, n_labels: int, recipe: NetworkRecipe, known: Mapping[str, float], say: Say, advance: Advance
) -> dict[str, float]:
    """Train the networks of one folder, and return their temperatures; `known` ones are not measured."""
    found: dict[str, float] = {}
    teachers: list[Teacher] = []
    for own in recipe.parts():
        files = [part.folder / f"{name}.onnx" for name in own.names]
        of_whom = "" if recipe.together else f", {own.names[0]}"
        if all(path.exists() for path in files):
            say(f"{part.folder}: already trained{of_whom}")
            advance(recipe.n_steps)
            networks = _kept(part.folder, own, n_labels) if recipe.distil else {}
        else:
            say(f"{part.folder}: training on {len(part.frames)} frames{of_whom}")
            networks = _train(part, n_labels, own, teachers, say, advance)
            _export(part, networks, own, known)
        found |= {name: temperature_in(path) for name, path in zip(own.names, files, strict=True)}
        teachers += [Teacher(networks[rung.name], rung.zoom) for rung in own.rungs if rung.name in networks]
    for name in recipe.names:
        _unfinished(part.folder, name).unlink(missing_ok=True)
    return found


def _train(
    part: _Part, n_labels: int, recipe: NetworkRecipe, teachers: list[Teacher], say: Say, advance: Advance
) -> dict[str, nn.Module]:
    if recipe.together:
        return train_networks(part.frames, part.labels, n_labels, recipe, say, advance)
    checkpoints = Checkpoints(_unfinished(part.folder, recipe.names[0]))
    helped = Teaching(teachers if recipe.distil else ())
    return train_networks(
        part.frames, part.labels, n_labels, recipe, say, advance, teaching=helped, checkpoints=checkpoints
    )


def _kept(folder: Path, recipe: NetworkRecipe, n_labels: int) -> dict[str, nn.Module]:
    """Networks of a training that ended before an interruption, as teachers."""
    found = {}
    for rung in recipe.rungs:
        path = _unfinished(folder, rung.name)
        if path.exists():
            network = build(rung.shape, n_labels, published=False)
            load_checkpoint(path, {rung.name: network})
            found[rung.name] = network.to(recipe.device).eval()
    return found


def _export(part: _Part, networks: dict[str, nn.Module], recipe: NetworkRecipe, known: Mapping[str, float]) -> None:
    video = (part.frames.shape[2], part.frames.shape[1])
    for rung in recipe.rungs:
        network = networks[rung.name]
        temperature = known.get(rung.name, 1.0)
        if recipe.calibrated and part.unseen is not None:
            temperature = temperature_of(*sample_scores(_scored(network, rung, *part.unseen, recipe.device), _rng()))
        path = part.folder / f"{rung.name}.onnx"
        export_onnx(network, path, input_size(video, rung.zoom), temperature)
        if recipe.int8 and rung.name == _QUANTISED:
            quantize(Card(path), list(part.frames), path)


def _rng() -> np.random.Generator:
    """Chooses pixels for a temperature, always the same ones."""
    return np.random.default_rng(0)


def _scored(
    network: nn.Module, rung: Rung, frames: UInt8, labels: UInt8, device: str
) -> Iterator[tuple[Float32, UInt8]]:
    """Class scores (L, H, W) and labels (H, W) of frames that a network has not seen."""
    for frame, truth in zip(frames, labels, strict=True):
        yield class_scores(network, frame, rung.zoom, device)[0].cpu().numpy(), truth
