"""Files that are missing, cut short or no videos at all: one line each that says what to do."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from budgetseg.errors import VideoError
from budgetseg.video import open_video
from budgetseg.video.cut import missing_bytes
from tests.video.clips import KINDS, N_FRAMES, number_of, remade

MakeClip = Callable[[str], Path]
DETECTABLE = [name for name, kind in KINDS.items() if kind.suffix in {".mp4", ".mkv", ".avi", ".webm", ".y4m"}]


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
