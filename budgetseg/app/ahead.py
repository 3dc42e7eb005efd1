"""Compile half of the package in a second process, since the first use on a machine compiles for a minute.

Compiled code is kept in numba's cache, from which this process, and later ones, load it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.strategy import strategy_of
from budgetseg.crf.moves import update
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.spaces.regions.space import Regions
from budgetseg.spaces.regions.warm_up import warm_up
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32

__all__ = ["compile_rest", "compiled_ahead", "is_compiled"]

MODEL = "synthetic"
"""The model that the second process labels with. Any bundled one would do."""


@contextmanager
def compiled_ahead() -> Iterator[None]:
    """Compile everything but descriptors in another process while the block runs, unless it is compiled already.

    The block ends when that process has ended.
    """
    if (os.cpu_count() or 1) < 2 or is_compiled(update):
        yield
        return
    command = [sys.executable, "-c", f"from {__name__} import compile_rest; compile_rest()"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as other:
        try:
            yield
        except BaseException:
            other.terminate()
            raise


def is_compiled(function: Any) -> bool:
    """Whether numba's cache holds a function; asked of one that is compiled late, it tells whether all are there."""
    folder = Path(function.stats.cache_path)
    return any(folder.glob(f"*.{function.__name__}-*.nbi"))


class _Silent(Descriptor):
    """A descriptor of zeros, which costs nothing and needs no compiled code."""

    def __init__(self, name: str, length: int) -> None:
        self.name = name
        self.length = length

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        return 1.0

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return np.zeros(self.length, np.float32)


def compile_rest() -> None:
    """Label a small rendered street with descriptors of zeros, which compiles all other code."""
    model = load_model(find_model(MODEL))
    h = model.classifiers
    silent = [_Silent(name, length) for name, length in zip(h.names, h.lengths[1:], strict=True)]
    tier = str(model.settings["tier"])
    threads = os.cpu_count() or 1
    warm_up(Regions(h, model.crf, silent, Prices(), strategy_of(model), tier, threads))
