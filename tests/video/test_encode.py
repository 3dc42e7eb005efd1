"""A written video reads back alike, and is never left half done."""

import resource
from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import OutputError, VideoError
from budgetseg.types import UInt8, Video
from budgetseg.video import VideoWriter, encode, open_video, write_overlay
from tests.video.clips import smooth_video


def write_all(writer: VideoWriter, frames: list[UInt8]) -> None:
    for frame in frames:
        writer.write(frame)


@pytest.mark.parametrize("encoder", ["libx264", "mpeg4"])
def test_a_written_video_reads_back_alike(tmp_path: Path, encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "_ENCODERS", {"no such encoder": {}, encoder: encode._ENCODERS[encoder]})
    video = smooth_video()
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 30000 / 1001) as writer:
        write_all(writer, list(video.frames))
    back = open_video(tmp_path / "v.mp4")
    assert back.n_frames == 12
    assert back.rate == pytest.approx(30000 / 1001)
    assert np.abs(back.read().frames.astype(int) - video.frames).mean() < 4


@pytest.mark.parametrize("rate", [25 / 60_000, 1e-9, 0.0, 240.0])
def test_a_video_of_any_rate_keeps_its_frames(tmp_path: Path, rate: float) -> None:
    with VideoWriter(tmp_path / "v.mp4", (64, 48), rate) as writer:
        write_all(writer, list(smooth_video(3).frames))
    back = open_video(tmp_path / "v.mp4")
    assert back.count() == 3
    assert back.rate == pytest.approx(max(rate, 1 / 1001))


def test_strong_colours_survive_the_video(tmp_path: Path) -> None:
    for colour in [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)]:
        with VideoWriter(tmp_path / "c.mp4", (32, 32), 25.0) as writer:
            writer.write(np.full((32, 32, 3), colour, np.uint8))
        back = open_video(tmp_path / "c.mp4").read().frames[0]
        assert np.abs(back.mean(axis=(0, 1)) - colour).max() < 6


def test_an_odd_size_grows_by_a_copy_of_its_edge(tmp_path: Path) -> None:
    frame = smooth_video(1, (65, 47)).frames[0]
    with VideoWriter(tmp_path / "odd.mp4", (65, 47), 25.0) as writer:
        writer.write(frame)
    back = open_video(tmp_path / "odd.mp4").read().frames[0]
    assert back.shape == (48, 66, 3)
    assert np.abs(back.astype(int) - np.pad(frame, ((0, 1), (0, 1), (0, 0)), "edge")).mean() < 4


def test_an_mp4_carries_its_index_in_front(tmp_path: Path) -> None:
    write_overlay(tmp_path / "v.mp4", smooth_video())
    data = (tmp_path / "v.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_a_failed_video_leaves_nothing_behind(tmp_path: Path) -> None:
    with (
        pytest.raises(VideoError, match=r"a frame of shape \(3, 4, 3\) does not fit a video of 64x48"),
        VideoWriter(tmp_path / "v.mp4", (64, 48), 25.0) as writer,
    ):
        write_all(writer, [np.zeros((48, 64, 3), np.uint8), np.zeros((3, 4, 3), np.uint8)])
    with pytest.raises(VideoError, match="no frame was written"), VideoWriter(tmp_path / "v.mp4", (64, 48), 25.0):
        pass
    with pytest.raises(VideoError, match=r"cannot write a video named '\*\.xyz'"):
        write_overlay(tmp_path / "v.xyz", smooth_video())
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_in_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (20, 96, 96, 3)).astype(np.uint8)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(OutputError, match="File too large; free some space or choose another place"):
            write_overlay(tmp_path / "v.mp4", Video(noise, np.arange(20.0)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_frames_are_shown_at_the_times_that_they_are_given(tmp_path: Path) -> None:
    times_s = np.cumsum([5.0, 0.04, 0.31, 0.02, 1.5, 0.1])
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 3.0) as writer:
        for frame, time_s in zip(smooth_video(6).frames, times_s, strict=True):
            writer.write(frame, time_s)
    back = [frame.time_s for frame in open_video(tmp_path / "v.mp4")]
    assert back == pytest.approx(times_s - times_s[0], abs=1e-3)


def test_times_that_do_not_rise_are_made_to(tmp_path: Path) -> None:
    with VideoWriter(tmp_path / "v.mp4", (64, 48), 25.0) as writer:
        for frame, time_s in zip(smooth_video(4).frames, (0.0, 0.5, 0.5, 0.2), strict=True):
            writer.write(frame, time_s)
    back = [frame.time_s for frame in open_video(tmp_path / "v.mp4")]
    assert len(back) == 4
    assert back == sorted(back)
