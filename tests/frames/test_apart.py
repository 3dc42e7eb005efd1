"""How far apart frames lie."""

from pathlib import Path

import numpy as np
import pytest
from budgetseg.frames.apart import MOST, apart_by, changed, foretell_apart
from budgetseg.frames.crew import Crew
from budgetseg.frames.evidence import Evidence

from budgetseg.datasets import open_dataset
from budgetseg.datasets.synthetic import render
from budgetseg.types import Float32, UInt8


def grey(seed: int = 0) -> Float32:
    """Noise that is smooth enough to lie between cells."""
    noise = np.random.default_rng(seed).normal(100, 50, (24, 32)).astype(np.float32)
    for axis in (0, 1):
        noise = np.mean([np.roll(noise, k, axis) for k in range(-2, 3)], axis=0)
    return noise


def look(frames: UInt8, numbers: range | None = None) -> float:
    """What is found where these of the frames were read."""
    numbers = range(len(frames)) if numbers is None else numbers
    evidence = Evidence(len(frames), (-(-frames.shape[1] // 4), -(-frames.shape[2] // 4)))
    evidence.frames = {t: frames[t] for t in numbers}
    with Crew(2) as crew:
        evidence.look_apart(crew)
    return evidence.apart


def test_before_there_are_frames_their_rate_tells() -> None:
    assert foretell_apart(25) == foretell_apart(15) == 1
    assert 5 < foretell_apart(1) < foretell_apart(0.5) < foretell_apart(0.001) == MOST


def test_what_has_moved_along_the_flow_has_not_changed() -> None:
    one, still, right = grey(), np.zeros((24, 32, 2), np.float32), np.zeros((24, 32, 2), np.float32)
    right[..., 0] = 2.5
    moved = 0.5 * (np.roll(one, -2, axis=1) + np.roll(one, -3, axis=1))
    assert changed(one, one, still) == 0
    assert changed(moved, one, right) < 0.25 < changed(moved, one, still)  # what came in at the border is new
    assert changed(grey(1), one, still) > 0.9


def test_the_more_has_changed_the_farther_they_lie_and_less_so_over_a_gap() -> None:
    found = [apart_by([share], 1.0) for share in (0.0, 0.1, 0.15, 0.2, 0.3, 2.0)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (1, MOST)
    assert apart_by([0.2, 0.2], 2.0) == pytest.approx(found[3] / 2)
    assert apart_by([0.05, 0.9, 0.05], 1.0) == apart_by([0.05, 0.9], 1.0) == 1  # a cut


def test_nothing_to_look_at_tells_nothing() -> None:
    assert look(np.zeros((3, 48, 64, 3), np.uint8)) == 1  # without contrast


def test_frames_of_a_street_lie_apart_where_most_were_left_out() -> None:
    frames = render(1, 96, (160, 120))[0].frames
    dense, sparse = look(frames), look(frames[::32])
    assert dense == 1
    assert sparse > 3
    assert look(frames, range(0, 96, 32)) == pytest.approx(
        max(sparse / 32, 1)
    )  # the same, told that they were left out


def test_a_second_of_driving_lies_between_frames_and_of_film_nothing(data_root: Path) -> None:
    driving = [look(video.video().frames) for video in open_dataset("camvid", data_root / "camvid").videos("train")]
    film = [look(video.video().frames) for video in open_dataset("suny", data_root / "suny").videos("train")]
    assert max(film) < 1.5
    assert min(driving) > 4
    assert np.mean(driving) > 10
