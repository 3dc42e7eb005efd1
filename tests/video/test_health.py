"""Missing and damaged frames are counted, and refused where that is asked for."""

import os
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetseg.errors import VideoError
from budgetseg.video import open_video
from budgetseg.video.health import Health, check_sound, health_of, is_whole_jpeg

MakeClip = Callable[[str], Path]


def jpeg(seed: int, progressive: bool = False) -> bytes:
    noise = np.random.default_rng(seed).integers(0, 256, (64, 96, 3)).astype(np.uint8)
    done, data = cv2.imencode(".jpg", noise, [cv2.IMWRITE_JPEG_PROGRESSIVE, int(progressive)])
    assert done
    return data.tobytes()


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_is_whole_up_to_its_last_marker(progressive: bool) -> None:
    data = jpeg(0, progressive)
    assert is_whole_jpeg(data)
    assert is_whole_jpeg(data + b"what a camera adds")
    for end in (10, len(data) // 2, len(data) - 2):
        assert not is_whole_jpeg(data[:end])


def test_a_jpeg_with_its_second_half_replaced_is_not_whole() -> None:
    data = jpeg(0)
    half = len(data) // 2
    other = np.random.default_rng(1).integers(0, 256, len(data) - half - 2).astype(np.uint8).tobytes()
    assert not is_whole_jpeg(data[:half] + other + data[-2:])


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_whole_or_not(data: bytes) -> None:
    is_whole_jpeg(data)
    is_whole_jpeg(b"\xff\xd8\xff\xda" + data)


def test_damaged_images_are_counted_and_refused_on_request(tmp_path: Path) -> None:
    for k in range(4):
        (tmp_path / f"{k}.jpg").write_bytes(jpeg(k))
    source = open_video(tmp_path)
    assert health_of(source, 4) == Health(0, 0)
    check_sound(source)
    data = jpeg(2)
    (tmp_path / "2.jpg").write_bytes(data[: len(data) // 2] + os.urandom(300) + b"\xff\x01" + data[-2:])
    assert health_of(source, 4) == Health(0, 1)
    assert health_of(open_video(tmp_path, end=2), 2) == Health(0, 0)
    with pytest.raises(VideoError, match=r"1 of its frames are damaged; copy or convert it again, or label it without"):
        check_sound(source)


@pytest.mark.parametrize("kind", ["mp4-h264", "mkv-h264", "avi-mpeg4", "webm-vp9", "ts-h264", "y4m", "png-folder"])
def test_whole_videos_are_sound(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind))
    check_sound(source)
    assert health_of(source, source.count()).words == ""


def test_damage_that_a_decoder_would_patch_is_refused(make_clip: MakeClip, tmp_path: Path) -> None:
    data = bytearray(make_clip("avi-mpeg4").read_bytes())
    at = data.find(b"movi") + 3000
    data[at : at + 400] = bytes(400)
    path = tmp_path / "damaged.avi"
    path.write_bytes(data)
    with pytest.raises(VideoError, match=r"damaged|missing"):
        check_sound(open_video(path))


def test_frames_that_a_file_promises_are_missed(make_clip: MakeClip) -> None:
    source = open_video(make_clip("mp4-h264"))
    assert health_of(source, 37).words == "3 of its frames are missing"
    assert Health(1, 2).words == "1 of its frames are missing and 2 of its frames are damaged"
