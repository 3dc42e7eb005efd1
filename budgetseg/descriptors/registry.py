"""Descriptors by name: built-in ones, those of other packages, and networks in a folder."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from budgetseg.descriptors.colour import Colour
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.hog import Hog
from budgetseg.descriptors.motion.histograms import Hof, Mbh
from budgetseg.descriptors.network_output import NetworkDescriptor
from budgetseg.errors import UsageError
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.seen import stand_ins
from budgetseg.types import UInt8

__all__ = ["BUILT_IN", "GROUP", "HAND_MADE", "available", "open_descriptors"]

BUILT_IN: dict[str, Callable[[], Descriptor]] = {kind.name: kind for kind in (Colour, Hog, Hof, Mbh)}

HAND_MADE = tuple(BUILT_IN)
"""Descriptors of the paper's CRF; CRF-Full has `dcnn` as well."""

GROUP = "budgetseg.descriptors"
"""Entry points of this group are callables without arguments that return a `Descriptor`."""


def available(networks: Path | None = None) -> list[str]:
    """Names that `open_descriptors` knows: built in, of other packages, and of networks in a folder."""
    return list(dict.fromkeys([*BUILT_IN, *(point.name for point in entry_points(group=GROUP)), *_networks(networks)]))


def open_descriptors(
    names: Sequence[str], networks: Path | None = None, threads: int = 1, frames: UInt8 | None = None
) -> list[Descriptor]:
    """Descriptors by name.

    Parameters
    ----------
    names : built-in ones, entry points of other packages, or networks
    networks : folder of networks; NAME.toml or NAME.onnx there is a descriptor of that name
    threads : for each run of a network
    frames : (T, H, W, 3), of a video that is described for training: for frames that a network was trained on, a fold
        network that was not is used instead
    """
    files = _networks(networks)
    points = {point.name: point for point in entry_points(group=GROUP)}
    opened = []
    for name in names:
        if name in BUILT_IN:
            opened.append(BUILT_IN[name]())
        elif name in files:
            opened.append(_open_network(name, files[name], threads, frames))
        elif name in points:
            opened.append(_open_point(points[name]))
        else:
            raise UsageError(f"no descriptor '{name}'; choose from {', '.join(available(networks))}")
    return opened


def open_networks(names: Sequence[str], folder: Path | None, threads: int = 1) -> dict[str, OnnxNetwork]:
    """The networks in a folder that have one of these names, in the order of the names."""
    files = _networks(folder)
    return {name: OnnxNetwork(read_card(files[name]), threads) for name in names if name in files}


def network_names(names: Sequence[str], folder: Path | None) -> list[str]:
    """Those of some names that are networks in a folder."""
    files = _networks(folder)
    return [name for name in names if name in files]


def _open_point(point: EntryPoint) -> Descriptor:
    try:
        descriptor: Descriptor = point.load()()
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"descriptor '{point.name}' of another package does not load ({error}); repair or remove it"
        ) from None
    if descriptor.name != point.name:
        raise UsageError(
            f"{point.value} has the name '{descriptor.name}', its entry point '{point.name}'; make both equal"
        )
    return descriptor


def _networks(folder: Path | None) -> dict[str, Path]:
    """Paths of the networks in a folder by name: the card, or the ONNX file if there is no card."""
    if folder is None:
        return {}
    if not folder.is_dir():
        raise UsageError(f"no folder '{folder}' of networks; 'budgetseg train-network' makes one")
    cards = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    # An ONNX file that a card names is not a descriptor by itself.
    named = {read_card(path).file for path in cards.values()}
    return {path.stem: path for path in sorted(folder.glob("*.onnx")) if path not in named} | cards


def _open_network(name: str, path: Path, threads: int, frames: UInt8 | None) -> Descriptor:
    card = read_card(path)
    paths = [None] if frames is None else stand_ins(path.parent, name, frames)
    others = {path: OnnxNetwork(replace(card, file=path), threads) for path in dict.fromkeys(paths) if path}
    instead = {index: others[path] for index, path in enumerate(paths) if path}
    return NetworkDescriptor(name, OnnxNetwork(card, threads), instead)
