"""Frames that do not fit into memory are refused before they are decoded."""

import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.errors import VideoError
from budgetseg.video import open_video
from budgetseg.video.images import read_image
from budgetseg.video.room import FrameRoom, available_bytes, check_room, image_size


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
@pytest.mark.parametrize("size", [(97, 64), (1, 1), (300, 7)])
def test_headers_state_the_size_of_a_picture(suffix: str, size: tuple[int, int]) -> None:
    done, data = cv2.imencode(suffix, np.zeros((size[1], size[0], 3), np.uint8))
    assert done
    assert image_size(data.tobytes()) == size


@given(st.binary(max_size=60))
def test_no_header_is_read_beyond_its_end(data: bytes) -> None:
    for start in (b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n"):
        found = image_size(start + data)
        assert found is None or min(found) >= 0


def test_a_picture_of_giant_size_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, data = cv2.imencode(".png", np.zeros((8, 8), np.uint8))
    assert done
    content = bytearray(data.tobytes())
    content[16:24] = (20000).to_bytes(4) * 2
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4)
    (tmp_path / "a.png").write_bytes(content)
    monkeypatch.setattr("budgetseg.video.images.decode_image", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(VideoError, match=r"a frame of 20000×20000 needs 16.0 GB, and --max-memory allows 2.0 GB"):
        open_video(tmp_path, most_bytes=2 * 10**9)
    monkeypatch.setattr("budgetseg.video.room.available_bytes", lambda: 10**9)
    with pytest.raises(VideoError, match=r"needs 16.0 GB, and there is 1.0 GB; scale it down"):
        open_video(tmp_path)
    with pytest.raises(VideoError, match=r"needs 16.0 GB"):
        read_image(tmp_path / "a.png", (8, 8))  # a later frame of another size


def test_a_video_file_of_giant_frames_is_refused_before_it_is_decoded(
    make_clip: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetseg.video.container._first_frame", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(VideoError, match=r"a frame of 96×64 needs 0.0 GB, and --max-memory allows 0.0 GB"):
        open_video(make_clip("mp4-h264"), most_bytes=1000)


def test_frames_that_fit_pass() -> None:
    check_room(Path("a"), (100, 100), 10_000 * FrameRoom().frame_bytes)
    with pytest.raises(VideoError, match="--max-memory"):
        check_room(Path("a"), (100, 100), 10_000 * FrameRoom().frame_bytes - 1)


def test_memory_is_that_of_the_machine_and_of_the_container(tmp_path: Path) -> None:
    (tmp_path / "info").write_text("MemTotal: 9 kB\nMemAvailable: 7 kB\n")
    (tmp_path / "limit").write_text("max\n")
    assert available_bytes(tmp_path / "info", tmp_path / "limit") == 7 * 1024
    (tmp_path / "limit").write_text("5000\n")
    assert available_bytes(tmp_path / "info", tmp_path / "limit") == 5000
    assert available_bytes(tmp_path / "none", tmp_path / "none") > 10**6
