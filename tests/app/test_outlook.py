"""What is expected of a video before it is labelled: more seconds never buy less, and still videos need few."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.app.model import LoadedModel
from budgetseg.app.outlook import Outlook, outlook_of
from budgetseg.app.output import Wanted
from budgetseg.spaces.frames.space import Frames
from budgetseg.types import UInt8
from budgetseg.video import VideoSource, open_video
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from tests.app.streets import N_FRAMES, SIZE

N = 40


def source_of(frames: UInt8) -> VideoSource:
    clip = ArrayClip(frames, 25.0)
    return VideoSource(clip, Span(), clip.size)


def noise(n: int) -> UInt8:
    """Frames that have nothing in common."""
    return np.random.default_rng(0).integers(0, 255, (n, SIZE[1], SIZE[0], 3), np.uint8)


@pytest.fixture
def frames(seeing: LoadedModel) -> Frames:
    found = seeing.frames
    assert found is not None
    return found


def lost_at(outlook: Outlook, share: float) -> float:
    """Points below the most, at a share of the seconds that everything costs."""
    return outlook.points[-1] - float(np.interp(share * outlook.seconds[-1], outlook.seconds, outlook.points))


def test_more_seconds_never_buy_less_and_the_file_is_read(frames: Frames, street: Path) -> None:
    outlook = outlook_of(frames, open_video(street), Wanted())
    assert outlook.work == N_FRAMES * SIZE[0] * SIZE[1]
    assert len(outlook.seconds) == len(outlook.points)
    assert (np.diff(outlook.seconds) > 0).all()
    assert (np.diff(outlook.points) >= 0).all()
    assert outlook.points[0] < outlook.points[-1]


def test_a_still_video_loses_less_at_few_seconds_than_one_that_changes(frames: Frames) -> None:
    still = outlook_of(frames, source_of(np.repeat(noise(1), N, axis=0)), Wanted())
    wild = outlook_of(frames, source_of(noise(N)), Wanted())
    for share in (0.1, 0.2, 0.4):
        assert 3 * lost_at(still, share) < lost_at(wild, share)


def test_twice_as_long_a_video_takes_twice_the_seconds(frames: Frames) -> None:
    short, long = (outlook_of(frames, source_of(np.repeat(noise(1), n, axis=0)), Wanted()) for n in (N, 2 * N))
    assert long.seconds[-1] == pytest.approx(2 * short.seconds[-1], rel=0.05)


def test_regions_tell_the_size_alone(loaded: LoadedModel, street: Path) -> None:
    outlook = outlook_of(loaded.regions, open_video(street), Wanted())
    assert replace(outlook, files_s=0.0) == Outlook(N_FRAMES * SIZE[0] * SIZE[1], 0.0)


def test_the_time_of_files_is_that_of_files_that_are_wanted(frames: Frames, street: Path) -> None:
    prices = frames.prices
    known = type(prices)({"files with overlay": 2e-8, "files without overlay": 1e-8}, frozen=True)
    space = replace(frames, prices=known)
    with_s, without_s = (outlook_of(space, open_video(street), Wanted(overlay=own)).files_s for own in (True, False))
    assert with_s == pytest.approx(2 * without_s)
