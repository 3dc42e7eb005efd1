"""A trained model as a folder of files that cannot run any code.

manifest.json        format, classes, descriptors, settings, static plans, policies, and a digest of every other file
arrays.safetensors   H, the CRF, the weights of policies and the values of Baseline3
networks/            NAME.onnx, and NAME.toml where a network has a card

A model of networks alone has no arrays, and a card for each network. The manifest of either may have `frames`: what
`budgetseg adapt` or `budgetseg train` has measured of its networks for plans of the frames space.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from budgetseg.checked import Limits, digest_of, place_below, read_json, size_of, text, whole
from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.crf.potentials import Crf
from budgetseg.errors import ModelError, UsageError
from budgetseg.files import atomic_file, atomic_folder
from budgetseg.networks.card import MOST_CLASSES, Card, card_for, card_text, read_card
from budgetseg.networks.config import CONFIG, PREPROCESSOR
from budgetseg.networks.weights import weight_files
from budgetseg.policy.baseline3 import Baseline3Policy
from budgetseg.policy.learned import Expected, LearnedPolicy, Uses
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.static import StaticPlan, read_plan
from budgetseg.spaces.frames.calibration import Calibration
from budgetseg.types import Classes, Float32

__all__ = ["AnyModel", "Model", "NetworkModel", "load_any", "load_model", "save_model", "with_calibration"]

FORMAT = 2  # it also changes when a descriptor changes its meaning, since learned weights would not fit
ARRAYS = "arrays.safetensors"
NETWORKS = "networks"
MOST_DESCRIPTORS = 12
"""H has weights for every subset of descriptors."""
MOST_INPUTS = 1_000_000
"""Numbers that a descriptor has at most."""
H_ARRAYS = ("centre", "scale", "weights", "bias", "prior", "favour")
CRF_ARRAYS = ("unary_weight", "unary_bias", "pair", "expected")
_DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, SafetensorError, UsageError)


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that labelling needs.

    Attributes
    ----------
    name : of the model
    classes : names and colours of the classes that it predicts
    classifiers : H
    crf : the energies
    networks : folder of the networks behind its descriptors; None if it has none
    settings : dataset that it was trained on, tier, and supervoxels per frame
    plans : the best static plans for some budgets
    baseline3 : policies of Baseline3, for some descriptor sets and kinds of costs
    policies : learned policies, for some descriptor sets and kinds of costs
    gains : by network, points of mean IoU by which it is better than one of them; empty where none was measured
    calibration : what may be promised of labels by frames; None where nothing is known
    """

    name: str
    classes: Classes
    classifiers: SubsetClassifiers
    crf: Crf
    networks: Path | None
    settings: Mapping[str, Any]
    plans: tuple[StaticPlan, ...] = ()
    baseline3: tuple[Baseline3Policy, ...] = ()
    policies: tuple[LearnedPolicy, ...] = ()
    gains: Mapping[str, float] = field(default_factory=dict)
    calibration: Calibration | None = None


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """Networks alone: what the frames space needs.

    Attributes
    ----------
    name : of the model
    classes : names and colours of the classes that it predicts
    cards : of its networks, by name
    settings : what is known of where it comes from
    gains : by network, points of mean IoU by which it is better than one of them; empty where none was measured
    calibration : what may be promised of its labels; None where nothing is known
    """

    name: str
    classes: Classes
    cards: Mapping[str, Card]
    settings: Mapping[str, Any] = field(default_factory=dict)
    gains: Mapping[str, float] = field(default_factory=dict)
    calibration: Calibration | None = None


AnyModel = Model | NetworkModel
"""A model as `budgetseg train` makes it, or networks alone."""


