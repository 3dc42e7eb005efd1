"""The two small files of the folder layout: classes.toml and splits.toml."""

import colorsys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.datasets.labels import IndexLabels
from budgetseg.errors import DatasetError
from budgetseg.types import IGNORE, Classes, UInt8

__all__ = ["palette", "read_classes", "read_splits"]

Table = dict[str, Any]
_CLASS_KEYS = {"names", "colours", "ids", "ignored"}


def read_classes(path: Path) -> tuple[Classes, IndexLabels]:
    """The classes of a dataset, and how its label files are read.

    Keys: `names`; `colours`, RGB triples (chosen if left out); `ids`, the index of each class in the label files (0, 1,
    2, … if left out); `ignored`, further indices ([255] if left out).
    """
    table = _load(path)
    _check_classes(path, table)
    names = tuple(table["names"])
    ignored = table.get("ignored", [IGNORE])
    ids = table.get("ids", list(range(len(names))))
    colours = np.array(table["colours"], np.uint8) if "colours" in table else palette(len(names))
    indices = {**dict.fromkeys(ignored, IGNORE), **{index: k for k, index in enumerate(ids)}}
    return Classes(names, colours), IndexLabels(indices)


def read_splits(path: Path) -> dict[str, list[str]]:
    """The names of the videos in every split; `selection` videos are part of `train`, named there or not."""
    table = _load(path)
    _check_splits(path, table)
    selection = table.get("selection", [])
    if selection:
        table["train"] = list(dict.fromkeys([*table.get("train", []), *selection]))
    _check_disjoint(path, table)
    return table


def palette(n: int) -> UInt8:
    """Colours that are easy to distinguish, (n, 3) uint8, RGB: hues by the golden section, in two brightnesses."""
    hues = [colorsys.hsv_to_rgb(k * 0.618034 % 1, 0.75, 0.95 if k % 2 else 0.65) for k in range(n)]
    colours: UInt8 = np.rint(np.array(hues).reshape(n, 3) * 255).astype(np.uint8)
    return colours


def _load(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DatasetError(f"{path}: missing; write it as docs/datasets.md shows") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DatasetError(f"{path}: not readable as TOML ({error}); see docs/datasets.md") from None


def _check_classes(path: Path, table: Table) -> None:
    for key in table:
        _demand(path, key in _CLASS_KEYS, f"unknown key '{key}'; choose from {', '.join(sorted(_CLASS_KEYS))}")
    names = table.get("names", [])
    _demand(path, _are(str, names) and 0 < len(names) < IGNORE, "'names' must be a list of one to 254 names")
    _demand(path, len(set(names)) == len(names), "'names' must differ from each other")
    n = len(names)
    colours, ids, ignored = (table.get(key) for key in ("colours", "ids", "ignored"))
    _demand(
        path, colours is None or _are_colours(colours, n), f"'colours' must be {n} triples of 0 to 255, one per name"
    )
    ids = list(range(n)) if ids is None else ids
    ignored = [] if ignored is None else ignored
    _demand(path, _are_bytes(ids) and len(ids) == n, f"'ids' must be {n} indices of 0 to 255, one per name")
    _demand(path, _are_bytes(ignored), "'ignored' must be a list of indices of 0 to 255")
    _demand(path, len({*ids, *ignored}) == len(ids) + len(ignored), "'ids' and 'ignored' give an index two meanings")


def _check_splits(path: Path, table: Table) -> None:
    for split, names in table.items():
        _demand(path, _are(str, names) and names != [], f"'{split}' must be a list of video names")
        _demand(path, len(set(names)) == len(names), f"'{split}' names a video twice; list it once")
    _demand(path, len(table) > 0, "no splits; name at least the videos of 'train'")
    _demand(path, "fit" not in table, "'fit' is what 'selection' leaves of 'train'; take it out")


def _check_disjoint(path: Path, table: Table) -> None:
    seen: dict[str, str] = {}
    for split, names in table.items():
        for name in names if split != "selection" else ():
            other = seen.setdefault(name, split)
            _demand(path, other == split, f"'{name}' is in both '{other}' and '{split}'; keep it in one")


def _demand(path: Path, holds: bool, rule: str) -> None:
    if not holds:
        raise DatasetError(f"{path}: {rule}")


def _are(kind: type, values: object) -> bool:
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _are_bytes(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value <= 255 for value in values)


def _are_colours(values: object, n: int) -> bool:
    return isinstance(values, list) and len(values) == n and all(_are_bytes(rgb) and len(rgb) == 3 for rgb in values)
