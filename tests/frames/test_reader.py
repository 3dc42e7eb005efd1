"""Frames by number: in order, or only those that decode without others."""

from pathlib import Path

import pytest
from budgetseg.frames.reader import Reader

from budgetseg.video import open_video
from tests.frames.worlds import Clock, source, street
from tests.video.clips import KINDS, N_FRAMES, number_of, write_clip

WHOLE = range(N_FRAMES)


def reader_of(folder: Path, kind: str) -> Reader:
    path = folder / f"film{KINDS[kind].suffix}"
    write_clip(path, KINDS[kind])
    return Reader(open_video(path), 2)


def numbers_in(reader: Reader, numbers: list[int]) -> list[int]:
    found = list(reader.read(numbers))
    assert [number_of(pixels) for _, pixels in found] == [number for number, _ in found]
    return [number for number, _ in found]


def test_frames_come_in_order_and_others_are_gone_past() -> None:
    reader = Reader(source(street(12), Clock()), 1)
    assert [number for number, _ in reader.read([0, 1, 5])] == [0, 1, 5]
    assert reader.n_decoded == 6
    assert [number for number, _ in reader.read([4, 7, 20])] == [7]


def test_nobody_goes_past_frames_when_it_is_late() -> None:
    clock = Clock()
    reader = Reader(source(street(12), clock, 0.1), 1)
    assert not list(reader.read([11], lambda: clock.now > 0.35))
    assert reader.n_decoded == 4


def test_where_some_decode_alone_the_others_are_left_out(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "mp4-h264")
    assert reader.may_leave_out
    assert numbers_in(reader, [0, 1, 2]) == [0, 1, 2]
    assert reader.leave_out(WHOLE)
    assert reader.alone is not None
    later = [number for number in reader.alone if number > 2]
    assert len(later) > 1
    assert numbers_in(reader, later) == later
    assert (reader.n_decoded, reader.line) == (3 + len(later), "decode .mp4 alone")


def test_a_trace_may_ask_for_both_kinds(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "mp4-h264")
    assert reader.leave_out(WHOLE)
    assert reader.alone is not None
    wanted = [0, 1, 2, reader.alone[-1]]
    assert sorted(numbers_in(reader, wanted)) == wanted


@pytest.mark.parametrize("kind", ["avi-h264", "y4m", "mkv-h264-refresh"])
def test_where_no_frame_is_known_to_decode_alone_all_are_read(tmp_path: Path, kind: str) -> None:
    reader = reader_of(tmp_path, kind)
    assert not reader.leave_out(range(1, N_FRAMES))
    assert not reader.can_skip
    assert not reader.may_leave_out
    assert numbers_in(reader, [0, 1, 2, 3]) == [0, 1, 2, 3]


def test_frames_that_decode_alone_must_lie_where_they_are_needed(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "mp4-h264")
    assert not reader.leave_out(range(1, 3))
    assert not reader.can_skip
