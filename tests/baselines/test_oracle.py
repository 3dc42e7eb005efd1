"""Key frames chosen with the true labels: as good as trying everything says, and never worse than others."""

from itertools import combinations, pairwise

import cv2
import numpy as np
import pytest

from budgetseg.baselines.oracle import Scene, _miou, _Trials, greedy_keys
from budgetseg.propagate.cells import grey_cells, step_flow
from budgetseg.propagate.order import key_frames
from budgetseg.propagate.timeline import Timeline
from budgetseg.types import Float32, UInt8
from tests.baselines.worlds import CELL, N_LABELS, moving

SIZE = (64, 48)
CELLS = (SIZE[1] // CELL, SIZE[0] // CELL)


def in_cells(labels: UInt8) -> Float32:
    sharp = (labels[..., None] == np.arange(N_LABELS)).astype(np.float32)
    return np.stack([np.asarray(cv2.resize(own, CELLS[::-1], interpolation=cv2.INTER_AREA)) for own in sharp])


def scene(n_frames: int = 12, wrong: tuple[int, ...] = (), cut: int | None = None) -> Scene:
    """A moving world whose network knows the truth, but for some frames; after a cut it is upside down."""
    video, labels = moving(n_frames, (2, 1), SIZE)
    frames = video.frames.copy()
    if cut is not None:
        frames[cut:] = frames[cut:, ::-1]
        labels[cut:] = labels[cut:, ::-1]
    answers = in_cells(labels)
    truth = answers.argmax(axis=-1).astype(np.uint8)
    answers[list(wrong)] = np.roll(answers[list(wrong)], 1, axis=-1)
    grey = np.stack([grey_cells(frame, CELLS) for frame in frames])
    steps = [step_flow(later, earlier, CELLS) for earlier, later in pairwise(frames)]
    timeline = Timeline.of(range(n_frames), [] if cut is None else [cut])
    return Scene(np.ascontiguousarray(answers), grey, steps, timeline, truth)


def miou_of(world: Scene, keys: tuple[int, ...]) -> float:
    trials = _Trials(world)
    for key in keys:
        trials.take(key)
    return _miou(trials._confusions.sum(axis=0))


def test_the_first_key_frame_is_the_best_of_all() -> None:
    world = scene()
    assert greedy_keys(world, 1)[0] == max(range(12), key=lambda t: miou_of(world, (t,)))


def test_each_choice_is_the_best_after_those_before_it() -> None:
    world = scene(10, wrong=(4,))
    chosen = greedy_keys(world, 4)
    for n in range(4):
        others = [t for t in range(10) if t not in chosen[:n]]
        best = max(miou_of(world, (*chosen[:n], t)) for t in others)
        assert miou_of(world, tuple(chosen[: n + 1])) == pytest.approx(best)


def test_what_a_trial_says_is_what_the_choice_gives() -> None:
    world = scene(10, cut=6)
    trials = _Trials(world)
    for key in (2, 8, 5):
        said = {t: trials.miou(t) for t in range(10) if t not in trials._keys}
        trials.take(key)
        assert _miou(trials._confusions.sum(axis=0)) == pytest.approx(said[key])


def test_a_frame_about_which_the_network_is_wrong_is_left_out() -> None:
    assert not {3, 7} & set(greedy_keys(scene(wrong=(3, 7)), 3))


def test_each_shot_gets_a_key_frame_before_one_gets_two() -> None:
    first, second = greedy_keys(scene(12, cut=8), 2)
    assert (first < 8) != (second < 8)


def test_it_is_no_worse_than_even_spread_and_about_as_good_as_the_best_pair() -> None:
    world = scene(12, wrong=(3, 9), cut=5)
    chosen = miou_of(world, tuple(greedy_keys(world, 2)))
    assert chosen >= miou_of(world, tuple(key_frames(12, 2)))
    assert chosen > max(miou_of(world, pair) for pair in combinations(range(12), 2)) - 0.05


def test_it_can_choose_all_frames_and_no_more() -> None:
    assert sorted(greedy_keys(scene(5), 9)) == list(range(5))