def save_model(model: AnyModel, folder: Path) -> None:
    """Write a model to a folder, which appears whole or not at all."""
    if isinstance(model, NetworkModel):
        _save_networks(model, folder)
        return
    arrays = {f"h.{name}": getattr(model.classifiers, name) for name in H_ARRAYS}
    arrays |= {f"crf.{name}": getattr(model.crf, name) for name in CRF_ARRAYS}
    arrays |= {f"wholes.{k}": policy.values for k, policy in enumerate(model.baseline3)}
    arrays |= {f"policies.{k}": learned.policy.weights for k, learned in enumerate(model.policies)}
    with atomic_folder(folder, last="manifest.json", stale=_files_of) as part:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, part / ARRAYS)
        _copy_networks(model, part / NETWORKS)
        manifest = {
            "format": FORMAT,
            "name": model.name,
            "classes": {"names": list(model.classes.names), "colours": model.classes.colours.tolist()},
            "descriptors": list(model.classifiers.names),
            "lengths": list(model.classifiers.lengths),
            "opinions": list(model.classifiers.opinions),
            "contrast": model.crf.contrast,
            "settings": dict(model.settings),
            "plans": [asdict(plan) for plan in model.plans],
            "wholes": [{"among": list(policy.among), "costs": policy.costs} for policy in model.baseline3],
            "policies": [_card_of(learned) for learned in model.policies],
            **_stored_gains(model.gains),
            "calibration": _stored_calibration(model),
            **_listed(part),
        }
        (part / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def with_calibration(folder: Path, calibration: Calibration | None) -> None:
    """Change what the model in a folder may promise; all else stays as it is."""
    load_any(folder)
    place = folder / "manifest.json"
    manifest = {**json.loads(place.read_text()), "calibration": None}
    if calibration is not None:
        manifest["calibration"] = calibration.as_dict()
    with atomic_file(place) as part:
        part.write_text(json.dumps(manifest, indent=2) + "\n")


def load_model(folder: Path) -> Model:
    """Read a model that `budgetseg train` made; ModelError where a folder holds another one, or networks alone."""
    model = load_any(folder)
    if isinstance(model, NetworkModel):
        raise ModelError(f"{folder}: has networks alone; give a model that 'budgetseg train' made")
    return model


def load_any(folder: Path) -> AnyModel:
    """Read a model from a folder. Sizes, shapes and digests are checked, and no code of it is run."""
    try:
        manifest = read_json(folder / "manifest.json")
        if manifest["format"] != FORMAT:
            raise ModelError(f"{folder}: a model of format {manifest['format']}, not {FORMAT}; train it again")
        has_arrays = "networks" not in manifest
        if has_arrays and ARRAYS not in manifest["files"]:
            raise ValueError(f"'{ARRAYS}' is not listed")
        _check_files(manifest, folder)
        if not has_arrays:
            return _read_networks(manifest, folder)
        return _assemble(manifest, load_file(folder / ARRAYS), folder)
    except FileNotFoundError as error:
        raise ModelError(f"{folder}: no model, {error.filename} is missing; 'budgetseg train' makes one") from None
    except _DAMAGES as error:
        raise ModelError(f"{folder}: damaged model ({type(error).__name__}: {error}); copy or train it again") from None


def _check_files(manifest: Mapping[str, Any], folder: Path) -> None:
    """Raise ModelError where a listed file has changed, or one that would be used is not listed."""
    listed = {text(name): text(digest) for name, digest in manifest["files"].items()}
    if len(listed) > Limits.names:
        raise ValueError(f"{len(listed)} files")
    sizes = manifest.get("sizes", {})  # older models state none
    for name, digest in listed.items():
        path = place_below(folder, name)
        if size_of(path, Limits.model_bytes) != sizes.get(name, path.lstat().st_size) or digest_of(path) != digest:
            raise ModelError(f"{path}: changed since the model was written; copy it again")
    if not any(name.startswith(NETWORKS) for name in listed):  # then no network is used
        return
    for path in sorted((folder / NETWORKS).rglob("*")):
        if path.relative_to(folder).as_posix() not in listed and (path.is_symlink() or not path.is_dir()):
            raise ModelError(f"{path}: is not of the model, whose manifest does not list it; remove it")


def _listed_card(card: Card, manifest: Mapping[str, Any], folder: Path) -> Card:
    """The card, if its network is one of the files of the model."""
    try:
        name = card.file.relative_to(folder).as_posix()
    except ValueError:
        name = str(card.file)
    if name not in manifest["files"]:
        raise ModelError(f"{folder}: a card names '{card.file}', which is not of the model; copy the model again")
    return card


def _save_networks(model: NetworkModel, folder: Path) -> None:
    with atomic_folder(folder, last="manifest.json", stale=_files_of) as part:
        (part / "networks").mkdir()
        for name, card in model.cards.items():
            _copy_network(name, card, part / "networks")
        manifest = {
            "format": FORMAT,
            "name": model.name,
            "classes": {"names": list(model.classes.names), "colours": model.classes.colours.tolist()},
            "networks": list(model.cards),
            "settings": dict(model.settings),
            **_stored_gains(model.gains),
            "calibration": _stored_calibration(model),
            **_listed(part),
        }
        (part / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def _read_networks(manifest: dict[str, Any], folder: Path) -> NetworkModel:
    classes = _read_classes(manifest)
    names = list(manifest["networks"])
    if not names or not isinstance(manifest["settings"], dict) or not isinstance(manifest["name"], str):
        raise ValueError("a name, settings, and at least one network are needed")
    cards = {text(name): card_for(place_below(folder, f"{NETWORKS}/{name}.onnx")) for name in names}
    for card in cards.values():
        card.file.stat()  # it is there
        _listed_card(card, manifest, folder)
    gains = _read_gains(manifest, tuple(cards))
    return NetworkModel(
        manifest["name"], classes, cards, manifest["settings"], gains, _read_calibration(manifest, classes)
    )


def _read_classes(manifest: dict[str, Any]) -> Classes:
    """The classes of a manifest; ValueError where there is not a colour for each."""
    colours = np.array(manifest["classes"]["colours"], np.uint8)
    classes = Classes(tuple(map(text, manifest["classes"]["names"])), colours)
    whole(len(classes), 1, MOST_CLASSES)
    if colours.shape != (len(classes), 3):
        raise ValueError(f"{len(classes)} classes need as many colours. Got {colours.shape}")
    return classes


def _assemble(manifest: dict[str, Any], arrays: Mapping[str, Any], folder: Path) -> Model:
    classes = _read_classes(manifest)
    names = tuple(manifest["descriptors"])
    lengths = tuple(manifest["lengths"])
    contrast = float(manifest["contrast"])
    tier = manifest["settings"]["tier"]
    if len(lengths) != 1 + len(names) or not np.isfinite(contrast) or not isinstance(tier, str):
        raise ValueError(f"{len(names)} descriptors, {len(lengths)} lengths, contrast {contrast}, tier {tier}")
    n_inputs = sum(whole(length, 0, MOST_INPUTS) for length in lengths)
    n_labels = len(classes)
    n_subsets = 1 << whole(len(names), 0, MOST_DESCRIPTORS)
    shapes = {
        "h.centre": (n_inputs,),
        "h.scale": (n_inputs,),
        "h.weights": (n_subsets, n_inputs, n_labels),
        "h.bias": (n_subsets, n_labels),
        "h.prior": (n_labels,),
        "h.favour": (n_subsets, n_labels),
        "crf.unary_weight": (n_labels,),
        "crf.unary_bias": (n_labels,),
        "crf.pair": (n_labels, n_labels),
        "crf.expected": (n_inputs - lengths[0], n_labels),
    }
    for name, shape in shapes.items():
        array = arrays[name]
        if array.shape != shape or array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ValueError(f"{name} must be {shape} and finite. Got {array.shape} of {array.dtype}")
        if array.dtype != (np.float64 if name == "h.prior" else np.float32):
            raise ValueError(f"{name} is of {array.dtype}, which compiled code does not take")
    if arrays["h.scale"].min(initial=1) <= 0 or arrays["h.prior"].min(initial=1) < 0:
        raise ValueError("h.scale must be above 0, and h.prior not below it")
    h_arrays = {name: arrays[f"h.{name}"] for name in H_ARRAYS}
    h = SubsetClassifiers(names, lengths, **h_arrays, opinions=tuple(manifest["opinions"]))
    crf = Crf(**{name: arrays[f"crf.{name}"] for name in CRF_ARRAYS}, contrast=contrast)
    has_networks = any(name.startswith(NETWORKS) for name in manifest["files"])  # other files there do not count
    networks = folder / NETWORKS if has_networks else None
    if networks is not None:
        for card in sorted(networks.glob("*.toml")):
            _listed_card(read_card(card), manifest, folder)
    plans = tuple(_read_plan(stored, h) for stored in manifest.get("plans", ()))  # older models have none
    baseline3 = tuple(
        _read_baseline3(stored, arrays[f"wholes.{k}"], h) for k, stored in enumerate(manifest.get("wholes", ()))
    )
    stored = enumerate(manifest.get("policies", ()))
    policies = tuple(_read_policy(card, arrays[f"policies.{k}"], h) for k, card in stored)
    gains = _read_gains(manifest, names)
    calibration = _read_calibration(manifest, classes)
    settings = manifest["settings"]
    return Model(manifest["name"], classes, h, crf, networks, settings, plans, baseline3, policies, gains, calibration)


def _stored_gains(gains: Mapping[str, float]) -> dict[str, Any]:
    """What was measured for plans of the frames space, under its key of the manifest; nothing where nothing was."""
    return {"frames": {"gains": dict(gains)}} if gains else {}


def _read_gains(manifest: Mapping[str, Any], networks: Sequence[str]) -> dict[str, float]:
    """Gains of networks of these names; ValueError where they do not fit them. Older models have none."""
    stored = manifest.get("frames", {"gains": {}})["gains"]
    gains = {str(name): float(points) for name, points in stored.items()}
    if not set(gains) <= set(networks) or not np.isfinite(list(gains.values())).all():
        raise ValueError(f"gains must be finite, of the networks {', '.join(networks)}. Got {stored}")
    return gains


def _stored_calibration(model: AnyModel) -> dict[str, Any] | None:
    return None if model.calibration is None else model.calibration.as_dict()


def _read_calibration(manifest: Mapping[str, Any], classes: Classes) -> Calibration | None:
    """What a model may promise; None for older models."""
    stored = manifest.get("calibration")
    return None if stored is None else Calibration.from_dict(stored, len(classes))


def _read_plan(stored: Mapping[str, Any], h: SubsetClassifiers) -> StaticPlan:
    """A static plan from its JSON values; UsageError if the model lacks one of its descriptors."""
    plan = read_plan(stored)
    h.subset_of(plan.among)
    return plan


def _read_baseline3(stored: Mapping[str, Any], values: Float32, h: SubsetClassifiers) -> Baseline3Policy:
    """A policy of Baseline3 from its JSON values; UsageError if the model lacks one of its descriptors."""
    h.subset_of(stored["among"])
    return Baseline3Policy(tuple(stored["among"]), stored["costs"], values)


def _card_of(learned: LearnedPolicy) -> dict[str, Any]:
    """A learned policy as JSON values, without its weights."""
    return {
        "method": learned.method,
        "among": list(learned.among),
        "costs": learned.costs,
        "extended": learned.policy.extended,
        "expected": [list(fields) for fields in learned.expected],
        "uses": [list(fields) for fields in learned.uses],
    }


def _read_policy(card: Mapping[str, Any], weights: Float32, h: SubsetClassifiers) -> LearnedPolicy:
    """A learned policy from its JSON values; UsageError if it does not fit the model's descriptors and classes."""
    h.subset_of(card["among"])
    expected = tuple(Expected(*map(float, fields)) for fields in card["expected"])
    policy = LinearPolicy(weights, bool(card["extended"]))
    stored = card.get("uses", -1)  # older models have nothing, or one number for every budget
    schedule = [[0.0, stored]] if isinstance(stored, int) else stored
    # A third number of older models, a bias against Finished, is not used any more.
    uses = tuple(Uses(float(least), int(descriptors)) for least, descriptors, *_ in schedule)
    learned = LearnedPolicy(card["method"], tuple(card["among"]), card["costs"], policy, expected, uses)
    learned.check(len(h.names), h.n_labels)
    return learned


def _copy_networks(model: Model, folder: Path) -> None:
    """Copy the networks behind the model's descriptors, their cards, and the JSON files that hold for all of them."""
    if model.networks is None:
        return
    folder.mkdir()
    for name in model.classifiers.names:
        card = model.networks / f"{name}.toml"
        if card.is_file():
            _copy_network(name, read_card(card), folder)
        elif (model.networks / f"{name}.onnx").is_file():
            _copy_network(name, Card(model.networks / f"{name}.onnx"), folder)
    for name in ("networks.json", CONFIG, PREPROCESSOR):
        beside = model.networks / name
        if beside.is_file():
            shutil.copyfile(beside, folder / name)
    if not _files(folder):
        folder.rmdir()


def _copy_network(name: str, card: Card, folder: Path) -> None:
    """Copy a network with its card; weights that are stored beside it keep their names, since it names them."""
    weights = weight_files(card.file)
    file = card.file.name if weights else f"{name}.onnx"
    for path, place in ((card.file, file), *((path, path.name) for path in weights)):
        if (folder / place).exists():
            raise ModelError(f"{path}: another network has a file of this name; rename one of them")
        shutil.copyfile(path, folder / place)
    if card != Card(card.file) or file != f"{name}.onnx":
        (folder / f"{name}.toml").write_text(card_text(card, file), encoding="utf-8")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _listed(folder: Path) -> dict[str, dict[str, Any]]:
    """Digests and sizes of all files, for the manifest."""
    names = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    return {
        "files": {name: digest_of(path) for name, path in names.items()},
        "sizes": {name: path.stat().st_size for name, path in names.items()},
    }


def _files_of(folder: Path) -> list[str]:
    """Files of an earlier model in a folder, which another one does not keep."""
    try:
        return [str(name) for name in read_json(folder / "manifest.json")["files"]]
    except _DAMAGES:
        return []
