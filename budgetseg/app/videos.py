"""Find the videos behind paths, and divide budgets among them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from budgetseg.errors import VideoError
from budgetseg.types import Budget
from budgetseg.video import VideoSource, list_images, open_video
from budgetseg.video.container import Container
from budgetseg.video.core import Span
from budgetseg.video.images import natural_key

__all__ = ["Split", "Task", "find_videos", "open_counted", "work_of"]

WHOLE = Span()
"""All frames of a video."""
SUFFIXES = {
    f".{name}" for name in ("avi", "flv", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ts", "webm", "y4m")
}
"""Suffixes of files that are looked for in a folder of videos."""


@dataclass(frozen=True)
class Task:
    """A video to label.

    Attributes
    ----------
    source : the video
    folder : for its results
    """

    source: VideoSource
    folder: Path


def find_videos(
    paths: Sequence[Path], output: Path, span: Span | None = None, most_bytes: int | None = None
) -> list[Task]:
    """The videos behind paths: files, folders of images (each is one video), and folders of videos.

    Of each, the frames of `span` are labelled; None for all. Results of a single video go to `output` itself, those of
    several to folders of their names in it. A frame may need `most_bytes` of memory; None for what is free.
    """
    found = [path for given in paths for path in _videos_of(given)]
    sources = [open_counted(path, span or WHOLE, most_bytes) for path in found]
    if len(paths) == 1 and found == list(paths):
        return [Task(sources[0], output)]
    return [Task(source, output / name) for source, name in zip(sources, _names(found), strict=True)]


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


class Split:
    """Divides budgets among several videos in proportion to their work. What one leaves, the next ones may use.

    Parameters
    ----------
    budgets : of all videos together; budgets that are shares refer to the cost of each video, and are not divided
    works : number of pixels of each video
    least_s : seconds that a video gets if those before it have used up everything: enough to be labelled by the prior
    """

    def __init__(self, budgets: Sequence[Budget], works: Sequence[float], least_s: float = 1e-3) -> None:
        self._left = list(budgets)
        self._works = list(works)
        self._least_s = least_s

    def take(self) -> tuple[Budget, ...]:
        """The budgets of the next video."""
        share = self._works[0] / max(sum(self._works), self._works[0])
        given: list[Budget] = []
        for budget in self._left:
            amount = budget.amount if budget.is_share else max(budget.amount * share, self._least_s)
            # They must rise, even where an overrun has eaten the difference.
            given.append(replace(budget, amount=max(amount, given[-1].amount * (1 + 1e-6)) if given else amount))
        return tuple(given)

    def spend(self, spent_s: Sequence[float]) -> None:
        """Record that the video of the last `take` has spent so many seconds of each budget."""
        self._works.pop(0)
        self._left = [
            budget if budget.is_share else replace(budget, amount=budget.amount - seconds)
            for budget, seconds in zip(self._left, spent_s, strict=True)
        ]


def _videos_of(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    inside = sorted((p for p in path.iterdir() if not p.name.startswith(".")), key=lambda p: natural_key(p.name))
    files = [p for p in inside if p.suffix.lower() in SUFFIXES and p.is_file()]
    if list_images(path):
        if files:
            raise VideoError(f"'{path}' holds images and videos; give the videos one by one, or the images alone")
        return [path]
    videos = [p for p in inside if p in files or (p.is_dir() and list_images(p))]
    return videos or [path]  # opening a folder without videos raises an error that says so


def _names(paths: Sequence[Path]) -> list[str]:
    """A unique name for each path: the stem, or the whole name, or the name with a number."""
    names = [path.absolute().name if path.is_dir() else path.stem for path in paths]
    names = [path.absolute().name if names.count(name) > 1 else name for path, name in zip(paths, names, strict=True)]
    return [name if names.count(name) == 1 else f"{k:03d}-{name}" for k, name in enumerate(names)]
