"""The files beside an ONNX file that hold its weights."""

import re
from pathlib import Path

__all__ = ["weight_files"]

LOCATION = re.compile(rb"\n\x08location\x12([\x01-\x7f])")
"""How an ONNX file names such a file: a key, and before its value the length of that. Longer names are not used."""


def weight_files(file: Path) -> list[Path]:
    """The files that an ONNX file names for its weights and that are there, in the order of their names."""
    content = file.read_bytes()
    places = {content[found.end() : found.end() + found[1][0]] for found in LOCATION.finditer(content)}
    paths = [file.with_name(place.decode(errors="replace")) for place in places if _is_plain(place)]
    return sorted(path for path in paths if path.is_file())


def _is_plain(place: bytes) -> bool:
    """Whether a place is a name, and no path: onnxruntime wants weights in the folder of the network, or below it."""
    return b"/" not in place and b"\\" not in place and b"\0" not in place and place not in (b".", b"..")
