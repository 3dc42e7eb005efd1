"""Read files that may come from anybody: regular files only, of sizes within limits, values of known types and ranges.

Everything here raises ValueError, or OSError, with what is wrong. Whoever reads a file says which one, and what to do.
"""

import json
import math
import os
import stat
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = [
    "Limits",
    "check_array",
    "digest_of",
    "number",
    "place_below",
    "read_arrays",
    "read_json",
    "read_regular",
    "size_of",
    "text",
    "whole",
]

_BLOCK = 1 << 20  # bytes that are read at a time


@dataclass(frozen=True)
class Limits:
    """Sizes beyond which a file is not read.

    Attributes
    ----------
    json_bytes : of a file of JSON or TOML; the trace of 200,000 frames has 10 MB
    model_bytes : of one file of a model; the largest networks of the field have 4 GB
    image_bytes : of a picture
    arrays_bytes : of all arrays of one file together, unpacked; the state of an hour of film by regions has 2 GB
    side : pixels of a side of a frame; twice that of 8K, and less than what image libraries reject
    frames : of a video; ten days of film
    supervoxels : of a window
    seconds : of any time that is stored; more than 30 years
    name : characters of a name
    names : in one list of names
    """

    json_bytes: int = 256 << 20
    model_bytes: int = 8 << 30
    image_bytes: int = 1 << 30
    arrays_bytes: int = 8 << 30
    side: int = 16384
    frames: int = 25_000_000
    supervoxels: int = 100_000_000
    seconds: float = 1e9
    name: int = 1000
    names: int = 1000


def size_of(path: Path, most: int) -> int:
    """Bytes of a regular file; ValueError for anything else, and for more than `most`."""
    found = path.lstat()
    _check_kind(path, found, most)
    return found.st_size


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file of at most so many bytes; a link to one is followed."""
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # to open a pipe would wait for its writer
    with open(opened, "rb") as file:  # noqa: PTH123 - what is checked is what is read
        _check_kind(path, os.fstat(opened), most)
        return file.read(most)


def read_json(path: Path, most: int = Limits.json_bytes) -> Any:
    """The values of a file of JSON; ValueError also for numbers that are none, and for lists nested without end."""
    try:
        return json.loads(read_regular(path, most).decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def digest_of(path: Path, most: int = Limits.model_bytes) -> str:
    """SHA-256 of a regular file that is no link."""
    size_of(path, most)
    with path.open("rb") as file:
        digest = sha256()
        while block := file.read(_BLOCK):
            digest.update(block)
        return digest.hexdigest()


def place_below(folder: Path, name: str) -> Path:
    """The file of a name within a folder; ValueError for a name that leads elsewhere."""
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name or len(name) > Limits.name:
        raise ValueError(f"'{name[:80]}' is no name of a file in the folder")
    place = folder
    for part in parts[:-1]:
        place /= part
        if place.is_symlink():
            raise ValueError(f"'{place}' is a link")
    return place / parts[-1]


def read_arrays(path: Path, most: int = Limits.arrays_bytes) -> dict[str, NDArray[Any]]:
    """All arrays of an .npz file; ValueError where they say to be larger than they are, or hold objects."""
    arrays: dict[str, NDArray[Any]] = {}
    with path.open("rb") as file:
        _check_kind(path, os.fstat(file.fileno()), most)
        with zipfile.ZipFile(file) as archive:
            if sum(member.file_size for member in archive.infolist()) > most:
                raise ValueError(f"more than {most} bytes of arrays")
            for member in archive.infolist():
                arrays[member.filename.removesuffix(".npy")] = _read_array(archive, member)
    return arrays


def check_array(
    array: NDArray[Any],
    dtype: DTypeLike,
    shape: tuple[int | None, ...],
    low: float | None = None,
    high: float = math.inf,
) -> NDArray[Any]:
    """The array, if it has this type and shape (None for any length), and its values lie from `low` to `high`.

    Without `low`, they must only be finite.
    """
    if array.dtype != np.dtype(dtype):
        raise ValueError(f"{array.dtype} in place of {np.dtype(dtype)}")
    fits = [own == wanted or wanted is None for own, wanted in zip(array.shape, shape, strict=False)]
    if len(array.shape) != len(shape) or not all(fits):
        raise ValueError(f"shape {array.shape} in place of {shape}")
    least = -math.inf if low is None else low
    if array.size and not (np.isfinite(array).all() and least <= array.min() and array.max() <= high):
        raise ValueError(f"values that are not finite, or not from {least} to {high}")
    return array


def whole(value: Any, least: int, most: int) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{_shown(value)} is no whole number from {least} to {most}")
    return value


def number(value: Any, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{_shown(value)} is no number from {least} to {most}")
    if not math.isfinite(float(value)):
        raise ValueError("a number is not finite")
    return float(value)


def text(value: Any, most: int = Limits.name) -> str:
    """A text of at most so many characters."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"{_shown(value)} is no text of at most {most} characters")
    return value


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, in_columns, dtype = read(file)
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or min(shape, default=0) < 0 or n_bytes > member.file_size:
            raise ValueError(f"'{member.filename}' has no array of {shape}")
        array = np.empty(math.prod(shape), dtype)
        room = array.view(np.uint8)
        for at in range(0, n_bytes, _BLOCK):
            block = file.read(min(_BLOCK, n_bytes - at))
            if len(block) != min(_BLOCK, n_bytes - at):
                raise ValueError(f"'{member.filename}' is cut short")
            room[at : at + _BLOCK] = np.frombuffer(block, np.uint8)
    return array.reshape(shape[::-1]).T if in_columns else array.reshape(shape)


def _check_kind(path: Path, found: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"'{path.name}' is no regular file")
    if found.st_size > most:
        raise ValueError(f"'{path.name}' has {found.st_size} bytes, more than {most}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _shown(value: Any) -> str:
    return repr(value)[:80] if isinstance(value, str | int | float | bool | None) else type(value).__name__
