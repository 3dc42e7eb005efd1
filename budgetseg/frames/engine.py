"""What labels frames: networks, and what everything costs on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from budgetseg.descriptors.network import NAMES
from budgetseg.descriptors.network.run import OnnxNetwork
from budgetseg.frames.plan import Recipe, recipes_for
from budgetseg.inference.stages import StageCosts
from budgetseg.types import Classes, Float32, UInt8

__all__ = ["FrameEngine", "Network", "fitting", "scale_of"]

BALANCE = 0.1
"""Fusing and following edges cost rare and thin classes: each counts its share of the training pixels to minus this."""


class Network(Protocol):
    """From a frame to probabilities, as `OnnxNetwork`."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the answer, (h, w, L)."""

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3)."""

    def cut_off(self) -> None:
        """Let every call that is under way, in other threads, end with LateError."""


@dataclass(frozen=True, eq=False)
class FrameEngine:
    """What labels videos frame by frame: all that does not depend on one.

    Attributes
    ----------
    networks : by name; all give as many rows and columns
    prior : (L,) share of each class in the training pixels
    stages : what everything costs on this machine
    threads : cores to use
    """

    networks: Mapping[str, Network]
    prior: Float32
    stages: StageCosts = field(default_factory=StageCosts)
    threads: int = 1

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        """What key frames can be asked, the cheapest first."""
        return recipes_for(list(self.networks))

    @cached_property
    def scale(self) -> Float32:
        """(L,), what each class counts."""
        return scale_of(self.prior)

    @property
    def cells(self) -> tuple[int, int]:
        """Rows and columns of what networks say."""
        return next(iter(self.networks.values())).shape[:2]

    def ask(self, network: str, frame: UInt8, mirrored: bool) -> Float32:
        """What a network says about a frame, (h, w, L), times what classes count; ArithmeticError where it is none."""
        side = slice(None, None, -1 if mirrored else 1)
        said = self.networks[network](np.ascontiguousarray(frame[:, side]))[:, side] * self.scale
        if not np.isfinite(said.sum()):
            raise ArithmeticError("its answer is not finite")
        return np.ascontiguousarray(said, np.float32)


def scale_of(prior: Float32) -> Float32:
    """What each class counts, (L,), 1 for the rarest."""
    scale = np.maximum(prior, 1e-3) ** -BALANCE
    return np.asarray(scale / scale.max(), np.float32)


def fitting(networks: Mapping[str, OnnxNetwork], classes: Classes) -> dict[str, OnnxNetwork]:
    """Networks that tell a model's classes apart, one channel for each, and answer in as many rows and columns.

    Ours come first; of others only the first is of use.
    """
    unnamed = tuple(str(k) for k in range(len(classes)))
    names = [name for name in (*NAMES, *networks) if name in networks]
    fit = {name: networks[name] for name in names if networks[name].names in (classes.names, unnamed)}
    shapes = [network.shape for network in fit.values()]
    return {name: network for name, network in fit.items() if network.shape == shapes[0]}
