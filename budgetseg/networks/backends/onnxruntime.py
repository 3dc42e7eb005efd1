"""onnxruntime on the CPU, the reference for all others, and its providers for CUDA and TensorRT."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from budgetseg.errors import ModelError
from budgetseg.networks.backends.core import F32, Port, Setup, is_file
from budgetseg.networks.faults import fault_of, line_of
from budgetseg.timing.deadline import LateError

__all__ = ["OnnxRuntime"]

CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class OnnxRuntime:
    """onnxruntime with one of its providers.

    Attributes
    ----------
    name : by which users know it
    provider : that runs the network; what it lacks runs on the CPU
    install : what to do where it is missing
    can_cut_off : whether a run may be cut off; TensorRT runs a network as one piece
    """

    name: str = "onnxruntime"
    provider: str = CPU
    install: str = "pip install onnxruntime"
    can_cut_off: bool = True

    def version(self) -> str | None:
        """The version of onnxruntime; None where it does not have the provider."""
        import onnxruntime

        return str(onnxruntime.__version__) if self.provider in onnxruntime.get_available_providers() else None

    def precisions(self) -> Sequence[str]:
        """32 bits, where the provider is there."""
        return () if self.version() is None else (F32,)

    def open(self, file: Path, setup: Setup) -> "_Session":
        """Open a network; ModelError where it is none, or the provider does not start: it would run on the CPU."""
        is_file(file)
        session = _open(file, setup, self.provider)
        if self.provider not in session.get_providers():
            raise ModelError(
                f"{file}: does not run by '{self.name}', whose libraries or device are missing here; install them, or "
                "choose another --backend"
            )
        return _Session(session, self.can_cut_off)


class _Session:
    """A network in onnxruntime."""

    def __init__(self, session: Any, can_cut_off: bool) -> None:
        self.can_cut_off = can_cut_off
        self.inputs: Sequence[Port] = [Port(port.name, port.type, port.shape) for port in session.get_inputs()]
        self.outputs: Sequence[Port] = [Port(port.name, port.type, port.shape) for port in session.get_outputs()]
        self.metadata: Mapping[str, str] = dict(session.get_modelmeta().custom_metadata_map)
        self._session = session

    def new_run(self, output: str | None = None) -> "_Run":
        """A run that returns one output, or all of them."""
        return _Run(self._session, self.inputs[0].name, None if output is None else [output])


class _Run:
    """A call of a network in onnxruntime."""

    def __init__(self, session: Any, name: str, outputs: list[str] | None) -> None:
        import onnxruntime

        self._session = session
        self._name = name
        self._outputs = outputs
        self._options = onnxruntime.RunOptions()
        self._options.log_severity_level = 4  # errors are raised as exceptions anyway

    def __call__(self, tensor: NDArray[Any]) -> list[Any]:
        """The outputs; LateError if it was cut off."""
        try:
            return list(self._session.run(self._outputs, {self._name: tensor}, self._options))
        except Exception as error:  # onnxruntime's errors have no common base
            if self._options.terminate:
                raise LateError from None
            raise type(error)(line_of(error)) from None

    def cut_off(self) -> None:
        """End the run after the operator that is under way."""
        self._options.terminate = True


def _open(file: Path, setup: Setup, provider: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = setup.threads
    options.log_severity_level = 4  # errors are raised as exceptions anyway
    providers = list(dict.fromkeys([provider, CPU]))
    try:
        # Its fallback would try the same again, and print so.
        return onnxruntime.InferenceSession(str(file), options, providers=providers, enable_fallback=False)
    except Exception as error:  # onnxruntime's errors have no common base
        raise ModelError(f"{file}: {fault_of(error)}") from None
