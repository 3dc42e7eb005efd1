"""Back ends by name, and what a user wants of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from budgetseg.errors import UsageError
from budgetseg.networks.backends.core import BF16, F32, INT8, PRECISIONS, BackEnd, Choice
from budgetseg.networks.backends.onnxruntime import OnnxRuntime
from budgetseg.networks.backends.openvino import OpenVino

__all__ = [
    "AUTO",
    "BACKENDS",
    "REFERENCE",
    "Wanted",
    "backend_named",
    "candidates",
    "check_earlier",
    "stored_precision",
    "versions",
]

AUTO = "auto"
REFERENCE = "onnxruntime"
"""The back end whose answers the others must agree with."""

BACKENDS: Mapping[str, BackEnd] = {
    backend.name: backend
    for backend in (
        OnnxRuntime(),
        OpenVino(),
        OnnxRuntime("cuda", "CUDAExecutionProvider", "pip install onnxruntime-gpu in place of onnxruntime"),
        OnnxRuntime(
            "tensorrt",
            "TensorrtExecutionProvider",
            "pip install onnxruntime-gpu tensorrt in place of onnxruntime",
            False,
        ),
    )
}
"""All back ends by name, the reference first."""

EIGHT_BITS = tuple(
    bytes([0x22, len(name)]) + name for name in (b"QuantizeLinear", b"QLinearConv", b"ConvInteger", b"MatMulInteger")
)
"""How operators on 8-bit integers are written in an ONNX file: the tag of a node's operator, its length, its name."""


@dataclass(frozen=True)
class Wanted:
    """The back end and the precision that networks are to run in.

    Attributes
    ----------
    backend, precision : as the user named them, or `auto`
    earlier : by network, what ran it in the run that is resumed or replayed; None where there is none
    """

    backend: str = AUTO
    precision: str = AUTO
    earlier: Mapping[str, Choice] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the user left both to the program."""
        return self.backend == self.precision == AUTO

    def takes(self, choice: Choice) -> bool:
        """Whether a choice is among what the user asked for; files of 8 bits stay so in any precision."""
        is_precise = self.precision in (AUTO, choice.precision) or choice.precision == INT8
        return is_precise and self.backend in (AUTO, choice.backend)

    def check(self) -> None:
        """Raise UsageError where names make no sense, or what they name is not there."""
        if self.backend not in (AUTO, *BACKENDS):
            raise UsageError(f"no back end '{self.backend}'; choose from {', '.join((AUTO, *BACKENDS))}")
        if self.precision not in (AUTO, *PRECISIONS):
            raise UsageError(f"no precision '{self.precision}'; choose from {', '.join((AUTO, *PRECISIONS))}")
        if self.backend != AUTO:
            _check_runs(self.backend)
        if self.precision == BF16 and not any(BF16 in BACKENDS[name].precisions() for name in self.names):
            raise UsageError(_no_bf16(self.backend))

    @property
    def names(self) -> Sequence[str]:
        """Names of the back ends that come into question."""
        return tuple(BACKENDS) if self.backend == AUTO else (self.backend,)


def backend_named(name: str) -> BackEnd:
    """A back end by its name."""
    return BACKENDS[name]


def versions() -> dict[str, str]:
    """Versions of the back ends that are installed, by name."""
    found = {name: backend.version() for name, backend in BACKENDS.items()}
    return {name: version for name, version in found.items() if version is not None}


def candidates(wanted: Wanted, stored: str, file: Path) -> list[Choice]:
    """What may run a network, the most exact first; UsageError where nothing may.

    Parameters
    ----------
    wanted : by the user
    stored : precision of the file, as of `stored_precision`
    file : of the network
    """
    if wanted.precision == INT8 and stored != INT8:
        raise UsageError(
            f"{file}: has no 8-bit convolutions, which --precision int8 needs; leave that out, or give a network of 8 "
            "bits, as 'budgetseg train-network --int8' writes it"
        )
    names = [name for name in wanted.names if BACKENDS[name].version() is not None]
    found = [Choice(name, precision) for name in names for precision in _precisions(name, stored)]
    return [choice for choice in found if wanted.takes(choice)]


def check_earlier(network: str, choice: Choice) -> None:
    """Raise UsageError where what ran a network in an earlier run is not here."""
    backend = BACKENDS.get(choice.backend)
    found = () if backend is None else backend.precisions()
    if found and choice.precision in (INT8, *found):
        return
    install = "" if backend is None else f"{backend.install}, or "
    raise UsageError(
        f"'{network}' was run by {choice} in the earlier run, which is not to be had here; {install}give another "
        "--backend, by which labels may differ"
    )


def stored_precision(file: Path) -> str:
    """`int8` for a file with operators on 8-bit integers, `f32` for any other, also where it cannot be read."""
    content = file.read_bytes() if file.is_file() else b""
    return INT8 if any(name in content for name in EIGHT_BITS) else F32


def _precisions(name: str, stored: str) -> Sequence[str]:
    """Precisions in which a back end runs a file."""
    found = BACKENDS[name].precisions()
    return (INT8,) if found and stored == INT8 else found


def _check_runs(name: str) -> None:
    backend = BACKENDS[name]
    if backend.version() is None:
        raise UsageError(f"the back end '{name}' is not installed; {backend.install}, or choose another --backend")
    if not backend.precisions():
        raise UsageError(f"the back end '{name}' does not start here; {backend.install}, or choose another --backend")


def _no_bf16(name: str) -> str:
    able = BACKENDS["openvino"]
    if name in (AUTO, able.name) and able.version() is None:
        return f"--precision bf16 needs the back end '{able.name}', which is not installed; {able.install}"
    if name in (AUTO, able.name):
        return "the processor has no bf16; leave out --precision bf16"
    return f"the back end '{name}' has no bf16; leave out --precision bf16, or choose --backend {able.name}"
