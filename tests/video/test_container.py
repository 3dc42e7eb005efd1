"""Frames of video files are numbered exactly, wherever reading starts."""

import struct
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from pathlib import Path

import av
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.video import open_video
from tests.video.clips import KINDS, N_FRAMES, RATE, Kind, assert_same, number_of, numbered, write_clip

MakeClip = Callable[[str], Path]


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_a_variable_rate_keeps_its_times(tmp_path: Path, suffix: str) -> None:
    times = np.cumsum(np.random.default_rng(0).integers(10, 90, N_FRAMES))
    path = tmp_path / f"vfr{suffix}"
    write_clip(path, Kind(suffix, "libx264"), times.tolist())
    frames = list(open_video(path))
    assert [frame.time_s for frame in frames] == pytest.approx((times - times[0]) / 1000, abs=1e-3)
    assert_same(list(open_video(path, start=30)), frames[30:])


def test_an_edit_list_hides_frames(make_clip: MakeClip, tmp_path: Path) -> None:
    data = bytearray(make_clip("mp4-h264").read_bytes())
    entry = data.index(b"elst") + 12
    duration, media_time = struct.unpack_from(">Ii", data, entry)
    one_frame = 12800 // RATE
    struct.pack_into(">Ii", data, entry, duration - 1000 * 10 // RATE, media_time + 4 * one_frame)
    path = tmp_path / "edited.mp4"
    path.write_bytes(data)
    source = open_video(path)
    assert [number_of(frame.pixels) for frame in source] == list(range(4, 34))
    assert source.n_frames == source.count() == 30
    assert [number_of(frame.pixels) for frame in open_video(path, start=26)] == list(range(30, 34))


@pytest.mark.parametrize("start", [1, 24, 99, 200, 249])
def test_seeking_in_a_real_clip_gives_the_very_same_pixels(data_root: Path, start: int) -> None:
    path = data_root / "clips" / "bikes.mp4"
    by_decoding = list(islice(open_video(path, threads=1), start, start + 3))
    assert_same(list(open_video(path, start=start, end=start + 3)), by_decoding)


@pytest.mark.parametrize("kind", ["mkv-h264", "webm-vp8", "ts-h264"])
@pytest.mark.parametrize("start", [N_FRAMES, 99])
def test_a_start_past_an_unstated_end_is_refused_by_counting_and_by_reading(
    make_clip: MakeClip, kind: str, start: int
) -> None:
    path = make_clip(kind)
    source = open_video(path, start=start)
    assert source.n_frames is None
    for ask in (source.count, source.read):
        with pytest.raises(VideoError) as refusal:
            ask()
        complaint = f"'{path}' has {N_FRAMES} frames, none from number {start} on; choose an earlier start"
        assert str(refusal.value) == complaint


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.codec is not None])
def test_frames_that_decode_alone_are_the_very_same(make_clip: MakeClip, kind: str, stride: int) -> None:
    source = open_video(make_clip(kind), start=2, stride=stride, threads=2)
    times, frames = source.alone(), list(source)
    found = dict(source.pick_alone(times)) if times else {}
    assert_same(list(found.values()), [frames[number] for number in found])
    assert list(found) == sorted(found)
    if kind.startswith(("avi", "y4m", "ts")):
        assert not times
    elif kind != "mkv-h264-refresh":
        assert len(found) == len(times) > 1


@pytest.mark.parametrize("kind", ["mp4-hevc", "mp4-h264-open-gop", "mkv-h264"])
def test_a_search_that_is_cut_short_numbers_no_frame_wrongly(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind))
    known = source.alone().items()
    for n_packets in range(N_FRAMES + 2):
        asked = iter(range(N_FRAMES + 2))
        assert source.alone(lambda n=n_packets, asked=asked: next(asked) >= n).items() <= known  # type: ignore[misc]


def test_in_a_real_clip_some_frames_decode_alone(data_root: Path) -> None:
    source = open_video(data_root / "clips" / "bikes.mp4")
    times = source.alone()
    assert list(times) == [0, 30, 76, 137, 187, 242]
    picked = dict(source.pick_alone({number: times[number] for number in (30, 187)}))
    frames = dict(enumerate(islice(open_video(data_root / "clips" / "bikes.mp4"), 188)))
    assert_same(list(picked.values()), [frames[30], frames[187]])
    assert source.alone(lambda: True) == {}


def write_sparse_avi(path: Path, counts: list[int], codec: str, rate: int = 25) -> None:
    """An AVI of so many frames a second, of which only some are stored, as webcams write it."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height = 96, 64
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.max_b_frames = 0
        for k, count in enumerate(counts):
            frame = av.VideoFrame.from_ndarray(numbered(k))
            frame.pts, frame.time_base = count, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


@pytest.mark.parametrize("codec", ["mpeg4", "mjpeg"])
def test_an_avi_that_leaves_frames_out_keeps_their_times(tmp_path: Path, codec: str) -> None:
    counts = [12 * k + k % 2 for k in range(20)]
    write_sparse_avi(tmp_path / "webcam.avi", counts, codec)
    source = open_video(tmp_path / "webcam.avi")
    frames = list(source)
    assert [number_of(frame.pixels) for frame in frames] == list(range(20))
    assert [frame.time_s for frame in frames] == pytest.approx(np.array(counts) / 25)
    assert source.n_frames == source.count() == 20
    assert source.rate == pytest.approx(19 / (counts[-1] / 25))
    assert_same(list(open_video(tmp_path / "webcam.avi", start=7, stride=3)), frames[7::3])


def test_an_avi_of_two_frames_a_second_has_that_rate(tmp_path: Path) -> None:
    write_sparse_avi(tmp_path / "slow.avi", list(range(6)), "mpeg4", rate=2)
    source = open_video(tmp_path / "slow.avi")
    assert source.rate == 2
    assert [frame.time_s for frame in source] == [0, 0.5, 1, 1.5, 2, 2.5]
