"""What libav gives is upright and complete, or refused."""

import re
import struct
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.types import UInt8
from budgetseg.video import open_video
from tests.video.clips import N_FRAMES, numbered, remade, remux, write_images

MakeClip = Callable[[str], Path]


@pytest.mark.parametrize(
    ("matrix", "shown"),
    [
        ((1, 0, 0, 1), lambda stored: stored),
        ((0, 1, -1, 0), lambda stored: np.rot90(stored, -1)),  # what phones write for portrait: turn clockwise
        ((-1, 0, 0, -1), lambda stored: np.rot90(stored, 2)),
        ((0, -1, 1, 0), lambda stored: np.rot90(stored, 1)),
        ((-1, 0, 0, 1), lambda stored: stored[:, ::-1]),
        ((1, 0, 0, -1), lambda stored: stored[::-1]),
        ((0, 1, 1, 0), lambda stored: stored.transpose(1, 0, 2)),
        ((0, -1, -1, 0), lambda stored: stored[::-1, ::-1].transpose(1, 0, 2)),
    ],
)
def test_frames_come_out_as_the_display_matrix_shows_them(
    make_clip: MakeClip, tmp_path: Path, matrix: tuple[int, int, int, int], shown: Callable[[UInt8], UInt8]
) -> None:
    a, b, c, d = (value << 16 for value in matrix)
    data = bytearray(make_clip("mp4-h264").read_bytes())
    struct.pack_into(">9i", data, data.index(b"tkhd") + 4 + 40, a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path = tmp_path / "turned.mp4"
    path.write_bytes(data)
    source, expected = open_video(path, start=0b1101), shown(numbered(0b1101))
    frame = next(iter(source)).pixels
    assert (source.height, source.width) == frame.shape[:2] == expected.shape[:2]
    assert np.abs(frame.astype(int) - expected).mean() < 8


def test_a_vp8_reference_picture_is_no_frame(make_clip: MakeClip, tmp_path: Path) -> None:
    path = tmp_path / "hidden.webm"
    show_frame = 0x10  # a bit of the first byte
    remux(make_clip("webm-vp8"), path, lambda k, data: data if k != 5 else bytes([data[0] & ~show_frame]) + data[1:])
    source = open_video(path)
    assert source.count() == len(list(source)) == N_FRAMES - 1


@pytest.mark.parametrize("kind", ["index-first", "avi-mpeg4"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_file_damaged_inside_is_refused_at_the_damage(
    make_clip: MakeClip, index_first: Path, tmp_path: Path, kind: str, threads: int
) -> None:
    whole = index_first if kind == "index-first" else make_clip(kind)
    middle = int(whole.stat().st_size * 0.75)
    path = remade(tmp_path / whole.name, whole, lambda data: data[:middle] + bytes(200) + data[middle + 200 :])
    with pytest.raises(VideoError, match=r"is damaged: \d+ frames can be decoded") as refusal:
        open_video(path, threads=threads).read()
    advised = re.search(r"with --end (\d+)", str(refusal.value))
    assert advised
    assert len(open_video(path, threads=threads, end=int(advised[1])).read().frames) == int(advised[1])


@pytest.mark.parametrize("kind", ["mp4-h264", "mkv-h264"])
@pytest.mark.parametrize("threads", [1, 4])
def test_a_frame_that_fails_near_the_end_is_noticed(
    make_clip: MakeClip, tmp_path: Path, kind: str, threads: int
) -> None:
    whole = make_clip(kind)
    path = tmp_path / whole.name
    remux(whole, path, lambda k, data: data if k != N_FRAMES - 2 else bytes(len(data)))
    with pytest.raises(VideoError, match=r"is damaged: 36 frames can be decoded"):
        open_video(path, threads=threads).read()


def test_sound_alone_is_no_video(tmp_path: Path) -> None:
    path = tmp_path / "sound.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(VideoError, match="holds no video"):
        open_video(path)


def test_complaints_stay_out_of_the_terminal(
    make_clip: MakeClip, index_first: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    middle = int(index_first.stat().st_size * 0.75)
    damaged = remade(tmp_path / "d.mp4", index_first, lambda data: data[:middle] + bytes(200) + data[middle + 200 :])
    cut = remade(tmp_path / "c.mkv", make_clip("mkv-h264"), lambda data: data[:2000])
    write_images(tmp_path / "f", ".png")
    remade(tmp_path / "f" / "frame0.png", tmp_path / "f" / "frame1.png", lambda data: data[:99])
    for path in (damaged, cut, tmp_path / "f"):
        with pytest.raises(VideoError):
            open_video(path).read()
    assert capfd.readouterr() == ("", "")
