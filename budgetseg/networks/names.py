"""Names of a network's classes, and what its card makes of them: classes are merged, left out and put in order."""

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from budgetseg.errors import ModelError
from budgetseg.networks.card import MOST_CLASSES, Card
from budgetseg.networks.config import CONFIG
from budgetseg.types import Float32, Int32

__all__ = ["ChannelNames", "ClassMap", "channel_names", "class_map", "names_in", "number_named"]

KEYS = ("classes", "class_names", "names", "labels", "id2label", CONFIG)
"""Keys of ONNX metadata that hold names of classes, and the file beside it; the first that is there counts."""


class ChannelNames(NamedTuple):
    """Names of the channels of a network.

    Attributes
    ----------
    names : one for each channel; for an index map, for each number
    source : where they come from, as of `ClassMap`
    """

    names: tuple[str, ...]
    source: str


@dataclass(frozen=True, eq=False)
class ClassMap:
    """What the channels of a network mean.

    Attributes
    ----------
    names : of the L classes
    channels : (C,) the class of each channel; -1 for those that are left out
    source : where names come from: `card`, `metadata` or `config.json`; where nobody has named them, `numbers`, and
        `assumed` where even their number is not known
    """

    names: tuple[str, ...]
    channels: Int32
    source: str

    @property
    def is_named(self) -> bool:
        """Whether classes have names."""
        return self.source in ("card", "metadata", CONFIG)

    @property
    def is_plain(self) -> bool:
        """Whether channels are classes one by one."""
        return np.array_equal(self.channels, np.arange(len(self.names)))

    @property
    def groups(self) -> Float32:
        """(L, C), 1 where a channel belongs to a class."""
        return np.asarray(np.arange(len(self.names))[:, None] == self.channels, np.float32)

    def among(self, names: Sequence[str]) -> "ClassMap":
        """The same classes in the order of `names`; where nobody has named them, with these names."""
        if not self.is_named:
            channels = np.where(self.channels < len(names), self.channels, -1).astype(np.int32)
            return ClassMap(tuple(names), channels, self.source)
        place = np.array([*map(list(names).index, self.names), -1], np.int32)
        return ClassMap(tuple(names), place[self.channels], self.source)


def channel_names(card: Card, metadata: Mapping[str, str], n_channels: int | None) -> ChannelNames:
    """Names of the channels of a network, by its card, its metadata or, without both, by number.

    Parameters
    ----------
    card : of the network
    metadata : of its file
    n_channels : of its output; None for an index map, which may have any number
    """
    names, source = _channel_names(card, metadata, n_channels)
    if n_channels is not None and len(names) != n_channels:
        is_of_card = card.classes is not None
        whose = "'classes' of its TOML file" if is_of_card else _place_of(source)
        how = "correct it" if is_of_card else "name all of them by 'classes' in a TOML file"
        raise ModelError(f"{card.file}: gives {n_channels} classes, but {whose} names {len(names)}; {how}")
    return ChannelNames(tuple(names), source)


def class_map(card: Card, channels: ChannelNames) -> ClassMap:
    """What the channels of a network mean, once its card has merged them, left some out, and put them in order."""
    names, source = channels
    merged = dict(card.map)
    _check_all(card, "map", merged, names)
    renamed = [merged.get(name, name) for name in names]
    left = tuple(dict.fromkeys(name for name in renamed if name))
    if not left:
        raise ModelError(f"{card.file}: 'map' leaves no class; keep one")
    if card.order is not None:
        _check_all(card, "order", card.order, left)
        missing = [name for name in left if name not in card.order]
        if missing or len(set(card.order)) < len(card.order):
            what = f"lacks {', '.join(missing)}" if missing else "has a name twice"
            raise ModelError(f"{card.file}: 'order' {what}; give each class once")
        left = card.order
    if len(left) > MOST_CLASSES:
        raise ModelError(
            f"{card.file}: has {len(left)} classes, and labels can tell {MOST_CLASSES} apart; merge some by 'map' in "
            "its TOML file"
        )
    place = {name: k for k, name in enumerate(left)}
    return ClassMap(left, np.array([place.get(name, -1) for name in renamed], np.int32), source)


def names_in(card: Card, metadata: Mapping[str, str]) -> ChannelNames | None:
    """Names of classes in the metadata of an ONNX file: a list, a dictionary by number, or a text; None for none."""
    key = next((key for key in KEYS if metadata.get(key, "").strip()), None)
    if key is None:
        return None
    source = CONFIG if key == CONFIG else "metadata"
    whose = f"'id2label' of {_place_of(source)}" if key == CONFIG else f"'{key}' of {_place_of(source)}"
    names = _parsed(metadata[key])
    if names is None:
        raise ModelError(f"{card.file}: {whose} is no list of names; name the classes by 'classes' in a TOML file")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(
            f"{card.file}: {whose} has the name '{twice}' more than once; name the classes by 'classes' in a TOML "
            "file, where equal names are added up"
        )
    return ChannelNames(tuple(names), source)


def number_named(card: Card, metadata: Mapping[str, str]) -> int | None:
    """Number of channels that a card or metadata speak of; None if they do not."""
    if card.classes is None:
        found = names_in(card, metadata)
        return None if found is None else len(found.names)
    return card.classes if isinstance(card.classes, int) else len(card.classes)


def _place_of(source: str) -> str:
    """Where names come from that are not of a card, in words."""
    return f"{CONFIG} beside it" if source == CONFIG else "its metadata"


def _channel_names(card: Card, metadata: Mapping[str, str], n_channels: int | None) -> tuple[Sequence[str], str]:
    if isinstance(card.classes, tuple):
        return card.classes, "card"
    if card.classes is None:
        found = names_in(card, metadata)
        if found is not None:
            return found
    n = card.classes or n_channels
    source = "assumed" if n is None else "card" if card.map or card.order else "numbers"
    return [str(k) for k in range(n or MOST_CLASSES)], source


def _check_all(card: Card, key: str, wanted: Sequence[str] | Mapping[str, str], names: Sequence[str]) -> None:
    """Raise ModelError where a key of the card names a class that is not there."""
    for name in wanted:
        if name not in names:
            raise ModelError(f"{card.file}: '{key}' names the class '{name}'; choose from {_listed(names)}")


def _listed(names: Sequence[str], most: int = 30) -> str:
    kept = [name for name in names if name]
    return ", ".join(kept[:most]) + (f" and {len(kept) - most} more" if len(kept) > most else "")


def _parsed(text: str) -> list[str] | None:
    """Names in a text: JSON or Python, a list or a dictionary by number; or separated by lines or commas."""
    value: object = None
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
            break
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    if value is None:
        parts = text.strip().splitlines() if "\n" in text.strip() else text.split(",")
        value = [part.strip() for part in parts]
    if isinstance(value, dict):
        try:
            numbered = {int(key): name for key, name in value.items()}
        except (TypeError, ValueError):
            return None
        if sorted(numbered) != list(range(len(numbered))):
            return None
        value = [numbered[k] for k in range(len(numbered))]
    if not isinstance(value, (list, tuple)) or not value:
        return None
    names = [str(name).strip() if isinstance(name, (str, int)) else "" for name in value]
    return names if all(names) else None
