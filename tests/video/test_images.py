"""Folders of images as videos."""

import threading
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.types import UInt8
from budgetseg.video import open_video
from tests.video.clips import number_of, numbered, remade, write_images

MakeClip = Callable[[str], Path]


def images_of(folder: Path, **files: UInt8 | np.ndarray[tuple[int, ...], np.dtype[np.uint16]]) -> Path:
    folder.mkdir()
    for name, pixels in files.items():
        cv2.imwrite(str(folder / f"{name}.png"), pixels)
    return folder


def test_images_come_in_natural_order_under_their_names(make_clip: MakeClip) -> None:
    source = open_video(make_clip("png-folder"), start=9, end=12)
    assert source.stems == ("frame9", "frame10", "frame11")
    assert [number_of(frame.pixels) for frame in source] == [9, 10, 11]


def test_hidden_files_and_other_kinds_of_files_are_no_frames(tmp_path: Path) -> None:
    folder = images_of(tmp_path / "f", a=numbered(1))
    (folder / "._a.png").write_bytes(b"not an image")
    (folder / "notes.txt").write_text("not an image")
    assert open_video(folder).n_frames == 1


def test_images_of_any_depth_become_8_bit_rgb(tmp_path: Path) -> None:
    bgr = np.random.default_rng(0).integers(0, 256, (7, 9, 3)).astype(np.uint8)
    alpha = np.dstack([bgr, np.zeros((7, 9), np.uint8)])
    folder = images_of(tmp_path / "f", a=bgr, b=bgr.astype(np.uint16) * 257, c=alpha, d=bgr[..., 0])
    plain, deep, clear, grey = open_video(folder).read().frames
    assert np.array_equal(plain, bgr[..., ::-1])
    assert np.array_equal(deep, plain)
    assert np.array_equal(clear, plain)
    assert np.array_equal(grey, np.repeat(bgr[..., :1], 3, axis=2))


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


def test_images_have_no_duration_but_a_rate_to_write_them_with(make_clip: MakeClip) -> None:
    source = open_video(make_clip("png-folder"), end=10, stride=2)
    assert source.duration_s is None
    assert source.rate == 12.5


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_reads_the_same_frames_in_the_same_order(make_clip: MakeClip, threads: int) -> None:
    source = open_video(make_clip("png-folder"), start=1, stride=2, threads=threads)
    plain = [number_of(frame.pixels) for frame in open_video(make_clip("png-folder"), start=1, stride=2, threads=1)]
    assert [number_of(frame.pixels) for frame in source] == plain == [frame.index for frame in source]


def test_readers_that_leave_early_leave_no_thread_behind(make_clip: MakeClip) -> None:
    before = threading.active_count()
    frames = iter(open_video(make_clip("png-folder"), threads=4))
    next(frames)
    frames.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


@pytest.mark.parametrize("kind", ["png-folder", "mp4-h264"])
def test_picked_frames_are_those_of_their_numbers(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind), start=1)
    assert [frame.index for frame in source.pick([0, 3, 4, 9])] == [1, 4, 5, 10]
