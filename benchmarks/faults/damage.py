"""Damage to files, as chance decides: bytes changed, cut, repeated; values of JSON and of arrays replaced."""

import json
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["damaged", "odd_arrays", "odd_json"]

ODD: tuple[Any, ...] = (
    None, True, -1, 0, 255, 2**30, 2**31, 2**62, 10**400, -0.5, 1e8, 1e308, "", "../../x", "/dev/zero", "{{css}}",
    "\u0000", [], {}, [[]], "NaN", "inf",
)  # fmt: skip
"""Values in places where they do not belong."""


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes with one to three faults."""
    content = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        if not content:
            break
        at = int(rng.integers(len(content)))
        n = int(rng.integers(1, max(2, len(content) // 4)))
        fault = rng.integers(6)
        if fault == 0:
            content[at] ^= 1 << int(rng.integers(8))
        elif fault == 1:
            content[at : at + n] = rng.integers(0, 256, n).astype(np.uint8).tobytes()
        elif fault == 2:
            del content[at:]
        elif fault == 3:
            del content[at : at + n]
        elif fault == 4:
            content[at:at] = content[at : at + n]
        else:
            content[at : at + 4] = int(rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF])).to_bytes(4)
    return bytes(content)


def odd_json(path: Path, rng: np.random.Generator) -> None:
    """Replace one value of a file of JSON, anywhere in it, by an odd one; or damage its bytes."""
    if rng.random() < 0.2:
        path.write_bytes(damaged(path.read_bytes(), rng))
        return
    stored = json.loads(path.read_text())
    at = stored
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(at[key], dict | list) or not at[key] or rng.random() < 0.15:
            at[key] = ODD[int(rng.integers(len(ODD)))]
            break
        at = at[key]
    path.write_text(json.dumps(stored))


def odd_arrays(path: Path, rng: np.random.Generator) -> None:
    """Replace values, the shape or the type of one array of an .npz file; or damage its bytes."""
    if rng.random() < 0.2:
        path.write_bytes(damaged(path.read_bytes(), rng))
        return
    with np.load(path) as file:
        arrays = dict(file)
    name = list(arrays)[int(rng.integers(len(arrays)))]
    array = arrays[name].copy()
    odd = [-1, 255, 1 << 30, 100_000_000, np.nan, np.inf, -np.inf, 0]
    fault = rng.integers(5)
    if fault == 0:
        arrays[name] = array[:-1] if array.ndim else array
    elif fault == 1:
        arrays[name] = array.astype(rng.choice(["f8", "i8", "u1", "c8", "S3"]))
    elif fault == 2:
        arrays[name] = array[None]
    else:
        with np.errstate(all="ignore"):
            value = np.array(odd[int(rng.integers(len(odd)))]).astype(array.dtype)
        array.reshape(-1)[rng.integers(0, max(array.size, 1), 3) if fault == 3 else slice(None)] = value
        arrays[name] = array
    np.savez(path, **arrays)
