"""OpenVINO on the CPU: often faster than onnxruntime, above all in bf16, where the processor has it."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetseg.errors import ModelError
from budgetseg.networks.backends.core import BF16, F32, Port, Setup, is_file
from budgetseg.timing.deadline import LateError

__all__ = ["OpenVino"]

CPU = "CPU"
TYPES = {"f32": "float", "f16": "float16", "f64": "double", "u8": "uint8", "i64": "int64", "i32": "int32"}
"""Types of values by their names in OpenVINO, as onnxruntime writes them."""


class OpenVino:
    """OpenVINO on the CPU."""

    name: str = "openvino"
    install: str = "pip install 'budgetseg[openvino]'"

    def version(self) -> str | None:
        """Its version; None where it is not installed."""
        try:
            return version("openvino")
        except PackageNotFoundError:
            return None

    def precisions(self) -> Sequence[str]:
        """32 bits, and bf16 where the processor has it; none where it does not start."""
        try:
            able = _core().get_property(CPU, "OPTIMIZATION_CAPABILITIES")
        except (ImportError, OSError, RuntimeError):
            return ()
        return (F32, BF16) if "BF16" in able else (F32,)

    def open(self, file: Path, setup: Setup) -> "_Session":
        """Open a network; ModelError where that cannot be."""
        is_file(file)
        try:
            model = _core().read_model(str(file))
            return _Session(_compiled(model, setup), _metadata(model), setup.streams)
        except Exception as error:  # its errors are those of its parts
            raise ModelError(f"{file}: does not run by 'openvino' ({_line(error)}); choose another --backend") from None


class _Session:
    """A compiled network, and its requests: one for each run at a time, kept for the next."""

    can_cut_off: bool = True

    def __init__(self, network: Any, metadata: Mapping[str, str], streams: int) -> None:
        self.inputs: Sequence[Port] = [_port(port) for port in network.inputs]
        self.outputs: Sequence[Port] = [_port(port) for port in network.outputs]
        self.metadata: Mapping[str, str] = metadata
        self._network = network
        self._lock = Lock()
        self._free = [network.create_infer_request() for _ in range(streams)]

    def new_run(self, output: str | None = None) -> "_Run":
        """A run that returns one output, or all of them."""
        names = [port.name for port in self.outputs]
        return _Run(self, range(len(names)) if output is None else [names.index(output)])

    def take(self) -> Any:
        """A request that is not in use."""
        with self._lock:
            return self._free.pop() if self._free else self._network.create_infer_request()

    def give_back(self, request: Any) -> None:
        """Keep a request for the next run."""
        with self._lock:
            self._free.append(request)


class _Run:
    """A call of a network in OpenVINO. It runs in a thread of OpenVINO, since only such a run can be cut off."""

    def __init__(self, session: _Session, outputs: Sequence[int]) -> None:
        self._session = session
        self._outputs = outputs
        self._lock = Lock()
        self._request: Any = None
        self._is_cut_off = False

    def __call__(self, tensor: NDArray[Any]) -> list[Any]:
        """Copies of the outputs, since the request keeps its own for the next run; LateError if it was cut off."""
        request = self._session.take()
        try:
            self._start(request, tensor)
            request.wait()
            return [np.array(request.get_output_tensor(number).data) for number in self._outputs]
        except RuntimeError as error:
            if self._is_cut_off:
                raise LateError from None
            raise RuntimeError(_line(error)) from None
        finally:
            with self._lock:
                self._request = None
            self._session.give_back(request)

    def _start(self, request: Any, tensor: NDArray[Any]) -> None:
        with self._lock:  # a request that has not begun cannot be cancelled
            if self._is_cut_off:
                raise LateError
            request.start_async([tensor], share_inputs=True)
            self._request = request

    def cut_off(self) -> None:
        """End the run after the operator that is under way."""
        with self._lock:
            self._is_cut_off = True
            if self._request is not None:
                self._request.cancel()


@cache
def _core() -> Any:
    import openvino

    return openvino.Core()


def _compiled(model: Any, setup: Setup) -> Any:
    """A model for so many streams. Streams are not bound to cores, which other programs may use."""
    settings = {
        "INFERENCE_PRECISION_HINT": BF16 if setup.precision == BF16 else F32,
        "NUM_STREAMS": str(setup.streams),
        "INFERENCE_NUM_THREADS": setup.streams * setup.threads,
        "ENABLE_CPU_PINNING": False,
        "ENABLE_HYPER_THREADING": True,  # the user says how many threads there are
    }
    return _core().compile_model(model, CPU, settings)


def _port(port: Any) -> Port:
    shape = [side.get_length() if side.is_static else str(side) for side in port.get_partial_shape()]
    kind = port.get_element_type().get_type_name()
    return Port(port.get_any_name(), f"tensor({TYPES.get(kind, kind)})", shape)


def _metadata(model: Any) -> dict[str, str]:
    """Texts of the file by name."""
    if not model.has_rt_info("framework"):
        return {}
    return {str(name): str(value) for name, value in model.get_rt_info("framework").value.items()}


def _line(error: Exception) -> str:
    """The end of a message of OpenVINO, which names the cause, on one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:200].rstrip(".")
