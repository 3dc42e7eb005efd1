"""The card of a network, a few lines of TOML beside an ONNX file: what its input and output mean.

    file = "model.onnx"                # beside this file; NAME.onnx for NAME.toml if left out
    size = [512, 256]                  # width, height; only where the file leaves them open
    mean = [0.485, 0.456, 0.406]       # of R, G, B from 0 to 1
    std = [0.229, 0.224, 0.225]
    colours = "rgb"                    # or "bgr"
    output = "scores"                  # or "probabilities"
    classes = ["road", "road", "", "car"]   # of each output channel: equal names are added up, "" is left out

Everything may be left out: the defaults are those of networks that the project trains.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from budgetseg.errors import ModelError
from budgetseg.networks import MEAN, STD

__all__ = ["Card", "read_card"]


@dataclass(frozen=True)
class Card:
    """How to use one network.

    Attributes
    ----------
    file : the ONNX file
    size : width and height that frames are resized to; None if the file fixes it
    mean, std : frames, 0 to 1, enter as (frame - mean) / std, per channel R, G, B
    colours : order of the channels, rgb or bgr
    output : what the network returns: scores, which get a softmax, or probabilities
    classes : a name for every output channel; None for numbers
    """

    file: Path
    size: tuple[int, int] | None = None
    mean: tuple[float, ...] = (MEAN,) * 3
    std: tuple[float, ...] = (STD,) * 3
    colours: str = "rgb"
    output: str = "probabilities"
    classes: tuple[str, ...] | None = None


_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "file": ("the name of an ONNX file", lambda value: isinstance(value, str) and value != ""),
    "size": ("width and height, two whole numbers above 0", lambda value: _are(value, int, 2) and min(value) > 0),
    "mean": (
        "three numbers",
        lambda value: _are(value, (int, float), 3) and all(-inf < number < inf for number in value),
    ),
    "std": (
        "three numbers above 0",
        lambda value: _are(value, (int, float), 3) and all(0 < number < inf for number in value),
    ),
    "colours": ("'rgb' or 'bgr'", lambda value: value in ("rgb", "bgr")),
    "output": ("'scores' or 'probabilities'", lambda value: value in ("scores", "probabilities")),
    "classes": ("a list of names, at least one of them not empty", lambda value: _are(value, str) and any(value)),
}


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
    settings: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Card(file, **settings)


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path}: missing; write it as docs/networks.md shows") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelError(f"{path}: not readable as TOML ({error}); see docs/networks.md") from None


def _are(values: object, kind: type | tuple[type, ...], count: int | None = None) -> bool:
    return (
        isinstance(values, list)
        and (count is None or len(values) == count)
        and all(isinstance(value, kind) and not isinstance(value, bool) for value in values)
    )
