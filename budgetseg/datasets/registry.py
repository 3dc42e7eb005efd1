"""The datasets, by name; a reader is imported when a dataset is opened."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from budgetseg.datasets.core import Dataset
from budgetseg.errors import DatasetError, UsageError

__all__ = ["DATASETS", "DatasetEntry", "open_dataset"]


@dataclass(frozen=True)
class DatasetEntry:
    """A dataset that can be opened.

    Attributes
    ----------
    what : one line of description
    layout : the files below its root
    opener : "module:function"; the function takes the root, if one is needed, and returns a `Dataset`
    needs_root : whether it is read from files
    """

    what: str
    layout: str
    opener: str
    needs_root: bool = True


DATASETS = {
    "camvid": DatasetEntry(
        "CamVid, 11 classes, 480×360, split of SegNet",
        "train/*.png, trainannot/*.png (index, 11 ignored); val, valannot; test, testannot",
        "budgetseg.datasets.camvid:open_camvid",
    ),
    "camvid-original": DatasetEntry(
        "CamVid as first released, 960×720, 32 colours merged to 11 classes",
        "701_StillsRaw_full/NAME.png, LabeledApproved_full/NAME_L.png",
        "budgetseg.datasets.camvid:open_camvid_original",
    ),
    "folder": DatasetEntry(
        "Your own videos",
        "videos/NAME.mp4 or frames/NAME/*.png, labels/NAME/*.png, classes.toml, splits.toml",
        "budgetseg.datasets.folder:open_folder",
    ),
    "mpi-scene": DatasetEntry(
        "MPI-Scene, 5 classes, half of every video for training and half for testing",
        "videos/NAME.mp4 or frames/NAME/*.png, labels/NAME/*.png",
        "budgetseg.datasets.folder:open_mpi_scene",
    ),
    "suny": DatasetEntry(
        "SUNY Buffalo-Xiph.org, 23 classes and void, half of every video for training and half for testing",
        "dataset/Chen_png/VIDEO/*.png, groundtruth/Chen_gt/VIDEO/*_GT_index.png",
        "budgetseg.datasets.suny:open_suny",
    ),
    "synthetic": DatasetEntry(
        "Rendered streets, 12 classes that differ by colour, texture or motion",
        "no files: rendered from seeds",
        "budgetseg.datasets.synthetic:SyntheticDataset",
        needs_root=False,
    ),
}
"""Datasets by their name on the command line."""


def open_dataset(name: str, root: str | Path | None = None) -> Dataset:
    """Open the dataset of this name below a folder. Files are listed, but not read.

    Examples
    --------
    >>> dataset = open_dataset("camvid", "data/camvid")  # doctest: +SKIP
    >>> dataset.videos("val")[0].labels().shape  # doctest: +SKIP
    (101, 360, 480)
    """
    if name not in DATASETS:
        raise UsageError(f"no dataset '{name}'; choose from {', '.join(sorted(DATASETS))}")
    entry = DATASETS[name]
    module, function = entry.opener.split(":")
    arguments = [_checked_root(name, entry, root)] if entry.needs_root else []
    dataset: Dataset = getattr(import_module(module), function)(*arguments)
    return dataset


def _checked_root(name: str, entry: DatasetEntry, root: str | Path | None) -> Path:
    if root is None:
        raise UsageError(f"{name} needs --root DIR, the folder that holds {entry.layout}")
    if not Path(root).is_dir():
        raise DatasetError(f"{root}: no such folder; give the root of {name}: {entry.layout}")
    return Path(root)
