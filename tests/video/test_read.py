"""One contract for every kind of video."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.video import open_video
from tests.video.clips import KINDS, N_FRAMES, RATE, assert_same, number_of

MakeClip = Callable[[str], Path]
every_kind = pytest.mark.parametrize("kind", list(KINDS))


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


def test_real_clips_give_the_frames_they_promise(data_root: Path) -> None:
    bikes = open_video(data_root / "clips" / "bikes.mp4")
    phone = open_video(data_root / "clips" / "carphone_pristine.mp4")
    assert (bikes.n_frames, bikes.width, bikes.height, bikes.rate) == (250, 640, 272, 25.0)
    assert (phone.n_frames, phone.width, phone.height) == (120, 176, 144)
    assert phone.rate == pytest.approx(30000 / 1001)
    assert sum(1 for _ in bikes) == 250
    assert len(phone.read().frames) == 120


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"stride": 0}, "stride must be 1 or more. Got 0"),
        ({"start": -1}, "start must be 0 or more. Got -1"),
        ({"start": 5, "end": 5}, "the end must come after the start. Got frames 5 to 5"),
        ({"size": (0, 10)}, "size must be a width and a height"),
        ({"size": (99_999_999, 10)}, "size must be 16384 or less a side"),
        ({"start": N_FRAMES}, f"has {N_FRAMES} frames, none from number {N_FRAMES} on"),
    ],
)
def test_a_span_without_frames_is_refused(make_clip: MakeClip, options: dict[str, int], complaint: str) -> None:
    with pytest.raises(VideoError, match=complaint):
        open_video(make_clip("mp4-h264"), **options)  # type: ignore[arg-type]


@every_kind
@pytest.mark.parametrize("stride", [1, 2])
def test_pairs_are_neighbours_and_no_two_are_the_same(make_clip: MakeClip, kind: str, stride: int) -> None:
    pairs = list(open_video(make_clip(kind), stride=stride).pairs(3))
    numbers = [(number_of(a), number_of(b)) for a, b in pairs]
    assert 1 <= len(numbers) <= 3
    assert all(b - a == stride for a, b in numbers)
    assert sorted(set(numbers)) == numbers


def test_a_single_frame_has_no_neighbour(make_clip: MakeClip) -> None:
    assert list(open_video(make_clip("mp4-h264"), end=1).pairs(3)) == []
