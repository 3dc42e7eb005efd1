"""Training learns, and the seed decides what."""

import numpy as np
import pytest
import torch

from budgetseg.errors import UsageError
from budgetseg.networks.recipe import NetworkRecipe
from budgetseg.networks.training import _one_cycle, check_device, predict, train_networks
from budgetseg.timing.clock import ManualClock
from budgetseg.types import IGNORE, UInt8


@pytest.fixture(scope="module")
def two_halves() -> tuple[UInt8, UInt8]:
    """Red on the left, blue on the right, with noise."""
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 60, (6, 48, 64, 3)).astype(np.uint8)
    frames[:, :, :32, 0] += 180
    frames[:, :, 32:, 2] += 180
    labels = np.zeros((6, 48, 64), np.uint8)
    labels[:, :, 32:] = 1
    labels[:, :4] = IGNORE
    return frames, labels


def test_both_networks_learn_what_two_colours_mean(two_halves: tuple[UInt8, UInt8]) -> None:
    frames, labels = two_halves
    networks = train_networks(frames, labels, 3, NetworkRecipe(n_steps=25, batch=4), lambda _: None)
    for network in networks.values():
        right = predict(network, frames) == labels
        assert right[labels != IGNORE].mean() > 0.9


def test_the_same_seed_gives_the_same_networks(two_halves: tuple[UInt8, UInt8]) -> None:
    runs = [train_networks(*two_halves, 3, NetworkRecipe(n_steps=2, batch=2, seed=4), lambda _: None) for _ in range(2)]
    for name, network in runs[0].items():
        for first, second in zip(network.parameters(), runs[1][name].parameters(), strict=True):
            assert torch.equal(first, second)


def test_a_device_that_is_not_there_is_refused() -> None:
    check_device("cpu")
    with pytest.raises(UsageError, match="PyTorch has no device 'gpu' here; use 'cpu'"):
        check_device("gpu")


def test_a_time_limit_ends_the_training(two_halves: tuple[UInt8, UInt8]) -> None:
    clock, steps = ManualClock(), list[int]()

    def advance(n: int) -> None:
        steps.append(n)
        clock.advance(0.125)

    recipe = NetworkRecipe(n_steps=10**6, batch=2, time_limit_s=0.5)
    train_networks(*two_halves, 3, recipe, lambda _: None, advance, clock)
    assert len(steps) == 4


def test_the_learning_rate_rises_then_falls() -> None:
    rates = [_one_cycle(done) for done in np.linspace(0, 1, 101)]
    assert np.argmax(rates) == 10
    assert rates[0] < 0.1
    assert rates[-1] < 0.001
