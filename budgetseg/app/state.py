"""`state.npz`: what a run knew of every window at its end, for resuming it and for reports."""

import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from budgetseg.checked import Limits, check_array, read_arrays
from budgetseg.errors import UsageError
from budgetseg.spaces.regions.evidence import WindowMemory
from budgetseg.supervoxels.graph import BINS
from budgetseg.types import Bool, Float32, Graph, Int32, Supervoxels, UInt8

__all__ = [
    "DAMAGES",
    "STATE",
    "check_memory",
    "read_confidence",
    "read_state",
    "write_arrays",
    "write_confidence",
    "write_state",
]

Read = TypeVar("Read")

STATE = "state.npz"
GRAPH = tuple(field.name for field in fields(Graph))
FIELDS = ("subsets", "probabilities", "inputs")
BEFORE = {"probabilities": "said"}
"""Names of fields in files of the first version, by their present names."""
_ROUNDING = 1e-3  # by which the sum of probabilities in 32 bits may be larger than 1
DAMAGES = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What damaged archives raise, also those that are encrypted, or with a header that is no Python."""


def write_state(path: Path, windows: Sequence[WindowMemory]) -> None:
    """Write an array for each window and field: 0/ids, 0/edges, ..., 0/subsets, 0/probabilities, 0/inputs, ..."""
    arrays: dict[str, NDArray[Any]] = {}
    for k, memory in enumerate(windows):
        graph = memory.supervoxels.graph
        # Differences between frames are mostly zero, and compress much faster and better than the ids themselves.
        arrays[f"{k}/ids"] = np.diff(memory.supervoxels.ids, axis=0, prepend=np.int32(0))
        arrays |= {f"{k}/{name}": getattr(graph, name) for name in GRAPH}
        arrays |= {f"{k}/{name}": getattr(memory, name) for name in FIELDS}
    write_arrays(path, arrays)


def write_confidence(path: Path, windows: Sequence[UInt8]) -> None:
    """Write the confidence of labels of whole frames, an array (B, T, h, w) for each window: 0/confidence, ..."""
    write_arrays(path, {f"{k}/confidence": confidence for k, confidence in enumerate(windows)})


def read_state(folder: Path) -> list[WindowMemory]:
    """Read what a run in the regions space knew of each window; UsageError if the file cannot be used."""
    return _read(folder / STATE, _read_window)


def read_confidence(folder: Path) -> list[UInt8]:
    """Read the confidence of a run in the frames space, (B, T, h, w) for each window; UsageError if it is missing."""
    return _read(
        folder / STATE, lambda stored, k: check_array(stored[f"{k}/confidence"], np.uint8, (None, None, None, None))
    )


def check_memory(
    memory: WindowMemory, shape: tuple[int, int, int], n_subsets: int, n_labels: int, n_inputs: int
) -> None:
    """Raise ValueError where the memory of a window does not fit its frames (T, H, W), or the model."""
    check_array(memory.supervoxels.ids, np.int32, shape)
    check_array(memory.subsets, np.int32, (None,), 0, n_subsets - 1)
    check_array(memory.probabilities, np.float32, (None, n_labels))
    check_array(memory.inputs, np.float32, (None, n_inputs))


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as `np.savez_compressed` does, five times as fast."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _read(path: Path, window: Callable[[Mapping[str, NDArray[Any]], int], Read]) -> list[Read]:
    try:
        stored = read_arrays(path)
        n_windows = len({name.split("/")[0] for name in stored})
        return [window(stored, k) for k in range(n_windows)]
    except DAMAGES as error:
        raise UsageError(f"'{path}' cannot be used ({type(error).__name__}: {error}); label the video again") from None


def _read_window(stored: Mapping[str, NDArray[Any]], k: int) -> WindowMemory:
    steps = check_array(stored[f"{k}/ids"], np.int32, (None, None, None))
    ids: Int32 = np.cumsum(steps, axis=0, dtype=np.int32)
    graph = Graph(**{name: stored[f"{k}/{name}"] for name in GRAPH})
    _check_graph(graph, ids)
    found = {name: stored[_stored_name(stored, k, name)] for name in FIELDS}
    n = len(graph)
    check_array(found["subsets"], np.int32, (n,), 0)
    found["probabilities"] = _known(found["probabilities"], found["subsets"] > 0)
    check_array(found["inputs"], np.float32, (n, None))
    return WindowMemory(Supervoxels(ids, graph), **found)


def _known(probabilities: NDArray[Any], are_known: Bool) -> Float32:
    """Probabilities (N, L), with zeros for supervoxels without any."""
    if probabilities.ndim != 2 or len(probabilities) != len(are_known):
        raise ValueError(f"probabilities of shape {probabilities.shape}")
    probabilities[~are_known] = 0
    return check_array(probabilities, np.float32, (None, None), 0, 1 + _ROUNDING)


def _check_graph(graph: Graph, ids: Int32) -> None:
    """Raise ValueError where a graph is not that of these supervoxels: compiled code trusts every index of it."""
    n = len(graph)
    shape = ids.shape
    e = len(graph.edges)
    check_array(ids, np.int32, (None, None, None), 0, n - 1)
    check_array(graph.sizes, np.int64, (n,), 1, Limits.supervoxels)
    if ids.min() != 0 or ids.max() != n - 1:
        raise ValueError("ids are not those of the supervoxels")
    check_array(graph.edges, np.int32, (e, 2), 0, n - 1)
    check_array(graph.contact, np.int64, (e,), 1, 3 * ids.size)
    check_array(graph.bins, np.uint8, (e, 2), 0, len(BINS) - 1)
    check_array(graph.centroids, np.float64, (n, 3), 0, max(shape))
    check_array(graph.boxes, np.int32, (n, 6), 0, max(shape))
    for axis, side in enumerate(shape):
        first, end = graph.boxes[:, 2 * axis], graph.boxes[:, 2 * axis + 1]
        if (first >= end).any() or end.max(initial=0) > side:
            raise ValueError("boxes that are empty, or lie outside of the window")
    order = graph.edges[:, 0].astype(np.int64) * n + graph.edges[:, 1]
    if (graph.edges[:, 0] >= graph.edges[:, 1]).any() or (np.diff(order) <= 0).any():
        raise ValueError("edges are not in order")


def _stored_name(stored: Mapping[str, NDArray[Any]], k: int, field: str) -> str:
    name = f"{k}/{field}"
    return name if name in stored else f"{k}/{BEFORE.get(field, field)}"
