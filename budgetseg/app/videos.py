"""Find the videos behind paths: files, folders, patterns and lists."""

import csv
import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from budgetseg.errors import UsageError, VideoError
from budgetseg.video import VideoSource, list_images, open_video
from budgetseg.video.container import Container
from budgetseg.video.core import Span
from budgetseg.video.images import natural_key

__all__ = ["Found", "find_videos", "is_one_video", "open_counted", "part_of", "work_of"]

WHOLE = Span()
"""All frames of a video."""
SUFFIXES = {
    f".{name}" for name in ("avi", "flv", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ts", "webm", "y4m")
}
"""Suffixes of files that are looked for in a folder of videos."""
OURS = ("trace.json", "manifest.jsonl")
"""Files that a folder of our results has: its videos and images are not looked at."""


@dataclass(frozen=True)
class Found:
    """A video that was found, and was not opened yet.

    Attributes
    ----------
    path : a file, or a folder of images
    name : of the folder of its results, among those of all videos; with / where it is in a folder below the given one
    priority : times as much as usual that a point of accuracy is worth here
    """

    path: Path
    name: str
    priority: float = 1.0


def is_one_video(paths: Sequence[Path]) -> bool:
    """Whether paths name one video and nothing else: its results go to the output itself."""
    if len(paths) != 1 or _is_list(paths[0]) or _is_pattern(paths[0]):
        return False
    return not paths[0].is_dir() or bool(list_images(paths[0]))


def find_videos(paths: Sequence[Path]) -> list[Found]:
    """The videos behind paths, each of them once; VideoError where there are none.

    A path is a video file, a folder of images (one video), a folder that is searched with all folders below it, a
    pattern such as `clips/**/*.mp4`, `@files.txt` with a path on each line, or a CSV file with a column `path` and, if
    wanted, a column `priority`. Paths in a list are relative to the folder of the list.
    """
    found = dict[Path, tuple[Path, Path, float]]()
    for given in paths:
        for path, root, priority in _behind(given):
            key = path.absolute()
            before = found.get(key)
            if before is None or before[2] < priority:
                found[key] = (path, root, priority)
    if not found:
        places = ", ".join(f"'{path}'" for path in paths)
        raise VideoError(f"there is no video in {places}; give video files, or folders of them")
    rows = list(found.values())
    names = _names([(path, root) for path, root, _ in rows])
    return [Found(path, name, priority) for (path, _, priority), name in zip(rows, names, strict=True)]


def part_of(videos: Sequence[Found], shard: tuple[int, int]) -> list[Found]:
    """The videos of one of several parts of about the same size: `(3, 100)` is the third of a hundred.

    Examples
    --------
    >>> videos = [Found(Path(name), name) for name in "abcde"]
    >>> [video.name for video in part_of(videos, (2, 3))]
    ['b', 'e']
    """
    number, n_parts = shard
    return list(videos[number - 1 :: n_parts])


def open_counted(path: str | Path, span: Span = WHOLE, most_bytes: int | None = None) -> VideoSource:
    """Open a video and find its number of frames, by reading all of it if the container does not store the number."""
    source = open_video(path, start=span.start, end=span.end, stride=span.stride, most_bytes=most_bytes)
    if source.n_frames is not None or not isinstance(source.clip, Container):
        return source
    span.check_begins(source.clip.count(), source.clip.path)
    return replace(source, clip=replace(source.clip, n_frames=source.clip.count()))


def work_of(source: VideoSource) -> float:
    """Number of pixels in all frames of a video."""
    return float(source.count() * source.width * source.height)


def _behind(given: Path) -> Iterator[tuple[Path, Path, float]]:
    """Path, the folder that its name begins below, and priority of each video behind a path."""
    if not _is_list(given):
        yield from ((path, root, 1.0) for path, root in _without_list(given, given.parent))
        return
    file = Path(str(given).removeprefix("@"))
    for path, priority in _listed(file):
        if _is_list(path) or path.name.startswith("@"):
            raise UsageError(f"'{file}' names another list, '{path}'; give it beside this one")
        for one, root in _without_list(path, file.parent):
            yield one, root, priority


def _without_list(given: Path, root: Path) -> Iterator[tuple[Path, Path]]:
    if not _is_pattern(given):
        yield from _searched(given, given) if given.is_dir() else [(given, root)]
        return
    fixed = next(parent for parent in given.parents if not glob.has_magic(str(parent)))
    matches = sorted(fixed.glob(str(given.relative_to(fixed))), key=_in_order)
    if not matches:
        raise VideoError(f"no file matches '{given}'; check the pattern")
    for match in matches:
        if match.is_dir():
            yield from _searched(match, fixed)
        elif match.suffix.lower() in SUFFIXES:
            yield match, fixed


def _searched(folder: Path, root: Path) -> Iterator[tuple[Path, Path]]:
    """Videos in a folder and below it, in natural order, with the folder that their names begin below."""
    if not list_images(folder):
        yield from ((path, root) for path in _videos_below(folder))
        return
    if any(path.suffix.lower() in SUFFIXES for path in folder.iterdir()):
        raise VideoError(f"'{folder}' holds images and videos; give the videos one by one, or the images alone")
    yield folder, folder.parent if folder == root else root


def _videos_below(folder: Path) -> list[Path]:
    """Videos in a folder and below it; folders of our results are left out, and images beside videos."""
    inside = sorted((path for path in folder.iterdir() if not path.name.startswith(".")), key=_in_order)
    found: list[Path] = []
    for path in inside:
        if path.is_dir():
            if not path.is_symlink() and not any((path / name).is_file() for name in OURS):
                found += _videos_below(path) or ([path] if list_images(path) else [])
        elif path.suffix.lower() in SUFFIXES:
            found.append(path)
    return found


def _is_list(path: Path) -> bool:
    return str(path).startswith("@") or path.suffix.lower() == ".csv"


def _is_pattern(path: Path) -> bool:
    return glob.has_magic(str(path)) and not path.exists()


def _listed(file: Path) -> Iterator[tuple[Path, float]]:
    """Paths and priorities in a list."""
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the list '{file}': {error}; give a text file") from None
    rows = _rows(file, text) if file.suffix.lower() == ".csv" else ((line.strip(), "") for line in text.splitlines())
    for path, priority in rows:
        if path and not path.startswith("#"):
            yield file.parent / path, _priority(file, priority)


def _rows(file: Path, text: str) -> Iterator[tuple[str, str]]:
    reader = csv.DictReader(text.splitlines())
    if "path" not in (reader.fieldnames or ()):
        raise UsageError(f"'{file}' has no column 'path'; its first line must be path, or path,priority")
    for row in reader:
        yield (row["path"] or "").strip(), (row.get("priority") or "").strip()


def _priority(file: Path, text: str) -> float:
    try:
        found = float(text or 1)
    except ValueError:
        found = 0.0
    if not 0 < found < 1e6:
        raise UsageError(f"'{file}' has the priority '{text}'; a priority is a number above 0, and 1 is usual")
    return found


def _in_order(path: Path) -> list[tuple[list[tuple[int, str]], str]]:
    return [natural_key(part) for part in path.parts]


def _names(places: Sequence[tuple[Path, Path]]) -> list[str]:
    """A unique name for each path below a folder: without suffix, or with it, or with a number."""
    whole = [_below(path, root) for path, root in places]
    short = [name if path.is_dir() else name.with_suffix("") for name, (path, _) in zip(whole, places, strict=True)]
    counts = Counter(short)
    folders = {parent for name in short for parent in name.parents}
    names = [long if counts[name] > 1 or name in folders else name for long, name in zip(whole, short, strict=True)]
    counts = Counter(names)
    return [
        str(name) if counts[name] == 1 else str(name.with_name(f"{k:03d}-{name.name}")) for k, name in enumerate(names)
    ]


def _below(path: Path, root: Path) -> PurePosixPath:
    """The path from a folder on: it never leads out of where it is put."""
    parts = Path(os.path.relpath(path, root)).parts
    return PurePosixPath(*parts) if ".." not in parts and parts else PurePosixPath(path.absolute().name)
