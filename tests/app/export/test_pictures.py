"""Frames come back from overlays without tint and legend."""

from pathlib import Path

import numpy as np

from budgetseg.app.export.pictures import mean_outside, restored
from budgetseg.app.export.run import read_run
from budgetseg.video import open_video


def test_legends_of_overlays_are_not_in_the_frames() -> None:
    frames = [np.full((4, 6, 3), value, np.float32) for value in (100, 120)]
    covered = [(slice(2, 4), slice(0, 3)), (slice(3, 4), slice(0, 5))]
    whole = mean_outside(frames, covered, unknown=7)
    assert (whole[:2] == 110).all()
    assert (whole[2, :3] == 120).all()
    assert (whole[3, :3] == 7).all()
    assert (whole[3, 3:5] == 100).all()
    assert (whole[:, 5] == 110).all()


def test_frames_are_those_of_the_video(street_run: Path, street: Path) -> None:
    frames = list(open_video(street))
    for number, found in zip((2, 7), restored(read_run(street_run), (2, 7)), strict=True):
        top = len(found) // 2  # the legend is at the bottom
        assert np.abs(found.astype(int) - frames[number].pixels)[:top].mean() < 12
