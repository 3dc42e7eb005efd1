"""Torch modules as networks: exported to ONNX files, with what their `card` says beside them."""

import io
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card, read_card

if TYPE_CHECKING:
    from torch.nn import Module

__all__ = ["as_files", "export_module"]

SIZE = (320, 256)
"""Width and height of the frame that a module is exported with; it may take others."""
OPSET = 17


def as_files(networks: "Sequence[str | Path | Module]", folder: Path) -> list[str | Path]:
    """Networks as files: paths as they are, modules exported to `folder`."""
    return [
        own if isinstance(own, str | Path) else export_module(own, folder / f"network{k}.onnx")
        for k, own in enumerate(networks)
    ]


def export_module(module: "Module", path: Path) -> Path:
    """Write a torch module that takes frames (N, 3, H, W) as an ONNX file, and its card beside it.

    An attribute `card` of the module, a dictionary, has keys of a card: for example `classes`, `mean`, `std`, `size`.
    Returns the path of the ONNX file; ModelError if it cannot be exported.
    """
    try:
        import torch
    except ImportError:
        raise ModelError(
            "a network must be a path where torch is not installed; export it to ONNX, and give that"
        ) from None
    if not isinstance(module, torch.nn.Module):
        raise ModelError(
            f"a network cannot be an object of type {type(module).__name__}; give a path or a torch module"
        )
    card = _written_card(getattr(module, "card", {}), path)
    width, height = card.size or SIZE
    sides = {0: "batch", 2: "height", 3: "width"}
    is_training = module.training
    buffer = io.BytesIO()
    parameter = next(module.parameters(), None)
    device = "cpu" if parameter is None else parameter.device
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the exporter says that it is the older of two, and traces shapes
            torch.onnx.export(
                module.eval(),
                (torch.zeros(1, 3, height, width, device=device),),
                buffer,  # type: ignore[arg-type]
                input_names=["frames"],
                output_names=["scores"],
                dynamic_axes=None if card.size else {"frames": sides, "scores": {0: "batch", 2: "rows", 3: "columns"}},
                opset_version=OPSET,
                dynamo=False,
            )
    except Exception as error:  # the exporter raises whatever a module raises
        line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"a torch module cannot be exported to ONNX ({line}); export it yourself, and give the file"
        ) from error
    finally:
        module.train(is_training)
    path.write_bytes(buffer.getvalue())
    return path


def _written_card(given: Mapping[str, Any], path: Path) -> Card:
    """Write the card of a module beside its file, and read it as every card is read."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in given.items() if key != "map"]
    if "map" in given:
        lines += ["[map]", *(f"{json.dumps(old)} = {json.dumps(new)}" for old, new in given["map"].items())]
    card = path.with_suffix(".toml")
    card.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_card(card)
