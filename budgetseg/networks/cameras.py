"""Strong augmentation: frames as other cameras, other weather and other encoders would show them.

Every change is made to a random part of the batch.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import conv2d, interpolate, pad

from budgetseg.networks.recipe import Cameras

__all__ = ["other_cameras"]


def other_cameras(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Frames with changes, and where black bars lie.

    Parameters
    ----------
    frames : (B, 3, H, W) float, 0 to 1
    cameras : settings
    rng : source of randomness on the device of the frames

    Returns
    -------
    frames : (B, 3, H, W) float, 0 to 1
    bars : (B, H, W) bool, where a black bar covers the frame
    """
    for change in (_reflection, _dusk, _gamma, _balance, _blur, _detail, _noise):
        frames = _sometimes(frames, change, cameras, rng)
    frames, bars = _bars(frames, cameras, rng)
    return _sometimes(frames, _blocks, cameras, rng), bars


Change = Callable[[Tensor, Cameras, torch.Generator], Tensor]


def _sometimes(frames: Tensor, change: Change, cameras: Cameras, rng: torch.Generator) -> Tensor:
    chosen = (_uniform(frames, rng) < cameras.often).flatten().nonzero()[:, 0]
    if not len(chosen):
        return frames
    return frames.index_copy(0, chosen, change(frames[chosen], cameras, rng).clamp(0, 1))


def _uniform(frames: Tensor, rng: torch.Generator, channels: int = 1) -> Tensor:
    """A number from 0 to 1 for each frame, (B, channels, 1, 1)."""
    return torch.rand(len(frames), channels, 1, 1, device=frames.device, generator=rng)


def _gamma(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    exponent = torch.exp(cameras.gamma * (2 * _uniform(frames, rng) - 1))
    return frames.clamp(min=1e-4) ** exponent


def _balance(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    return frames * torch.exp(cameras.balance * (2 * _uniform(frames, rng, 3) - 1))


def _dusk(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    """Less light, shadows that drown first, a blue or an orange cast, and the noise of a high gain."""
    light = cameras.dusk + (1 - cameras.dusk) * _uniform(frames, rng)
    cast = 0.2 * (2 * _uniform(frames, rng) - 1)
    colours = torch.cat([1 + cast, torch.ones_like(cast), 1 - cast], 1)
    noise = torch.randn(frames.shape, device=frames.device, generator=rng)
    return light * frames ** (2 - light) * colours + 0.03 * (1 - light) * noise


def _blur(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    deviation = cameras.blur * _uniform(frames, rng) + 1e-2
    reach = math.ceil(2 * cameras.blur)
    offsets = torch.arange(-reach, reach + 1, device=frames.device, dtype=frames.dtype)
    kernel = torch.exp(-0.5 * (offsets / deviation[:, :, 0]) ** 2)  # (B, 1, K)
    kernel = (kernel / kernel.sum(2, keepdim=True)).repeat_interleave(3, 0)  # one for each channel of each frame
    height, width = frames.shape[2:]
    planes = pad(frames, (reach,) * 4, mode="replicate").reshape(1, -1, height + 2 * reach, width + 2 * reach)
    planes = conv2d(planes, kernel.unsqueeze(2), groups=planes.shape[1])
    planes = conv2d(planes, kernel.unsqueeze(3), groups=planes.shape[1])
    return planes.reshape(frames.shape)


def _detail(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    """Frames that were recorded smaller: at one of four sizes, since all frames of a batch are resized alike."""
    shares = torch.linspace(cameras.detail, 0.9, 4).tolist()
    height, width = frames.shape[2:]
    found = frames
    for share in shares:
        small = interpolate(frames, size=(max(1, round(share * height)), max(1, round(share * width))), mode="area")
        large = interpolate(small, size=(height, width), mode="bilinear", align_corners=False)
        found = torch.where(_uniform(frames, rng) < 1 / len(shares), large, found)
    return found


def _noise(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    noise = torch.randn(frames.shape, device=frames.device, generator=rng)
    return frames + cameras.noise * _uniform(frames, rng) * noise


def _reflection(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    """A weak, blurred, upside-down copy of another frame; of the frame itself where it stands alone."""
    height, width = frames.shape[2:]
    small = interpolate(frames.roll(1, 0).flip(2), size=(max(1, height // 6), max(1, width // 6)), mode="area")
    other = interpolate(small, size=(height, width), mode="bilinear", align_corners=False)
    return frames + cameras.reflection * _uniform(frames, rng) * other


def _bars(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Bars above and below, or on both sides, for some of the frames: the frames and where the bars are."""
    height, width = frames.shape[2:]
    thick = cameras.bars * _uniform(frames, rng)
    is_wide = _uniform(frames, rng) < 0.7  # films are wider than most screens
    has_bars = _uniform(frames, rng) < cameras.often
    rows = (torch.arange(height, device=frames.device) + 0.5).view(1, 1, -1, 1) / height
    columns = (torch.arange(width, device=frames.device) + 0.5).view(1, 1, 1, -1) / width
    place = torch.where(is_wide, rows, columns)
    bars = has_bars & ((place < thick) | (place > 1 - thick))
    black = 0.06 * _uniform(frames, rng)
    return torch.where(bars, black, frames), bars[:, 0]


def _blocks(frames: Tensor, cameras: Cameras, rng: torch.Generator) -> Tensor:
    """Frames whose blocks of 8×8 pixels keep each cosine coefficient in steps, coarser ones for fine detail."""
    height, width = frames.shape[2:]
    whole = pad(frames, (0, -width % 8, 0, -height % 8), mode="replicate")
    rows, columns = whole.shape[2] // 8, whole.shape[3] // 8
    blocks = whole.reshape(len(frames), 3, rows, 8, columns, 8).transpose(3, 4)
    basis = _cosines(frames)
    found = basis @ blocks @ basis.T
    order = torch.arange(8, device=frames.device)
    finest = cameras.blocks * _uniform(frames, rng).view(-1, 1, 1, 1, 1, 1) + 1e-3
    steps = finest * (1 + order[:, None] + order[None]) / 15
    kept = (found / steps).round() * steps
    merged = (basis.T @ kept @ basis).transpose(3, 4).reshape(whole.shape)
    return merged[:, :, :height, :width]


def _cosines(like: Tensor) -> Tensor:
    """The orthonormal cosine basis of eight samples, (8, 8)."""
    places = torch.arange(8, device=like.device, dtype=like.dtype)
    basis = torch.cos(math.pi * (2 * places[None] + 1) * places[:, None] / 16) / 2
    basis[0] /= math.sqrt(2)
    return basis
