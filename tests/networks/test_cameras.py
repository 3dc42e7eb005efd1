"""Frames as other cameras would show them."""

from dataclasses import replace

import pytest
import torch

from budgetseg.networks import cameras as changes
from budgetseg.networks.cameras import other_cameras
from budgetseg.networks.recipe import Cameras

ALWAYS = Cameras(often=1.0)


def frames() -> torch.Tensor:
    """A smooth picture with an edge, eight times."""
    rows = torch.linspace(0.1, 0.9, 40).view(1, 1, -1, 1)
    own = rows.expand(8, 3, 40, 60).clone()
    own[:, :, :, 30:] = 1 - own[:, :, :, 30:]
    return own


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_frames_stay_frames_and_the_seed_decides() -> None:
    first, bars = other_cameras(frames(), ALWAYS, rng())
    again, _ = other_cameras(frames(), ALWAYS, rng())
    assert first.shape == (8, 3, 40, 60)
    assert bars.shape == (8, 40, 60)
    assert 0 <= first.min() <= first.max() <= 1
    assert torch.equal(first, again)
    assert not torch.equal(first, other_cameras(frames(), ALWAYS, rng(1))[0])


def test_a_change_that_never_happens_leaves_frames_alone() -> None:
    same, bars = other_cameras(frames(), Cameras(often=0.0), rng())
    assert torch.equal(same, frames())
    assert not bars.any()


def test_black_bars_are_black_and_known_and_stand_at_opposite_sides() -> None:
    seen, bars = changes._bars(frames(), ALWAYS, rng())
    assert bars.any()
    assert seen.transpose(0, 1)[:, bars].max() <= 0.06
    assert torch.equal(seen.transpose(0, 1)[:, ~bars], frames().transpose(0, 1)[:, ~bars])
    assert torch.equal(bars, bars.flip(1).flip(2))
    assert bars.float().mean((1, 2)).max() <= 2 * ALWAYS.bars + 0.05


def test_blurring_keeps_the_mean_and_weakens_edges() -> None:
    seen = changes._blur(frames(), ALWAYS, rng())
    assert (seen.mean((1, 2, 3)) - frames().mean((1, 2, 3))).abs().max() < 0.01
    steps, before = seen.diff(dim=3).abs().amax((1, 2, 3)), frames().diff(dim=3).abs().amax((1, 2, 3))
    assert (steps < before + 1e-6).all()
    assert steps.median() < 0.7 * before.median()


def test_blocks_keep_the_picture_and_lose_detail() -> None:
    noisy = (frames() + 0.02 * torch.randn(frames().shape, generator=rng())).clamp(0, 1)
    fine = changes._blocks(noisy, replace(ALWAYS, blocks=0.0), rng())
    coarse = changes._blocks(noisy, ALWAYS, rng())
    assert (fine - noisy).abs().max() < 5e-3
    assert (coarse - noisy).abs().mean() > 2 * (fine - noisy).abs().mean()
    assert (coarse - noisy).abs().mean() < 0.05


@pytest.mark.parametrize("name", ["_dusk", "_gamma", "_balance", "_detail", "_noise", "_reflection"])
def test_each_change_changes_something_and_not_too_much(name: str) -> None:
    seen = getattr(changes, name)(frames(), ALWAYS, rng()).clamp(0, 1)
    assert seen.shape == frames().shape
    assert 1e-3 < (seen - frames()).abs().mean() < 0.4


def test_dusk_is_darker() -> None:
    assert (changes._dusk(frames(), ALWAYS, rng()).mean((1, 2, 3)) < frames().mean((1, 2, 3))).all()
