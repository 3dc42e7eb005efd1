"""Pictures for an encoder are the frames of the video."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.types import IGNORE
from budgetseg.video import blend, open_video
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from budgetseg.video.encode import even
from budgetseg.video.legend import Legend
from budgetseg.video.pictures import pictures, pictures_ahead, rgb_of
from budgetseg.video.read import VideoSource
from budgetseg.video.tint import Tint
from tests.video.clips import CLASSES, KINDS, smooth_video, some_labels

MakeClip = Callable[[str], Path]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_pictures_are_the_frames_that_the_file_shows(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind), start=3, end=20, stride=2)
    frames = list(source)
    found = list(pictures(source))
    assert [picture.time_s for picture in found] == [frame.time_s for frame in frames]
    for picture, frame in zip(found, frames, strict=True):
        assert (picture.frame.width, picture.frame.height) == even(source.size)
        assert np.abs(rgb_of(picture, source.size).astype(int) - frame.pixels).mean() < 4


def test_pictures_of_a_resized_video_and_of_frames_in_memory_have_its_size(make_clip: MakeClip) -> None:
    video = smooth_video()
    clip = ArrayClip(video.frames, 10.0)
    for source in (open_video(make_clip("mp4-h264"), size=(48, 32)), VideoSource(clip, Span(2), clip.size)):
        (first, *_) = pictures(source)
        assert rgb_of(first, source.size).shape == (source.height, source.width, 3)
        assert np.abs(rgb_of(first, source.size).astype(int) - next(iter(source)).pixels).mean() < 4


def test_pictures_that_are_decoded_ahead_are_the_same_in_order(make_clip: MakeClip) -> None:
    source = open_video(make_clip("mp4-h264"))
    plain, ahead = list(pictures(source)), list(pictures_ahead(source))
    assert [picture.time_s for picture in ahead] == [picture.time_s for picture in plain]
    for own, other in zip(ahead, plain, strict=True):
        assert np.array_equal(rgb_of(own, source.size), rgb_of(other, source.size))


def test_damage_is_told_where_pictures_are_decoded_ahead(make_clip: MakeClip, tmp_path: Path) -> None:
    source = open_video(make_clip("ts-h264"))
    (tmp_path / "none.ts").write_bytes(make_clip("ts-h264").read_bytes())
    with pytest.raises(VideoError, match="none from number 99 on"):
        list(pictures_ahead(open_video(tmp_path / "none.ts", start=99)))
    assert len(list(pictures_ahead(source))) == 40


@pytest.mark.parametrize("kind", ["mp4-h264", "mp4-h264-odd", "mp4-h264-10bit"])
def test_a_tint_looks_like_blending_in_rgb(make_clip: MakeClip, kind: str) -> None:
    source = open_video(make_clip(kind), end=4)
    labels = np.repeat(np.arange(source.height, dtype=np.uint8)[:, None] * 3 // source.height, source.width, axis=1)
    labels[: source.height // 8] = IGNORE
    for picture, frame in zip(pictures(source), source, strict=True):
        tint = Tint(CLASSES.colours, picture.matrix, even(source.size))
        tint.choose(labels)
        tinted = rgb_of(picture._replace(frame=tint.apply(picture.frame)), source.size)
        assert np.abs(tinted.astype(int) - blend(frame.pixels, labels, CLASSES.colours)).mean() < 4


def test_a_tint_spares_its_source_and_shows_the_legend(make_clip: MakeClip) -> None:
    source = open_video(make_clip("mp4-h264"), end=1)
    (picture,) = pictures(source)
    before = rgb_of(picture, source.size)
    legend = Legend(np.full((8, 20, 3), (250, 120, 30), np.uint8), 40, 10)
    tint = Tint(CLASSES.colours, picture.matrix, source.size, legend)
    tint.choose(some_labels((source.height, source.width)))
    tinted = rgb_of(picture._replace(frame=tint.apply(picture.frame)), source.size)
    assert np.abs(tinted[40:48, 10:30].astype(int) - (250, 120, 30)).max() < 8
    assert np.array_equal(rgb_of(picture, source.size), before)


def test_a_tint_may_be_smaller_than_the_picture(make_clip: MakeClip) -> None:
    source = open_video(make_clip("mp4-h264"), end=1)
    (picture,) = pictures(source)
    tint = Tint(CLASSES.colours, picture.matrix, (48, 32))
    tint.choose(np.ones((source.height, source.width), np.uint8))
    small = tint.apply(picture.frame)
    assert (small.width, small.height) == (48, 32)
    expected = (before := rgb_of(picture, source.size).mean(axis=(0, 1))) / 2 + CLASSES.colours[1] / 2
    assert np.abs(rgb_of(picture._replace(frame=small), (48, 32)).mean(axis=(0, 1)) - expected).max() < 6
    assert before.shape == (3,)
