"""The folder layout for users' own data, and the preset of it for MPI-Scene.

videos/NAME.mp4  or  frames/NAME/*.png      any container, or PNG and JPEG images
labels/NAME/*.png                           named as its frame, or by the 0-based frame number of a video file
classes.toml, splits.toml                   see docs/datasets.md
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from budgetseg.datasets.containers import VideoFile
from budgetseg.datasets.core import Dataset, Problem
from budgetseg.datasets.files import FrameFiles, images_in
from budgetseg.datasets.labels import IndexLabels, ReadLabels
from budgetseg.datasets.listed import ListedDataset, train_parts
from budgetseg.datasets.toml import read_classes, read_splits
from budgetseg.errors import DatasetError
from budgetseg.types import IGNORE, Classes

__all__ = ["MPI_SCENE", "open_folder", "open_mpi_scene"]

RATE_HZ = 25.0
"""Frames per second assumed for a folder of images, which has no times; the same as in `video.images`."""

FolderVideo = FrameFiles | VideoFile

MPI_SCENE = Classes(
    ("background", "road", "lane", "vehicle", "sky"),
    np.array([(96, 96, 96), (128, 64, 128), (255, 255, 0), (0, 0, 142), (70, 130, 180)], np.uint8),
)


def open_folder(root: Path) -> Dataset:
    """A user's own videos, in the splits that splits.toml names."""
    classes, read_labels = read_classes(root / "classes.toml")
    names = read_splits(root / "splits.toml")
    videos = {name: _find(root, name, read_labels) for of_split in names.values() for name in of_split}
    splits = {split: [videos[name] for name in of_split] for split, of_split in names.items()}
    return ListedDataset("folder", classes, _with_parts(splits), _listed(root, list(videos)))


def open_mpi_scene(root: Path) -> Dataset:
    """MPI-Scene: five classes built in; the first half of every video is for training, the second for testing."""
    names = _names(root)
    if not names:
        raise DatasetError(f"{root}: no videos; expected videos/NAME.mp4 or frames/NAME/*.png, and labels/NAME/*.png")
    classes, read_labels = _mpi_scene_classes(root / "classes.toml")
    videos = [_find(root, name, read_labels) for name in names]
    train = [video.between(f"{video.name}_train", 0, 0.5) for video in videos]
    test = [video.between(f"{video.name}_test", 0.5, 1) for video in videos]
    return ListedDataset("mpi-scene", classes, _with_parts({"train": train, "test": test}), _listed(root, names))


def _mpi_scene_classes(path: Path) -> tuple[Classes, ReadLabels]:
    """The built-in classes, indices 0 to 4 and 255 ignored; a classes.toml may define other indices and colours."""
    if not path.is_file():
        return MPI_SCENE, IndexLabels({**{index: index for index in range(len(MPI_SCENE))}, IGNORE: IGNORE})
    classes, read_labels = read_classes(path)
    if classes.names != MPI_SCENE.names:
        raise DatasetError(f"{path}: mpi-scene has the classes {', '.join(MPI_SCENE.names)}; open this as 'folder'")
    return classes, read_labels


def _with_parts(splits: Mapping[str, list[FolderVideo]]) -> dict[str, list[FolderVideo]]:
    """Train with its parts, then the other splits; if no selection was named, it is the last training video."""
    train = splits.get("train", [])
    selection = splits.get("selection", train[-1:])
    parts = train_parts(train, selection, [video for video in train if video not in selection])
    return parts | {split: videos for split, videos in splits.items() if split not in ("train", "selection")}


def _names(root: Path) -> list[str]:
    """Names of all videos below a root."""
    frames = _entries(root / "frames")
    videos = _entries(root / "videos")
    return sorted({path.name for path in frames if path.is_dir()} | {path.stem for path in videos if path.is_file()})


def _entries(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith(".")] if folder.is_dir() else []


def _video_files(root: Path, name: str) -> list[Path]:
    return sorted(path for path in _entries(root / "videos") if path.stem == name and path.is_file())


def _find(root: Path, name: str, read_labels: ReadLabels) -> FolderVideo:
    """The video of this name: a file, or a folder of images; without frames if neither exists."""
    labels = images_in(root / "labels" / name)
    files = _video_files(root, name)
    if files:
        numbered = {int(path.stem): path for path in labels if path.stem.isdecimal()}
        return VideoFile(name, files[0], dict(sorted(numbered.items())), read_labels)
    frames = tuple(images_in(root / "frames" / name))
    by_stem = {path.stem: path for path in labels}
    label_files = {index: by_stem[path.stem] for index, path in enumerate(frames) if path.stem in by_stem}
    return FrameFiles(name, frames, np.arange(len(frames)) / RATE_HZ, label_files, read_labels)


def _listed(root: Path, names: list[str]) -> tuple[Problem, ...]:
    return tuple(problem for name in names for check in _CHECKS for problem in check(root, name))


def _without_frames(root: Path, name: str) -> list[Problem]:
    path = root / "frames" / name
    if _video_files(root, name) or images_in(path):
        return []
    return [Problem(str(path), f"{path}: no images, and no videos/{name}.*; put either in place")]


def _found_twice(root: Path, name: str) -> list[Problem]:
    path = root / "frames" / name
    files = _video_files(root, name)
    others = [*files[1:], *([path] if path.is_dir() and files else [])]
    return [Problem(str(other), f"{other}: not used, {files[0].name} is the same video; keep one") for other in others]


def _without_labels(root: Path, name: str) -> list[Problem]:
    path = root / "labels" / name
    return [] if images_in(path) else [Problem(str(path), f"{path}: no labels; add them, or take '{name}' out")]


def _labels_without_frame(root: Path, name: str) -> list[Problem]:
    labels = images_in(root / "labels" / name)
    if _video_files(root, name):
        odd = [path for path in labels if not path.stem.isdecimal()]
        rule = "its name is not a frame number"
    else:
        stems = {path.stem for path in images_in(root / "frames" / name)}
        odd = [path for path in labels if path.stem not in stems]
        rule = f"no frame of that name in frames/{name}"
    return [Problem(str(path), f"{path}: {rule}; rename it, or restore the frame") for path in odd]


_CHECKS: tuple[Callable[[Path, str], list[Problem]], ...] = (
    _without_frames,
    _found_twice,
    _without_labels,
    _labels_without_frame,
)
