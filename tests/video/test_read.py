"""One contract for every kind of video, then what is special about some."""

import struct
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.types import UInt8
from budgetseg.video import Frame, open_video
from tests.video.clips import KINDS, N_FRAMES, RATE, Kind, number_of, numbered, remux, write_clip

MakeClip = Callable[[str], Path]
every_kind = pytest.mark.parametrize("kind", list(KINDS))


def assert_same(these: list[Frame], those: list[Frame]) -> None:
    assert [frame.index for frame in these] == [frame.index for frame in those]
    assert [frame.time_s for frame in these] == [frame.time_s for frame in those]
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(these, those, strict=True))


@every_kind
def test_every_frame_comes_out_once_upright_and_in_order(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind))
    frames = list(source)
    assert [frame.index for frame in frames] == list(range(N_FRAMES))
    assert [number_of(frame.pixels) for frame in frames] == list(range(N_FRAMES))
    assert {frame.pixels.shape for frame in frames} == {(source.height, source.width, 3)}
    assert all(frame.pixels.dtype == np.uint8 and frame.pixels.flags.c_contiguous for frame in frames)
    assert (source.width, source.height) == KINDS[kind].size


@every_kind
def test_length_and_times_are_what_the_file_was_written_with(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind))
    assert source.n_frames in {None, N_FRAMES}
    assert source.count() == N_FRAMES
    assert source.rate == RATE
    assert source.duration_s == (None if KINDS[kind].codec is None else pytest.approx(N_FRAMES / RATE))
    assert [frame.time_s for frame in source] == pytest.approx([k / RATE for k in range(N_FRAMES)], abs=1e-3)


@every_kind
def test_a_span_is_a_slice_of_the_whole(make_clip: MakeClip, kind: str) -> None:
    path = make_clip(kind)
    whole = list(open_video(path))
    for start, end, stride in [(0, None, 7), (3, 11, 1), (25, None, 1), (26, 39, 3), (39, 99, 2)]:
        part = open_video(path, start=start, end=end, stride=stride)
        assert_same(list(part), whole[start:end:stride])
        assert part.count() == len(whole[start:end:stride])


@every_kind
def test_every_start_is_exact_to_the_frame(make_clip: MakeClip, kind: str) -> None:
    path = make_clip(kind)
    starts = [1, 7, 8, 9, 23, 24, 25, 31, 32, 35, 36, 37, 39]
    firsts = [next(iter(open_video(path, start=start))) for start in starts]
    assert [frame.index for frame in firsts] == starts
    assert [number_of(frame.pixels) for frame in firsts] == starts


@every_kind
def test_reading_again_gives_the_same_with_any_number_of_threads(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind), threads=3)
    assert_same(list(source), list(source))
    assert_same(list(source), list(open_video(make_clip(kind), threads=1)))


@every_kind
def test_all_frames_in_memory_are_the_frames_one_by_one(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind), start=2, stride=3)
    video = source.read()
    assert np.array_equal(video.frames, np.stack([frame.pixels for frame in source]))
    assert video.times_s.tolist() == [frame.time_s for frame in source]
    assert video.name == source.name == kind


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_a_variable_rate_keeps_its_times(tmp_path: Path, suffix: str) -> None:
    times = np.cumsum(np.random.default_rng(0).integers(10, 90, N_FRAMES))
    path = tmp_path / f"vfr{suffix}"
    write_clip(path, Kind(suffix, "libx264"), times.tolist())
    frames = list(open_video(path))
    assert [frame.time_s for frame in frames] == pytest.approx((times - times[0]) / 1000, abs=1e-3)
    assert_same(list(open_video(path, start=30)), frames[30:])


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


def test_a_vp8_reference_picture_is_no_frame(make_clip: MakeClip, tmp_path: Path) -> None:
    path = tmp_path / "hidden.webm"
    show_frame = 0x10  # a bit of the first byte
    remux(make_clip("webm-vp8"), path, lambda k, data: data if k != 5 else bytes([data[0] & ~show_frame]) + data[1:])
    source = open_video(path)
    assert source.count() == len(list(source)) == N_FRAMES - 1


def test_shrinking_averages(make_clip: MakeClip) -> None:
    path = make_clip("mp4-h264")
    small, full = open_video(path, size=(32, 16)), list(open_video(path))
    for a, b in zip(small, full, strict=True):
        assert np.array_equal(a.pixels, cv2.resize(b.pixels, (32, 16), interpolation=cv2.INTER_AREA))
    assert (small.width, small.height) == (32, 16)
    assert open_video(path, size=(200, 100)).read().frames.shape == (N_FRAMES, 100, 200, 3)


def test_a_stride_lowers_the_rate_and_a_span_the_duration(make_clip: MakeClip) -> None:
    source = open_video(make_clip("mp4-h264"), start=10, end=30, stride=4)
    assert source.rate == RATE / 4
    assert source.duration_s == pytest.approx(20 / RATE)
    assert source.n_frames == 5


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


def test_real_clips_give_the_frames_they_promise(data_root: Path) -> None:
    bikes = open_video(data_root / "clips" / "bikes.mp4")
    phone = open_video(data_root / "clips" / "carphone_pristine.mp4")
    assert (bikes.n_frames, bikes.width, bikes.height, bikes.rate) == (250, 640, 272, 25.0)
    assert (phone.n_frames, phone.width, phone.height) == (120, 176, 144)
    assert phone.rate == pytest.approx(30000 / 1001)
    assert sum(1 for _ in bikes) == 250
    assert len(phone.read().frames) == 120


@pytest.mark.parametrize("start", [1, 24, 99, 200, 249])
def test_seeking_in_a_real_clip_gives_the_very_same_pixels(data_root: Path, start: int) -> None:
    path = data_root / "clips" / "bikes.mp4"
    by_decoding = list(islice(open_video(path, threads=1), start, start + 3))
    assert_same(list(open_video(path, start=start, end=start + 3)), by_decoding)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"stride": 0}, "stride must be 1 or more. Got 0"),
        ({"start": -1}, "start must be 0 or more. Got -1"),
        ({"start": 5, "end": 5}, "end must be after start. Got start=5, end=5"),
        ({"size": (0, 10)}, "size must be a width and a height"),
        ({"size": (99_999_999, 10)}, "size must be 16384 or less a side"),
        ({"start": N_FRAMES}, f"has {N_FRAMES} frames, none from start={N_FRAMES} on"),
    ],
)
def test_a_span_without_frames_is_refused(make_clip: MakeClip, options: dict[str, int], complaint: str) -> None:
    with pytest.raises(VideoError, match=complaint):
        open_video(make_clip("mp4-h264"), **options)  # type: ignore[arg-type]


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
        complaint = f"'{path}' has {N_FRAMES} frames, none from start={start} on; choose a lower start"
        assert str(refusal.value) == complaint
