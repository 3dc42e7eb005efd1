"""Training learns, and the seed decides what."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from budgetseg.errors import UsageError
from budgetseg.networks.architecture import build
from budgetseg.networks.checkpoint import Progress, load_checkpoint, save_checkpoint
from budgetseg.networks.recipe import LADDER, Cameras, NetworkRecipe, Rung
from budgetseg.networks.training import (
    Checkpoints,
    Teacher,
    Teaching,
    _Losses,
    _one_cycle,
    _optimiser,
    _Pool,
    check_device,
    predict,
    train_networks,
)
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


ONE = replace(LADDER, n_steps=2, batch=2, rungs=(Rung("net", "slim", 2 / 3),))
"""A recipe of the ladder that is over in no time; its network starts from random weights in these tests."""


def fresh() -> dict[str, nn.Module]:
    torch.manual_seed(0)
    return {"net": build("slim", 3, published=False)}


def silent(_: str) -> None:
    pass


def test_a_network_with_an_input_of_another_size_learns(two_halves: tuple[UInt8, UInt8]) -> None:
    frames, labels = two_halves
    recipe = replace(ONE, n_steps=25, batch=4, average=0.9, cameras=None)
    network = train_networks(frames, labels, 3, recipe, silent, networks=fresh())["net"]
    right = predict(network, frames, zoom=2 / 3) == labels
    assert right[labels != IGNORE].mean() > 0.85


def test_published_weights_have_a_lower_rate() -> None:
    groups = _optimiser(fresh(), LADDER).param_groups
    assert [group["highest"] for group in groups] == [LADDER.encoder_rate, LADDER.rate]
    assert sum(len(group["params"]) for group in groups) == len(list(fresh()["net"].parameters()))


def test_black_bars_have_no_labels(two_halves: tuple[UInt8, UInt8]) -> None:
    recipe = replace(ONE, batch=16, cameras=Cameras(often=1.0))
    batch = _Pool(*two_halves, Teaching(), recipe, torch.Generator().manual_seed(0)).batch()
    assert batch.bars.any()
    assert (batch.truths[batch.bars] == IGNORE).all()
    assert (batch.truths[~batch.bars] != IGNORE).any()


def test_what_is_seen_in_black_bars_is_made_uniform(two_halves: tuple[UInt8, UInt8]) -> None:
    recipe = replace(ONE, cameras=Cameras(often=1.0))
    batch = _Pool(*two_halves, Teaching(), recipe, torch.Generator().manual_seed(0)).batch()
    losses = _Losses({}, (), torch.ones(3), recipe)
    even = torch.zeros(2, 3, 12, 16)
    sure = even.clone()
    sure[:, 2] = 5.0
    nothing = batch._replace(truths=torch.full_like(batch.truths, 0), bars=torch.zeros_like(batch.bars))
    more = [losses._own(own, batch) - losses._own(own, batch._replace(bars=nothing.bars)) for own in (even, sure)]
    assert more[0] < more[1]


class ByColour(nn.Module):
    """A teacher that calls red 0 and blue 1."""

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        red = frames[:, :1] - frames[:, 2:]
        return torch.cat([red, -red, torch.full_like(red, -5.0)], 1)


def test_teachers_are_followed_where_there_are_no_labels(two_halves: tuple[UInt8, UInt8]) -> None:
    frames, labels = two_halves
    recipe = replace(ONE, n_steps=40, batch=4, rate=4e-3, average=0.9, cameras=None, distil=3.0, unlabelled=0.5)
    recipe = replace(recipe, teacher_mirrors=True, teacher_zooms=(1.0, 0.75), rungs=(Rung("net", "small", 2 / 3),))
    few = np.full_like(labels, IGNORE)
    few[:, 24, 48:] = 1  # nothing is labelled 0
    teaching = Teaching((Teacher(ByColour(), 1.0),), frames)
    taught = train_networks(frames, few, 3, recipe, silent, teaching=teaching)
    right = predict(taught["net"], frames, zoom=2 / 3) == labels
    assert right[labels != IGNORE].mean() > 0.85


def test_a_training_that_was_cut_off_continues(two_halves: tuple[UInt8, UInt8], tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, fresh(), Progress(6, 0.75, 60.0, {}))
    steps: list[int] = []
    recipe = replace(ONE, n_steps=8)
    networks = train_networks(
        *two_halves, 3, recipe, silent, steps.append, checkpoints=Checkpoints(path), networks=fresh()
    )
    assert len(steps) == 2
    found = fresh()
    progress = load_checkpoint(path, found)
    assert (progress.step, progress.done) == (8, 1.0)
    assert progress.facts["rungs"] == [{"name": "net", "shape": "slim", "zoom": 2 / 3}]
    first, second = (predict(own["net"], two_halves[0][:1], zoom=2 / 3) for own in (networks, found))
    assert (first == second).mean() > 0.99  # weights were halved
    again = train_networks(
        *two_halves, 3, recipe, silent, steps.append, checkpoints=Checkpoints(path), networks=fresh()
    )
    assert len(steps) == 2
    assert set(again) == {"net"}


def test_checkpoints_are_written_on_the_way(two_halves: tuple[UInt8, UInt8], tmp_path: Path) -> None:
    clock, path, seen = ManualClock(), tmp_path / "net.safetensors", list[bool]()

    def advance(_: int) -> None:
        seen.append(path.exists())
        clock.advance(2.0)

    recipe = replace(ONE, n_steps=10**6, time_limit_s=6.0)
    train_networks(*two_halves, 3, recipe, silent, advance, clock, checkpoints=Checkpoints(path, 3.0), networks=fresh())
    assert seen == [False, False, True]
