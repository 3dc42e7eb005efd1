"""The contract of a back end: open a network file, say what goes in and out, run it, cut a run off.

A *back end* is a library that runs networks. It opens a file as a `Session`, which several threads may use at once. A
`Run` is one call of it. What is outside this folder knows back ends by name only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from budgetseg.errors import ModelError

__all__ = ["BF16", "F32", "INT8", "PRECISIONS", "BackEnd", "Choice", "Port", "Run", "Session", "Setup", "is_file"]

F32, BF16, INT8 = PRECISIONS = ("f32", "bf16", "int8")


@dataclass(frozen=True, order=True)
class Choice:
    """What runs a network.

    Attributes
    ----------
    backend : name of the back end
    precision : of its arithmetic: `f32`, `bf16`, or `int8` for a file with 8-bit convolutions, which stay so everywhere
    """

    backend: str
    precision: str

    def __str__(self) -> str:
        return f"{self.backend} {self.precision}"


@dataclass(frozen=True)
class Setup:
    """How a file is opened.

    Attributes
    ----------
    precision : of its arithmetic
    threads : of each run
    streams : runs that may be under way at once without waiting for each other
    """

    precision: str = F32
    threads: int = 1
    streams: int = 1


@dataclass(frozen=True)
class Port:
    """An input or output of a network.

    Attributes
    ----------
    name : of the input or output
    type : of its values, as onnxruntime writes it, such as `tensor(float)`
    shape : of the tensor; sides that are left open are no numbers
    """

    name: str
    type: str
    shape: Sequence[Any]


class Run(Protocol):
    """One call of a network."""

    def __call__(self, tensor: NDArray[Any]) -> list[Any]:
        """The outputs that were asked for; LateError if it was cut off."""

    def cut_off(self) -> None:
        """Make the call end within milliseconds, also where it has not begun; nothing where that cannot be."""


class Session(Protocol):
    """A network file that a back end has opened.

    Attributes
    ----------
    inputs, outputs : of the network
    metadata : texts of the file by name
    can_cut_off : whether a run ends when it is cut off; else it is finished, and takes its whole price
    """

    inputs: Sequence[Port]
    outputs: Sequence[Port]
    metadata: Mapping[str, str]
    can_cut_off: bool

    def new_run(self, output: str | None = None) -> Run:
        """A run that returns one output, or all of them; it may be called from any thread, once."""


class BackEnd(Protocol):
    """A library that runs networks."""

    @property
    def name(self) -> str:
        """By which users know it."""

    @property
    def install(self) -> str:
        """What to do where it is missing."""

    def version(self) -> str | None:
        """Its version; None where it is not installed. Nothing large is imported for this."""

    def precisions(self) -> Sequence[str]:
        """Precisions of floating point that this machine has, the most exact first; none where it does not run."""

    def open(self, file: Path, setup: Setup) -> Session:
        """Open a network; ModelError where that cannot be."""


def is_file(file: Path) -> None:
    """Raise ModelError where the file of a network is not there."""
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "no such file"
        raise ModelError(f"{file}: {what}; a network needs its ONNX file")
