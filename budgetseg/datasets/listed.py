"""A dataset made from its file names, which readers of published layouts return."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from budgetseg.datasets.core import Dataset, LabelledVideo, Problem
from budgetseg.types import Classes

__all__ = ["ListedDataset", "train_parts"]

V = TypeVar("V", bound=LabelledVideo)


@dataclass(frozen=True, eq=False)
class ListedDataset(Dataset):
    """Splits found by listing files, none of them read yet.

    Attributes
    ----------
    name : as on the command line
    classes : names and colours
    by_split : the videos of every existing split
    listed : problems: files that are missing or left over
    """

    name: str
    classes: Classes
    by_split: Mapping[str, Sequence[LabelledVideo]]
    listed: tuple[Problem, ...] = ()

    @cached_property
    def splits(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only, as all of a frozen class
        """Names of the existing splits."""
        return tuple(self.by_split)

    def problems(self) -> tuple[Problem, ...]:
        """Files that are missing or left over."""
        return self.listed

    def _videos(self, split: str) -> tuple[LabelledVideo, ...]:
        return tuple(sorted(self.by_split[split], key=lambda video: video.name))


def train_parts(train: list[V], selection: list[V], fit: list[V]) -> dict[str, list[V]]:
    """The splits train, fit and selection; fit is train if there is no selection, or nothing would be left to fit."""
    if not train:
        return {}
    if not selection or not fit:
        return {"train": train, "fit": train}
    return {"train": train, "fit": fit, "selection": selection}
