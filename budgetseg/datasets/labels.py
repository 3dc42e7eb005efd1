"""Read label files to class indices: palette or grey indices, or colours, each by a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from budgetseg.errors import DatasetError
from budgetseg.types import IGNORE, UInt8
from budgetseg.video import read_image, read_index_png

__all__ = ["ColourLabels", "IndexLabels", "ReadLabels"]

ReadLabels = Callable[[Path], UInt8]
"""Reads a label file at its size, (H, W) uint8: class index or `IGNORE`; raises `DatasetError` for anything else."""

_UNKNOWN = -1


@dataclass(frozen=True)
class IndexLabels:
    """Reads 8-bit index files.

    Attributes
    ----------
    classes : class of each index in a file (`IGNORE` for those that are ignored)
    """

    classes: Mapping[int, int]

    def __call__(self, path: Path) -> UInt8:
        """Class indices, (H, W); an error for an index that is not in the table."""
        raw = read_index_png(path)
        unknown = set(np.flatnonzero(np.bincount(raw.ravel(), minlength=256)).tolist()) - self.classes.keys()
        if unknown:
            raise DatasetError(
                f"{path}: unknown index {_listed(sorted(unknown))}; "
                f"the classes are {_listed(self._known())}, ignored {_listed(self._ignored()) or 'none'}"
            )
        return self._table()[raw]

    def _table(self) -> UInt8:
        table = np.full(256, IGNORE, np.uint8)
        table[list(self.classes)] = list(self.classes.values())
        return table

    def _known(self) -> list[int]:
        return sorted(index for index, to in self.classes.items() if to != IGNORE)

    def _ignored(self) -> list[int]:
        return sorted(index for index, to in self.classes.items() if to == IGNORE)


@dataclass(frozen=True)
class ColourLabels:
    """Reads RGB label files whose colours have channels 0, 64, 128 and 192 only, as the original CamVid.

    Attributes
    ----------
    classes : class of each RGB colour (`IGNORE` for those that are ignored)
    """

    classes: Mapping[tuple[int, int, int], int]

    def __call__(self, path: Path) -> UInt8:
        """Class indices, (H, W); an error for a colour that is not in the table."""
        rgb = read_image(path)
        # The top two bits of the three channels identify the 64 possible colours, so that a table look-up is enough.
        found = self._table()[rgb[..., 0] >> 6, rgb[..., 1] >> 6, rgb[..., 2] >> 6]
        wrong = (found == _UNKNOWN) | (rgb & 63).any(axis=-1)
        if wrong.any():
            colour = tuple(rgb[wrong][0].tolist())
            raise DatasetError(f"{path}: unknown colour {colour}; expected the 32 colours of the original CamVid")
        labels: UInt8 = found.astype(np.uint8)
        return labels

    def _table(self) -> np.ndarray[tuple[int, int, int], np.dtype[np.int16]]:
        table = np.full((4, 4, 4), _UNKNOWN, np.int16)
        for (red, green, blue), to in self.classes.items():
            table[red >> 6, green >> 6, blue >> 6] = to
        return table


def _listed(indices: Sequence[int]) -> str:
    """Indices as text, with ranges: `[0, 1, 2, 5]` as "0-2, 5"."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
