"""Chains of flow: where each cell of a frame lies in a key frame."""

import numpy as np

from budgetseg.propagate.chains import chains_to, compose
from budgetseg.types import Float32
from tests.propagate.arrays import chain, sampled

CELLS = (20, 30)


def steady(dx: float, dy: float, n: int) -> list[Float32]:
    """Flow of a picture that moves alike everywhere and always."""
    return [np.full((*CELLS, 2), (dx, dy), np.float32)] * n


def test_a_chain_adds_the_step_to_the_chain_where_the_step_leads() -> None:
    step, other = chain(CELLS, seed=0, far=2.0), chain(CELLS, seed=1, far=2.0)
    assert np.allclose(compose(step, 1.0, other), step + sampled(other, step), atol=1e-4)
    assert np.allclose(compose(step, -1.0, other), -step + sampled(other, -step), atol=1e-4)


def test_the_chain_of_a_key_frame_to_itself_is_still() -> None:
    chains = chains_to(3, 3, 3, steady(1.0, 2.0, 6), CELLS)
    assert list(chains) == [3]
    assert not chains[3].any()


def test_later_frames_go_along_the_steps_and_earlier_ones_against_them() -> None:
    chains = chains_to(3, 1, 5, steady(-1.5, 0.5, 6), CELLS)
    assert sorted(chains) == [1, 2, 3, 4, 5]
    for t, own in chains.items():
        assert np.allclose(own, (-1.5 * (t - 3), 0.5 * (t - 3)), atol=1e-5)


def test_only_the_steps_between_a_frame_and_the_key_frame_count() -> None:
    steps = [chain(CELLS, seed) for seed in range(6)]
    other = [steps[0], steps[1], steps[2], steps[3], chain(CELLS, 8), chain(CELLS, 9)]
    first, second = chains_to(2, 0, 4, steps, CELLS), chains_to(2, 0, 4, other, CELLS)
    for t in range(5):
        assert np.array_equal(first[t], second[t])
