"""Write supervoxels to disk: ids frame by frame, so that long videos need not fit in memory."""

import zipfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from budgetseg.errors import VideoError
from budgetseg.types import Graph, Int32, UInt8

__all__ = ["IdsWriter", "ids_to_rgb", "write_graph"]


class IdsWriter:
    """Writes `ids.npz` (array `ids`, (T, H, W) int32) a few frames at a time; `np.load` reads it.

    Parameters
    ----------
    path : the file to write
    shape : (T, H, W), needed beforehand since the file begins with it
    """

    def __init__(self, path: Path, shape: tuple[int, int, int]) -> None:
        self.shape = shape
        self._missing = shape[0]
        self._file = path.open("wb")
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._member = self._archive.open("ids.npy", "w", force_zip64=True)
        header = {"descr": "<i4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._member, header)

    def write(self, ids: Int32) -> None:
        """Append frames, (t, H, W)."""
        self._missing -= len(ids)
        for frame in ids:
            self._member.write(np.ascontiguousarray(frame, "<i4").data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is not None:
            self._abandon()
            return
        try:
            self._member.close()
            self._archive.close()
            self._file.close()
        except OSError:
            self._abandon()
            raise
        if self._missing:
            raise VideoError(
                f"the video announced {self.shape[0]} frames but gave {self.shape[0] - self._missing}; "
                f"repair it, or give --end"
            )

    def _abandon(self) -> None:
        """Close without finishing: on a full disk the archive would fail again when it is garbage-collected."""
        self._archive.fp = None
        with suppress(OSError):
            self._file.close()


def write_graph(path: Path, graph: Graph) -> None:
    """Write `graph.npz`: an array for each field of `Graph`, and `key_frames`."""
    fields = {name: getattr(graph, name) for name in ("edges", "contact", "sizes", "centroids", "boxes", "bins")}
    np.savez_compressed(path, **fields, key_frames=graph.key_frames)


def ids_to_rgb(ids: Int32) -> UInt8:
    """Ids (H, W) as colours (H, W, 3): id = red + 256 green + 65536 blue."""
    return np.stack([ids & 255, (ids >> 8) & 255, (ids >> 16) & 255], axis=-1).astype(np.uint8)
