"""Keep what a stream gave: overlays in pieces, labels of every k-th frame, a ledger. It never holds the stream up."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from typing import Any

import numpy as np

from budgetseg.errors import BudgetsegError, OutputError
from budgetseg.files import atomic_file, check_writable
from budgetseg.live.ask import give_way
from budgetseg.live.loop import LiveFrame
from budgetseg.types import Classes
from budgetseg.video.draw import blend
from budgetseg.video.encode import VideoWriter
from budgetseg.video.png import index_png

__all__ = ["Recorder", "Recording"]


@dataclass(frozen=True)
class Recording:
    """What is kept, and how.

    Attributes
    ----------
    every : labels of one frame in so many are written
    piece_s : seconds of an overlay; each is whole once it is there, whatever happens later
    waiting : frames that wait to be written, at most; others are left out, and counted
    nice : how much writing gives way to the stream
    overlay : whether overlays are written
    """

    every: int = 30
    piece_s: float = 60.0
    waiting: int = 16
    nice: int = 10
    overlay: bool = True


class Recorder:
    """Writes what a stream gives, in a thread of its own.

    Parameters
    ----------
    folder : for the files; must not hold a recording yet
    classes : names and colours
    names : of the sources; where there are several, each has a folder
    recording : what is kept

    Attributes
    ----------
    n_left_out : frames for which there was no time, so that the overlay lacks them
    error : why writing has ended; None while it goes on
    """

    def __init__(self, folder: Path, classes: Classes, names: list[str], recording: Recording | None = None) -> None:
        if (folder / "ledger.json").exists():
            raise OutputError(f"'{folder}' has results already; give another folder with -o")
        check_writable(folder)
        self.n_left_out = 0
        self.error: BudgetsegError | None = None
        self._folder = folder
        self._classes = classes
        self._recording = recording or Recording()
        folders = [folder / f"{k}-{_plain(name)}" for k, name in enumerate(names)] if len(names) > 1 else [folder]
        self._palette = np.zeros((256, 3), np.uint8)
        self._palette[: len(classes)] = classes.colours
        self._queue: Queue[LiveFrame | None] = Queue(self._recording.waiting)
        self._pieces = [_Pieces(own, classes, self._recording.piece_s) for own in folders]
        self._thread: Thread | None = None

    def add(self, frame: LiveFrame) -> None:
        """Write a frame soon; where too many wait it is left out. Nothing is written before the first one."""
        if self._thread is None:
            self.write_ledger({"state": "running"})  # its place is taken, should the disk become full
            self._thread = Thread(target=self._work, name="recorder", daemon=True)
            self._thread.start()
        try:
            self._queue.put_nowait(frame)
        except Full:
            self.n_left_out += 1

    def close(self) -> None:
        """Write what waits, and end."""
        if self._thread is None:
            return
        while self._thread.is_alive():
            try:
                self._queue.put(None, timeout=0.2)
                break
            except Full:
                continue
        self._thread.join()

    def write_ledger(self, ledger: Mapping[str, Any]) -> None:
        """Write or replace `ledger.json`."""
        with atomic_file(self._folder / "ledger.json") as part:
            part.write_text(json.dumps(ledger, indent=2) + "\n")

    def _work(self) -> None:
        give_way(self._recording.nice)
        try:
            with ExitStack() as stack:
                for pieces in self._pieces:
                    stack.callback(pieces.close)
                while (frame := self._queue.get()) is not None:
                    self._write(frame)
        except BudgetsegError as error:
            self.error = error
        except OSError as error:
            self.error = OutputError(f"cannot write '{self._folder}': {error.strerror}; what was written is whole")
        self._forget()

    def _forget(self) -> None:
        while True:
            try:
                self._queue.get_nowait()
            except Empty:
                return

    def _write(self, frame: LiveFrame) -> None:
        pieces = self._pieces[frame.source]
        if pieces.n_labels * self._recording.every <= frame.number:
            pieces.n_labels = frame.number // self._recording.every + 1
            with atomic_file(pieces.folder / "labels" / f"{frame.number:08d}.png") as part:
                part.write_bytes(index_png(frame.labels, self._palette))
        if self._recording.overlay:
            pieces.add(frame)


class _Pieces:
    """The overlay of one source, in files of a minute."""

    def __init__(self, folder: Path, classes: Classes, piece_s: float) -> None:
        self.folder = folder
        self.n_labels = 0
        self._classes = classes
        self._piece_s = piece_s
        self._writer: VideoWriter | None = None
        self._n = 0
        self._began_s = 0.0

    def add(self, frame: LiveFrame) -> None:
        """Add a frame to the piece that is open, or begin another one."""
        size = (frame.image.shape[1], frame.image.shape[0])
        writer = self._writer
        if writer is not None and (writer.size != size or frame.arrived_s - self._began_s >= self._piece_s):
            self.close()
            writer = None
        if writer is None:
            writer = self._begin(size, frame.arrived_s)
        try:
            writer.write(blend(frame.image, frame.labels, self._classes.colours), frame.arrived_s)
        except BaseException as error:
            self._writer = None
            writer.__exit__(type(error), error, error.__traceback__)  # it removes the piece, and says why
            raise

    def _begin(self, size: tuple[int, int], at_s: float) -> VideoWriter:
        self._began_s = at_s
        writer = VideoWriter(self.folder / f"overlay-{self._n:04d}.mp4", size, 25.0)
        writer.__enter__()
        self._writer = writer
        self._n += 1
        return writer

    def close(self) -> None:
        """Finish the piece that is open."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.__exit__(None, None, None)


def _plain(name: str) -> str:
    """A name that can be that of a folder."""
    return (
        "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).strip("-.")[:60] or "source"
    )
