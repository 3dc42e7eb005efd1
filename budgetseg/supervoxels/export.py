"""Write the supervoxels of a video file to a folder: the work behind `budgetseg supervoxels`."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path
from types import TracebackType

import cv2
import numpy as np

from budgetseg.errors import OutputError, UsageError
from budgetseg.files import atomic_folder
from budgetseg.supervoxels.hierarchy import level_price
from budgetseg.supervoxels.segment import Segmenter
from budgetseg.supervoxels.store import IdsWriter, ids_to_rgb, write_graph
from budgetseg.supervoxels.tiers import tier_named
from budgetseg.timing.clock import WallClock
from budgetseg.types import Graph, Int32, UInt8
from budgetseg.video import VideoSource, VideoWriter, mark_boundaries

__all__ = ["Request", "Summary", "export_supervoxels"]

WINDOW_BYTES = 700_000_000
"""Memory that a window may take beside the program itself, about: 115 frames of 480x360 in `quality`, 300 in `fast`."""

SHORTEST_WINDOW = 8
"""Frames in a window, at least, however much memory they take."""


@dataclass(frozen=True)
class Request:
    """What supervoxels to make, and which files.

    Attributes
    ----------
    n : number of supervoxels in the whole video; 1,000 if neither this nor the level is given
    level : of the hierarchy, instead of n
    tier : quality or fast
    window : frames that are segmented at once; None for as many as WINDOW_BYTES allows
    threads : cores to use; the result does not depend on it
    overlay : whether to write overlay.mp4
    pngs : whether to write ids/*.png
    """

    n: int | None = None
    level: int | None = None
    tier: str = "quality"
    window: int | None = None
    threads: int = 1
    overlay: bool = True
    pngs: bool = False

    def check(self) -> None:
        """Raise UsageError if a number or a name is invalid."""
        tier_named(self.tier)
        if self.level is not None:
            level_price(self.level)
        if self.n is not None and self.level is not None:
            raise UsageError("-n and --level cannot be combined; give one of them")
        for name, value in (("n", self.n), ("window", self.window), ("threads", self.threads)):
            if value is not None and value < 1:
                raise UsageError(f"{name} must be 1 or more. Got {value}")


@dataclass(frozen=True)
class Summary:
    """Figures about the supervoxels that were made, and how long it took."""

    video: str
    n_frames: int
    rate: float
    width: int
    height: int
    tier: str
    level: int | None
    n: int
    n_edges: int
    mean_voxels: float
    mean_frames: float
    n_windows: int
    read_s: float
    segment_s: float
    write_s: float


def export_supervoxels(
    source: VideoSource, folder: Path, request: Request, advance: Callable[[int], None] = lambda _: None
) -> Summary:
    """Segment a video into `folder`: ids.npz, graph.npz, summary.json and, as asked, overlay.mp4 and ids/*.png."""
    request.check()
    n_frames = source.count()
    done = 0
    n = request.n or 1000
    lengths = _window_lengths(n_frames, request.window or _longest_window(source, request.tier))
    segmenter = Segmenter((source.height, source.width), request.tier, request.threads)
    spent = _Stages()
    with atomic_folder(folder) as part:
        with _Outputs(part, source, n_frames, request) as outputs:
            for frames in spent.reading(_windows(source, lengths)):
                done += len(frames)
                with spent.on("segment"):
                    n_new = max(0, n * done // n_frames - segmenter.n)
                    ids = segmenter.push(frames, n_new=n_new, level=request.level, advance=advance)
                with spent.on("write"):
                    outputs.write(frames, ids)
        with spent.on("segment"):
            graph = segmenter.graph()
        write_graph(part / "graph.npz", graph)
        summary = _summarise(source, request, graph, spent, lengths)
        (part / "summary.json").write_text(json.dumps(asdict(summary), indent=2) + "\n")
        _forget_earlier(folder)
    return summary


def _summarise(source: VideoSource, request: Request, graph: Graph, spent: "_Stages", lengths: list[int]) -> Summary:
    return Summary(
        video=source.name,
        n_frames=sum(lengths),
        rate=source.rate,
        width=source.width,
        height=source.height,
        tier=request.tier,
        level=request.level,
        n=len(graph),
        n_edges=len(graph.edges),
        mean_voxels=float(graph.sizes.mean()),
        mean_frames=float((graph.boxes[:, 1] - graph.boxes[:, 0]).mean()),
        n_windows=len(lengths),
        **{f"{stage}_s": round(seconds, 4) for stage, seconds in spent.seconds.items()},
    )


class _Stages:
    """Seconds spent on each stage."""

    def __init__(self) -> None:
        self.seconds = {"read": 0.0, "segment": 0.0, "write": 0.0}
        self._clock = WallClock()

    @contextmanager
    def on(self, stage: str) -> Iterator[None]:
        began_s = self._clock.now_s()
        yield
        self.seconds[stage] += self._clock.now_s() - began_s

    def reading(self, items: Iterator[UInt8]) -> Iterator[UInt8]:
        """The items, with the time to get each of them booked as `read`."""
        while True:
            with self.on("read"):
                item = next(items, None)
            if item is None:
                return
            yield item


class _Outputs(AbstractContextManager["_Outputs"]):
    """The files that grow with every window."""

    def __init__(self, folder: Path, source: VideoSource, n_frames: int, request: Request) -> None:
        self._stack = ExitStack()
        self._n_written = 0
        self._ids = self._stack.enter_context(IdsWriter(folder / "ids.npz", (n_frames, source.height, source.width)))
        self._overlay = None
        self._pngs = folder / "ids" if request.pngs else None
        if request.overlay:
            writer = VideoWriter(folder / "overlay.mp4", (source.width, source.height), source.rate)
            self._overlay = self._stack.enter_context(writer)
        if self._pngs is not None:
            self._pngs.mkdir()

    def write(self, frames: UInt8, ids: Int32) -> None:
        """Append a window: frames (t, H, W, 3), ids (t, H, W)."""
        self._ids.write(ids)
        for frame, frame_ids in zip(frames, ids, strict=True):
            if self._overlay is not None:
                self._overlay.write(mark_boundaries(frame, frame_ids))
            if self._pngs is not None:
                path = self._pngs / f"{self._n_written:06d}.png"
                if not cv2.imwrite(str(path), ids_to_rgb(frame_ids)[..., ::-1]):
                    raise OutputError(f"cannot write '{path.name}'; free some space or choose another place")
            self._n_written += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)


def _forget_earlier(folder: Path) -> None:
    """Remove files of an earlier run that this one may not replace, so that all files are of one run."""
    (folder / "overlay.mp4").unlink(missing_ok=True)
    shutil.rmtree(folder / "ids", ignore_errors=True)


def _longest_window(source: VideoSource, tier: str) -> int:
    """Frames that fit in WINDOW_BYTES: 10 bytes per pixel for its colour and id, 25 per voxel for leaves and merges."""
    n_pixels = source.width * source.height
    bytes_per_pixel = 10 + 25 / tier_named(tier).reduce(n_pixels) ** 2
    return max(SHORTEST_WINDOW, int(WINDOW_BYTES / (n_pixels * bytes_per_pixel)))


def _window_lengths(n_frames: int, longest: int) -> list[int]:
    """Cut a video into the fewest windows of nearly equal length."""
    n_windows = -(-n_frames // longest)
    ends = [n_frames * (i + 1) // n_windows for i in range(n_windows)]
    return [end - start for start, end in pairwise([0, *ends])]


def _windows(source: VideoSource, lengths: list[int]) -> Iterator[UInt8]:
    """The frames of a video, (length, H, W, 3) at a time; the last is shorter if the video is."""
    frames = iter(source)
    for length in lengths:
        window = np.empty((length, source.height, source.width, 3), np.uint8)
        n = 0
        for frame in islice(frames, length):
            window[n] = frame.pixels
            n += 1
        if n:
            yield window[:n]
