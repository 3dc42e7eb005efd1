"""Tables of descriptors on disk, with what each of them cost, for training and simulation.

A folder per video, written whole or not at all; large arrays are .npy files that are memory-mapped:

    video.json          name, frames, supervoxels, settings, descriptors, kinds of resources
    graph.npz           the fields of `Graph`
    truth.npy           (N, L) labelled pixels of each class in each supervoxel
    costs.npz           the fields of `Costs`
    values/NAME.npy     (N, length) float32, one file a descriptor
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from budgetseg.errors import DatasetError
from budgetseg.files import atomic_folder
from budgetseg.types import Float32, Float64, Graph, Int32, Int64

__all__ = ["Costs", "VideoTable", "read_settings", "read_table", "write_table"]

FORMAT = 2  # it also changes when a descriptor changes its meaning
_CARD: dict[str, type] = {"name": str, "n_frames": int, "settings": dict, "descriptors": dict, "kinds": dict}
_DAMAGES = (OSError, EOFError, BadZipFile, ValueError, KeyError, TypeError)


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of the descriptors of a video: D descriptors of N supervoxels, which share R resources.

    Attributes
    ----------
    private_s : (N, D) float64, seconds without resources
    resource_s : (R,) float64, seconds of each resource; 0 for one that was not needed when costs were measured
    first : (N * D + 1,) int64; descriptor d of supervoxel i needs `needed[first[i * D + d] : first[i * D + d + 1]]`
    needed : (M,) int32, resources 0..R-1, including those that other resources need, each before its users
    kinds : number of resources of each kind, in the order of 0..R-1
    """

    private_s: Float64
    resource_s: Float64
    first: Int64
    needed: Int32
    kinds: Mapping[str, int]

    def take(self, columns: Sequence[int], rows: Int64 | None = None) -> "Costs":
        """Costs of some descriptors (columns) and supervoxels (rows, None for all); resources keep their numbers."""
        n, n_descriptors = self.private_s.shape
        rows = np.arange(n) if rows is None else rows
        cells = (rows[:, None] * n_descriptors + np.asarray(columns, np.int64)).ravel()
        counts = self.first[cells + 1] - self.first[cells]
        first = np.concatenate([[0], np.cumsum(counts)])
        needed = self.needed[np.repeat(self.first[cells] - first[:-1], counts) + np.arange(first[-1])]
        private_s = np.ascontiguousarray(self.private_s[rows][:, list(columns)])
        return Costs(private_s, self.resource_s, first, needed, self.kinds)

    def full_s(self, columns: Sequence[int]) -> float:
        """Seconds of these descriptors for the whole video, with every resource made once."""
        costs = self.take(columns)
        return float(costs.private_s.sum() + costs.resource_s[np.unique(costs.needed)].sum())


@dataclass(frozen=True, eq=False)
class VideoTable:
    """All descriptors of a video, with its supervoxels and labels.

    Attributes
    ----------
    name : of the video
    n_frames : number of frames, T
    graph : of its supervoxels
    truth : (N, L) number of labelled pixels of each class in each supervoxel
    values : descriptors by name, (N, length) float32 each, in the order of the columns of the costs
    costs : of computing them
    settings : that they were computed with; tables with other settings must not be mixed
    """

    name: str
    n_frames: int
    graph: Graph
    truth: Int64
    values: Mapping[str, Float32]
    costs: Costs
    settings: Mapping[str, Any]


def write_table(table: VideoTable, folder: Path) -> None:
    """Write the table of a video to a folder, which appears whole or not at all."""
    card = {
        "format": FORMAT,
        "name": table.name,
        "n_frames": table.n_frames,
        "n_supervoxels": len(table.graph),
        "settings": dict(table.settings),
        "descriptors": {name: values.shape[1] for name, values in table.values.items()},
        "kinds": dict(table.costs.kinds),
    }
    with atomic_folder(folder) as part:
        np.savez(part / "graph.npz", **_arrays(table.graph))
        np.savez(part / "costs.npz", **_arrays(table.costs))
        np.save(part / "truth.npy", table.truth)
        (part / "values").mkdir()
        for name, values in table.values.items():
            np.save(part / "values" / f"{name}.npy", values)
        (part / "video.json").write_text(json.dumps(card, indent=2) + "\n")


def read_table(folder: Path) -> VideoTable:
    """Read the table of a video. Values are memory-mapped, so that only what is used is read."""
    card = _read_card(folder)
    try:
        graph = Graph(**_load_arrays(folder / "graph.npz"))
        costs = Costs(**_load_arrays(folder / "costs.npz"), kinds=card["kinds"])
        truth = np.load(folder / "truth.npy")
        values = {name: np.load(folder / "values" / f"{name}.npy", mmap_mode="r") for name in card["descriptors"]}
    except _DAMAGES as error:
        raise DatasetError(f"{folder}: damaged table ({error}); delete the folder and describe again") from None
    for name, length in card["descriptors"].items():
        if values[name].shape != (len(graph), length):
            raise DatasetError(f"{folder}: values/{name}.npy does not have the shape in video.json; describe again")
    return VideoTable(card["name"], card["n_frames"], graph, truth, values, costs, card["settings"])


def read_settings(folder: Path) -> Mapping[str, Any] | None:
    """Settings of the table in a folder; None if there is no table."""
    if not (folder / "video.json").exists():
        return None
    settings: Mapping[str, Any] = _read_card(folder)["settings"]
    return settings


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / "video.json"
    try:
        card: dict[str, Any] = json.loads(path.read_text())
        if card["format"] != FORMAT:
            raise DatasetError(f"{path}: format {card['format']}, not {FORMAT}; delete the folder and describe again")
        for key, kind in _CARD.items():
            if not isinstance(card[key], kind):
                raise ValueError(f"'{key}' is {card[key]!r}")
        return card
    except FileNotFoundError:
        raise DatasetError(f"{folder}: no table; 'budgetseg describe' makes one") from None
    except _DAMAGES as error:
        raise DatasetError(f"{path}: damaged ({error}); delete the folder and describe again") from None


def _load_arrays(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:  # numpy would leave a damaged one open
        return dict(np.load(file))


def _arrays(value: Any) -> dict[str, Any]:
    arrays = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
