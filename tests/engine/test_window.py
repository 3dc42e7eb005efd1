"""Frames by number: in order, or only those that decode without others; and what reading is predicted to take."""

from itertools import count
from pathlib import Path

import pytest

from budgetseg.engine.window import Reader
from budgetseg.timing.prices import Prices
from budgetseg.video import open_video
from tests.video.clips import KINDS, N_FRAMES, number_of, write_clip, write_images

WHOLE = range(N_FRAMES)
PIXELS = 96 * 64


def reader_of(folder: Path, kind: str, stride: int = 1) -> Reader:
    """A reader of every `stride`-th numbered frame."""
    folder.mkdir(exist_ok=True)
    path = folder / f"film{KINDS[kind].suffix}"
    if KINDS[kind].codec is None:
        write_images(path, KINDS[kind].suffix)
    else:
        write_clip(path, KINDS[kind])
    return Reader(open_video(path, stride=stride), 2, stride)


def numbers_in(reader: Reader, numbers: list[int]) -> list[int]:
    """Numbers of the frames that come; each frame shows its own."""
    found = list(reader.read(numbers))
    assert [number_of(pixels) for _, pixels in found] == [reader.stride * number for number, _ in found]
    return [number for number, _ in found]


@pytest.mark.parametrize("kind", ["mp4-h264", "y4m", "png-folder"])
def test_frames_come_with_their_numbers(tmp_path: Path, kind: str) -> None:
    assert numbers_in(reader_of(tmp_path, kind), [0, 1, 5]) == [0, 1, 5]


@pytest.mark.parametrize("kind", ["y4m", "png-folder"])
def test_numbers_are_those_of_the_frames_that_are_worked_on(tmp_path: Path, kind: str) -> None:
    reader = reader_of(tmp_path, kind, stride=3)
    assert numbers_in(reader, [0, 2, 13]) == [0, 2, 13]


def test_of_a_film_frames_between_are_decoded_and_those_that_went_by_are_gone(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "y4m")
    assert not reader.can_skip
    assert numbers_in(reader, [0, 1, 5]) == [0, 1, 5]
    assert reader.n_decoded == 6
    assert numbers_in(reader, [4, 7]) == [7]
    assert reader.n_decoded == 8


def test_of_a_folder_of_images_only_what_is_wanted_is_decoded_in_any_order(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "png-folder")
    assert reader.can_skip
    assert numbers_in(reader, [20, 3]) == [20, 3]
    assert numbers_in(reader, [1]) == [1]
    assert reader.n_decoded == 3


@pytest.mark.parametrize("kind", ["y4m", "png-folder"])
def test_frames_beyond_the_end_do_not_come(tmp_path: Path, kind: str) -> None:
    assert numbers_in(reader_of(tmp_path, kind), [1, N_FRAMES - 1, N_FRAMES, N_FRAMES + 9]) == [1, N_FRAMES - 1]


def test_a_film_that_has_ended_is_known_to_have_so_many_frames(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "y4m")
    assert numbers_in(reader, [N_FRAMES - 1]) == [N_FRAMES - 1]
    assert reader.n_there is None
    assert numbers_in(reader, [N_FRAMES]) == []
    assert reader.n_there == N_FRAMES


def test_nobody_decodes_frames_on_the_way_to_another_when_it_is_late(tmp_path: Path) -> None:
    reader, asked = reader_of(tmp_path, "y4m"), count(1)
    assert not list(reader.read([11], lambda: next(asked) == 4))
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
    assert (reader.n_decoded, reader.key) == (3 + len(later), "decode .mp4 alone")


def test_frames_of_both_kinds_may_be_wanted(tmp_path: Path) -> None:
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


def test_work_is_pixels_of_the_file_with_those_of_frames_between_if_they_must_be_decoded(tmp_path: Path) -> None:
    assert reader_of(tmp_path / "film", "y4m", stride=4).work(5) == 20 * PIXELS
    assert reader_of(tmp_path / "images", "png-folder", stride=4).work(5) == 5 * PIXELS


def test_reading_is_guessed_until_a_file_of_its_kind_was_read(tmp_path: Path) -> None:
    film, images = reader_of(tmp_path / "film", "y4m"), reader_of(tmp_path / "images", "png-folder")
    prices = Prices()
    assert film.predict_s(prices, 10) == pytest.approx(Reader.FILM_S * 10 * PIXELS)
    assert images.predict_s(prices, 10) == pytest.approx(Reader.IMAGE_S * 10 * PIXELS)
    prices.observe_stage(film.key, film.work(10), 0.5)
    assert film.predict_s(prices, 20) == pytest.approx(1.0)
    assert images.predict_s(prices, 10) == pytest.approx(Reader.IMAGE_S * 10 * PIXELS)


def test_frames_that_decode_alone_have_a_price_of_their_own(tmp_path: Path) -> None:
    reader, prices = reader_of(tmp_path, "mp4-h264"), Prices()
    prices.observe_stage(reader.key, reader.work(10), 0.5)
    assert reader.leave_out(WHOLE)
    prices.observe_stage(reader.key, reader.work(10), 5.0)
    assert reader.predict_s(prices, 10) == pytest.approx(5.0)
