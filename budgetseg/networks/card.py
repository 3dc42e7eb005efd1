"""The card of a network, a few lines of TOML beside an ONNX file: what its input and output mean.

    file = "model.onnx"                # beside this file; NAME.onnx for NAME.toml if left out
    size = [512, 256]                  # width, height; only where the file leaves them open
    mean = [0.485, 0.456, 0.406]       # of R, G, B from 0 to 1
    std = [0.229, 0.224, 0.225]
    output = "scores"                  # or "probabilities", "independent", "index"
    classes = ["road", "road", "", "car"]   # of each output channel: equal names are added up, "" is left out

Everything may be left out. What the file itself does not say is then found out by running it, or has a default.
"""

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

from budgetseg.checked import Limits, read_regular
from budgetseg.errors import ModelError

__all__ = ["MOST_CLASSES", "Card", "card_for", "card_text", "read_card"]

MOST_CLASSES = 255
"""Labels are bytes, and one of their 256 values means no class."""

LAYOUTS = ("nchw", "nhwc")
OUTPUTS = ("scores", "probabilities", "independent", "index")


@dataclass(frozen=True)
class Card:
    """How to use one network. What is None is taken from the file, or found out by running it.

    Attributes
    ----------
    file : the ONNX file
    size : width and height that frames are resized to; None for those of the file, and where it leaves them open, for
        those of the video
    longest : pixels of the longer side of a frame, at most, where the size is that of the video
    multiple : of which both sides are then
    layout : of the input: `nchw` or `nhwc`
    colours : order of the channels, rgb or bgr
    scale : value of white before mean and std: 1, or 255
    mean, std : frames enter as (frame - mean) / std, per channel R, G, B; None for 0.45 and 0.27, and for 0 and 1 where
        `scale` is not 1. Frames enter an input of bytes as they are
    output : what the network returns: `scores`, which get a softmax; `probabilities`; `independent` ones of each class
        by itself, which are divided by their sum; or `index`, the number of the class
    output_name : of the output to use; None for the first that has a value for each pixel
    output_layout : of the output: `nchw` or `nhwc`
    classes : a name for every output channel, or their number, which are their names then
    map : (name, new name) of classes: equal names are added up, and "" is left out
    order : all names that are left, in the order of the labels; None for that of the channels
    """

    file: Path
    size: tuple[int, int] | None = None
    longest: int = 1024
    multiple: int = 32
    layout: str | None = None
    colours: str = "rgb"
    scale: float = 1.0
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    output: str | None = None
    output_name: str | None = None
    output_layout: str | None = None
    classes: tuple[str, ...] | int | None = None
    map: tuple[tuple[str, str], ...] = ()
    order: tuple[str, ...] | None = None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -inf < value < inf


def _are(values: object, holds: Callable[[Any], bool], count: int | None = None) -> bool:
    return isinstance(values, list) and (count is None or len(values) == count) and all(map(holds, values))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "file": ("the name of an ONNX file", _is_name),
    "size": ("width and height, two whole numbers above 0", lambda value: _are(value, _is_count, 2)),
    "longest": ("a whole number of pixels above 0", _is_count),
    "multiple": ("a whole number of pixels above 0", _is_count),
    "layout": ("'nchw' or 'nhwc'", lambda value: value in LAYOUTS),
    "colours": ("'rgb' or 'bgr'", lambda value: value in ("rgb", "bgr")),
    "scale": ("a number above 0", lambda value: _is_number(value) and value > 0),
    "mean": ("three numbers", lambda value: _are(value, _is_number, 3)),
    "std": (
        "three numbers above 0",
        lambda value: _are(value, _is_number, 3) and min(value) > 0,
    ),
    "output": ("'scores', 'probabilities', 'independent' or 'index'", lambda value: value in OUTPUTS),
    "output_name": ("the name of an output", _is_name),
    "output_layout": ("'nchw' or 'nhwc'", lambda value: value in LAYOUTS),
    "classes": (
        "a list of names, at least one of them not empty, or the number of classes",
        lambda value: _is_count(value) or (_are(value, _is_text) and any(value)),
    ),
    "map": (
        "a table of names and new names",
        lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    ),
    "order": ("a list of names, none of them empty", lambda value: _are(value, _is_name) and value != []),
}


def card_for(path: Path) -> Card:
    """The card of a network that a user names: a TOML file, or an ONNX file with or without NAME.toml beside it."""
    if path.is_dir() and path.suffix != ".onnx":
        inside = [*sorted(path.glob("*.onnx")), *sorted(path.glob("*/*.onnx"))]
        first = f", such as '{inside[0]}'" if inside else "; there is none in it"
        raise ModelError(f"{path}: is a folder; give an ONNX file or its TOML card{first}")
    if path.suffix not in (".onnx", ".toml"):
        raise ModelError(f"{path}: no ONNX file and no TOML card; export the network to NAME.onnx, and give that")
    card = path.with_suffix(".toml")
    return read_card(card if card.is_file() else path)


def read_card(path: Path) -> Card:
    """Read the card of a network from NAME.toml, or make the default card of NAME.onnx."""
    if path.suffix == ".onnx":
        return Card(path)
    table = _load(path)
    for key, value in table.items():
        if key not in _RULES:
            raise ModelError(f"{path}: unknown key {key!r}; choose from {', '.join(_RULES)}")
        rule, holds = _RULES[key]
        if not holds(value):
            raise ModelError(f"{path}: '{key}' must be {rule}. Got {value!r}")
    file = path.parent / table.pop("file", f"{path.stem}.onnx")
    return Card(file, **{key: _frozen(value) for key, value in table.items()})


def card_text(card: Card, file: str) -> str:
    """The TOML of a card whose network lies beside it as `file`; what is left to the network is left out."""
    lines = [f"file = {json.dumps(file)}"]
    for field in fields(Card):
        value = getattr(card, field.name)
        if field.name not in ("file", "map") and value != field.default:
            lines.append(f"{field.name} = {json.dumps(value, ensure_ascii=False)}")
    if card.map:
        lines += ["", "[map]", *(f"{json.dumps(old)} = {json.dumps(new)}" for old, new in card.map)]
    return "\n".join(lines) + "\n"


def _frozen(value: Any) -> Any:
    """A value of TOML as it is kept in a card."""
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_regular(path, Limits.json_bytes).decode("utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; write it as docs/networks.md shows") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: not readable as TOML ({error}); see docs/networks.md") from None
