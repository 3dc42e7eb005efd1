"""`state.npz`: what a run knew of every window at its end, for resuming it and for reports."""

import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from budgetseg.errors import UsageError
from budgetseg.spaces.regions.evidence import WindowMemory
from budgetseg.types import Graph, Int32, Supervoxels, UInt8

__all__ = ["STATE", "read_confidence", "read_state", "write_arrays", "write_confidence", "write_state"]

Read = TypeVar("Read")

STATE = "state.npz"
GRAPH = tuple(field.name for field in fields(Graph))
FIELDS = ("subsets", "probabilities", "inputs")
BEFORE = {"probabilities": "said"}
"""Names of fields in files of the first version, by their present names."""
_DAMAGES = (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile, zlib.error)


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
    return _read(folder / STATE, lambda stored, k: stored[f"{k}/confidence"])


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays as `np.savez_compressed` does, five times as fast."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _read(path: Path, window: Callable[[Mapping[str, NDArray[Any]], int], Read]) -> list[Read]:
    try:
        with path.open("rb") as file, np.load(file) as stored:
            n_windows = len({name.split("/")[0] for name in stored.files})
            return [window(stored, k) for k in range(n_windows)]
    except _DAMAGES as error:
        raise UsageError(f"'{path}' cannot be used ({type(error).__name__}: {error}); label the video again") from None


def _read_window(stored: Mapping[str, NDArray[Any]], k: int) -> WindowMemory:
    ids: Int32 = np.cumsum(stored[f"{k}/ids"], axis=0, dtype=np.int32)
    graph = Graph(**{name: stored[f"{k}/{name}"] for name in GRAPH})
    found = {name: stored[_stored_name(stored, k, name)] for name in FIELDS}
    memory = WindowMemory(Supervoxels(ids, graph), **found)
    n = len(graph)
    if ids.min() != 0 or ids.max() != n - 1 or not all(len(getattr(memory, name)) == n for name in FIELDS):
        raise ValueError(f"window {k} does not fit together")
    return memory


def _stored_name(stored: Mapping[str, NDArray[Any]], k: int, field: str) -> str:
    name = f"{k}/{field}"
    return name if name in stored else f"{k}/{BEFORE.get(field, field)}"
