"""Data augmentation: random views of labelled frames, made on the training device."""

import math

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from budgetseg.networks.recipe import Views
from budgetseg.types import IGNORE

__all__ = ["moved", "random_views", "recoloured"]


def random_views(
    frames: Tensor, labels: Tensor, rng: torch.Generator, views: Views | None = None
) -> tuple[Tensor, Tensor]:
    """Zoomed, shifted, turned, mirrored and recoloured copies.

    Parameters
    ----------
    frames : (B, 3, H, W) float, 0 to 1
    labels : (B, H, W) uint8
    rng : source of randomness on the device of the frames
    views : settings

    Returns
    -------
    views : (B, 3, H, W) float
    view_labels : (B, H, W) int64, `IGNORE` outside the frame
    """
    seen, truths = moved(frames, labels, rng, views or Views())
    return recoloured(seen, rng), truths


def moved(frames: Tensor, labels: Tensor, rng: torch.Generator, views: Views) -> tuple[Tensor, Tensor]:
    """Zoomed, shifted, turned and mirrored frames and labels; parameters and result as of `random_views`."""
    grid = affine_grid(_random_moves(len(frames), frames.device, rng, views), list(frames.shape), align_corners=False)
    seen = grid_sample(frames, grid, mode="bilinear", padding_mode="reflection", align_corners=False)
    # Shifted by one so that the zeros that fill the outside stand for IGNORE.
    known = torch.where(labels == IGNORE, 0, labels.long() + 1).unsqueeze(1).float()
    truths = grid_sample(known, grid, mode="nearest", padding_mode="zeros", align_corners=False).round().long()[:, 0]
    return seen, torch.where(truths == 0, IGNORE, truths - 1)


def _random_moves(n: int, device: torch.device, rng: torch.Generator, views: Views) -> Tensor:
    """Affine maps from view to frame, (n, 2, 3)."""
    u = torch.rand(6, n, device=device, generator=rng)
    scale = torch.exp(math.log(views.smallest) + u[0] * (math.log(views.largest) - math.log(views.smallest)))
    aspect = torch.exp((2 * u[1] - 1) * views.aspect)
    turn = (2 * u[2] - 1) * views.turn
    mirror = torch.where(u[3] < 0.5, -1.0, 1.0)
    wide = 1 / (scale * aspect)
    high = aspect / scale
    room_x = (1 - wide).abs()
    room_y = (1 - high).abs()
    cos = torch.cos(turn)
    sin = torch.sin(turn)
    rows = [
        torch.stack([wide * cos * mirror, -high * sin, (2 * u[4] - 1) * room_x], 1),
        torch.stack([wide * sin * mirror, high * cos, (2 * u[5] - 1) * room_y], 1),
    ]
    return torch.stack(rows, 1)


def recoloured(frames: Tensor, rng: torch.Generator) -> Tensor:
    """Frames with another brightness, contrast, saturation and tint, and a little noise."""
    u = 2 * torch.rand(4, len(frames), 1, 1, 1, device=frames.device, generator=rng) - 1
    tint = 2 * torch.rand(len(frames), 3, 1, 1, device=frames.device, generator=rng) - 1
    mean = frames.mean((1, 2, 3), keepdim=True)
    frames = mean + (frames - mean) * torch.exp(0.35 * u[0])
    grey = frames.mean(1, keepdim=True)
    frames = grey + (frames - grey) * torch.exp(0.4 * u[1])
    frames = frames * torch.exp(0.3 * u[2]) * (1 + 0.06 * tint)
    noise = torch.randn(frames.shape, device=frames.device, generator=rng)
    return (frames + 0.02 * (u[3].clamp(min=0)) * noise).clamp(0, 1)
