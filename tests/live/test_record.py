"""What is kept of a stream is whole, and keeping it never holds the stream up."""

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from budgetseg.errors import OutputError
from budgetseg.live import record
from budgetseg.live.loop import LiveFrame
from budgetseg.live.record import Recorder, Recording
from budgetseg.types import UInt8
from budgetseg.video import open_video, read_index_png
from budgetseg.video.encode import VideoWriter
from tests.live.worlds import drive
from tests.spaces.frames.worlds import CLASSES


def frames(n: int, size: int = 64, source: int = 0) -> Iterator[LiveFrame]:
    images = drive()
    for k in range(n):
        image: UInt8 = images[k % len(images)][:size]
        labels = (image[..., 0] // 100).astype(np.uint8)
        yield LiveFrame(image, labels, 0.01, 0, k, k / 10, source, k / 10, ["small"], labels[::4, ::4])


def kept(folder: Path, given: Iterator[LiveFrame], recording: Recording, n_sources: int = 1) -> Recorder:
    recorder = Recorder(folder, CLASSES, [f"cam {k}" for k in range(n_sources)], recording)
    for frame in given:
        recorder.add(frame)
    recorder.close()
    return recorder


ALL = Recording(every=10, piece_s=2.0, waiting=1000)


def test_overlays_come_in_pieces_and_labels_of_every_kth_frame(tmp_path: Path) -> None:
    recorder = kept(tmp_path / "out", frames(45), ALL)
    assert recorder.error is None
    labels = sorted(path.name for path in (tmp_path / "out" / "labels").iterdir())
    assert labels == [f"{k:08d}.png" for k in range(0, 45, 10)]
    expected = [frame.labels for frame in frames(45)][20]
    assert np.array_equal(read_index_png(tmp_path / "out" / "labels" / "00000020.png"), expected)
    pieces = sorted((tmp_path / "out").glob("*.mp4"))
    assert [open_video(piece).count() for piece in pieces] == [20, 20, 5]


def test_a_change_of_size_begins_a_piece(tmp_path: Path) -> None:
    both = [*frames(5), *frames(5, size=32)]
    kept(tmp_path / "out", iter(both), ALL)
    assert [open_video(piece).height for piece in sorted((tmp_path / "out").glob("*.mp4"))] == [64, 32]


def test_each_of_several_sources_has_a_folder(tmp_path: Path) -> None:
    kept(tmp_path / "out", iter([*frames(3), *frames(3, source=1)]), ALL, n_sources=2)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"0-cam-0", "1-cam-1", "ledger.json"}


def test_where_writing_is_slow_frames_are_left_out_and_the_stream_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = Event()
    write = VideoWriter.write

    def slowly(self: VideoWriter, frame: UInt8, time_s: float | None = None) -> None:
        go_on.wait()
        write(self, frame, time_s)

    monkeypatch.setattr(VideoWriter, "write", slowly)
    recorder = Recorder(tmp_path / "out", CLASSES, ["cam"], Recording(waiting=4))
    for frame in frames(20):
        recorder.add(frame)
    assert recorder.n_left_out >= 15
    go_on.set()
    recorder.close()
    assert recorder.error is None


def test_a_full_disk_is_an_error_and_what_was_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = VideoWriter.write
    n_written = 0

    def full(self: VideoWriter, frame: UInt8, time_s: float | None = None) -> None:
        nonlocal n_written
        n_written += 1
        if n_written > 30:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, frame, time_s)

    monkeypatch.setattr(VideoWriter, "write", full)
    recorder = kept(tmp_path / "out", frames(45), ALL)
    assert "No space left on device" in str(recorder.error)
    assert "\n" not in str(recorder.error)
    assert [path.name for path in (tmp_path / "out").glob("*.mp4")] == ["overlay-0000.mp4"]
    assert open_video(tmp_path / "out" / "overlay-0000.mp4").count() == 20
    assert json.loads((tmp_path / "out" / "ledger.json").read_text()) == {"state": "running"}
    assert not list((tmp_path / "out").glob(".*"))
    for frame in frames(99):  # nobody writes any more, and nobody waits
        recorder.add(frame)


def test_results_that_are_there_are_not_mixed_with_others(tmp_path: Path) -> None:
    kept(tmp_path / "out", frames(3), ALL)
    with pytest.raises(OutputError, match="has results already"):
        Recorder(tmp_path / "out", CLASSES, ["cam"])


def test_names_of_folders_are_harmless() -> None:
    assert record._plain("rtsp://camera:554/../../etc") == "rtsp---camera-554-..-..-etc"
    assert record._plain("..") == "source"
