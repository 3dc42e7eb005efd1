"""Files that are missing, broken, cut short or no videos at all: one line each that says what to do."""

import re
from collections.abc import Callable
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.video import open_video
from budgetseg.video.cut import missing_bytes
from tests.video.clips import KINDS, N_FRAMES, number_of, numbered, remux, write_images

MakeClip = Callable[[str], Path]
DETECTABLE = [name for name, kind in KINDS.items() if kind.suffix in {".mp4", ".mkv", ".avi", ".webm", ".y4m"}]


def remade(path: Path, source: Path, change: Callable[[bytes], bytes]) -> Path:
    path.write_bytes(change(source.read_bytes()))
    return path


@pytest.fixture(scope="session")
def index_first(make_clip: MakeClip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MP4 whose index is at its start, so that a part of it still opens."""
    path = tmp_path_factory.mktemp("first") / "index-first.mp4"
    with (
        av.open(str(make_clip("mp4-h264"))) as source,
        av.open(str(path), "w", options={"movflags": "faststart"}) as out,
    ):
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                out.mux(packet)
    return path


@pytest.mark.parametrize("kind", DETECTABLE)
def test_a_whole_file_lacks_nothing(make_clip: MakeClip, kind: str) -> None:
    assert missing_bytes(make_clip(kind)) == 0


@pytest.mark.parametrize("kind", DETECTABLE)
@pytest.mark.parametrize("share", [0.5, 0.7, 0.9, 0.97])
def test_a_file_that_lacks_frames_is_refused(make_clip: MakeClip, tmp_path: Path, kind: str, share: float) -> None:
    whole = make_clip(kind)
    path = remade(tmp_path / f"cut{whole.suffix}", whole, lambda data: data[: int(len(data) * share)])
    try:
        assert open_video(path).count() == N_FRAMES  # only what follows the frames was cut off
    except VideoError as refusal:
        complaint = r"cut short: \d+ frames can be decoded, \d+ bytes are missing; copy it again"
        assert re.search(complaint, str(refusal))  # noqa: PT017


@pytest.mark.parametrize("kind", ["index-first", "mp4-h264-fragmented", "mkv-h264", "avi-mpeg4", "webm-vp9", "y4m"])
@pytest.mark.parametrize("share", [0.6, 0.75, 0.9])
def test_the_part_that_is_there_can_be_used(
    make_clip: MakeClip, index_first: Path, tmp_path: Path, kind: str, share: float
) -> None:
    whole = index_first if kind == "index-first" else make_clip(kind)
    path = remade(tmp_path / f"cut{whole.suffix}", whole, lambda data: data[: int(len(data) * share)])
    with pytest.raises(VideoError) as refusal:
        open_video(path)
    advised = re.search(r"or set end=(\d+)", str(refusal.value))
    if advised:
        end = int(advised[1])
        assert 0 < end < N_FRAMES
        assert [number_of(frame.pixels) for frame in open_video(path, end=end)] == list(range(end))


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
    advised = re.search(r"or set end=(\d+)", str(refusal.value))
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


def test_data_that_a_camera_appends_is_no_cut(make_clip: MakeClip, tmp_path: Path) -> None:
    path = remade(tmp_path / "camera.mp4", make_clip("mp4-h264"), lambda data: data + b"\xff\xff\xff\xffjunk" * 9)
    assert len(open_video(path).read().frames) == N_FRAMES


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match=r"there is no video at '.*nowhere\.mp4'; check the path"):
        open_video(tmp_path / "nowhere.mp4")


@pytest.mark.parametrize("suffix", [".mp4", ".avi", ".txt", ".mkv", ""])
@pytest.mark.parametrize("content", [b"just some text\n" * 99, bytes(range(256)) * 40])
def test_a_file_that_is_no_video_is_refused(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"text{suffix}"
    path.write_bytes(content)
    with pytest.raises(VideoError, match=r"video.*; give an MP4"):
        open_video(path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.mp4"
    path.touch()
    with pytest.raises(VideoError, match="is empty"):
        open_video(path)


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


def test_a_folder_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="holds no PNG or JPEG image"):
        open_video(tmp_path)


def test_an_image_of_another_size_is_named(tmp_path: Path) -> None:
    write_images(tmp_path / "f", ".png")
    cv2.imwrite(str(tmp_path / "f" / "frame7.png"), numbered(7, (80, 60)))
    with pytest.raises(VideoError, match=r"frame7\.png' is 80x60, but the first image of the folder is 96x64"):
        open_video(tmp_path / "f").read()


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
@pytest.mark.parametrize("damage", [lambda data: data[:200], lambda _: b"", lambda data: b"hello" + data[5:]])
def test_an_image_that_cannot_be_read_is_named(tmp_path: Path, suffix: str, damage: Callable[[bytes], bytes]) -> None:
    write_images(tmp_path / "f", suffix)
    broken = tmp_path / "f" / f"frame7{suffix}"
    remade(broken, broken, damage)
    with pytest.raises(VideoError, match=rf"frame7\{suffix}' is not an image that can be read; copy it again"):
        open_video(tmp_path / "f").read()


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
