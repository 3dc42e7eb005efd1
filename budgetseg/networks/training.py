"""Train networks: side by side on the same views, or one with the help of teachers that are trained already."""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, interpolate, kl_div, log_softmax, softmax

from budgetseg.errors import UsageError
from budgetseg.networks import MEAN, STD
from budgetseg.networks.architecture import build
from budgetseg.networks.augment import moved, recoloured
from budgetseg.networks.cameras import other_cameras
from budgetseg.networks.checkpoint import Progress, load_checkpoint, save_checkpoint
from budgetseg.networks.recipe import NetworkRecipe
from budgetseg.networks.sizes import input_size
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.types import IGNORE, UInt8

__all__ = ["Checkpoints", "Teacher", "Teaching", "check_device", "class_scores", "predict", "train_networks"]


class Batch(NamedTuple):
    """What one step learns from.

    Attributes
    ----------
    views : (B, 3, H, W) as a network takes them
    truths : (B, H, W) int64, `IGNORE` without a label
    clean : (B, 3, H, W), the views without other cameras, for teachers
    bars : (B, H, W) bool, black bars over the view
    """

    views: Tensor
    truths: Tensor
    clean: Tensor
    bars: Tensor


@dataclass(frozen=True, eq=False)
class Teacher:
    """A trained network and its input: sides over those of the frames."""

    network: nn.Module
    zoom: float


@dataclass(frozen=True, eq=False)
class Teaching:
    """What a training learns from besides labelled frames.

    Attributes
    ----------
    teachers : trained networks, whose predictions are averaged
    unlabelled : (M, H, W, 3) uint8, frames without labels at the size of the labelled ones; None for none
    """

    teachers: Sequence[Teacher] = ()
    unlabelled: UInt8 | None = None


@dataclass(frozen=True)
class Checkpoints:
    """Where a training is kept, and how often.

    Attributes
    ----------
    path : of the file; a training that finds one continues from it
    every_s : seconds from one to the next
    """

    path: Path
    every_s: float = 60.0


def check_device(device: str) -> None:
    """Raise UsageError if PyTorch does not have a device."""
    if device != "cpu" and not (device == "cuda" and torch.cuda.is_available()):
        raise UsageError(f"PyTorch has no device '{device}' here; use 'cpu', or 'cuda' with a GPU")


def train_networks(
    frames: UInt8,
    labels: UInt8,
    n_labels: int,
    recipe: NetworkRecipe,
    say: Callable[[str], None] = print,
    advance: Callable[[int], None] = lambda _: None,
    clock: Clock | None = None,
    teaching: Teaching | None = None,
    checkpoints: Checkpoints | None = None,
    networks: dict[str, nn.Module] | None = None,
) -> dict[str, nn.Module]:
    """Train the networks of a recipe together. Returns them by name.

    Parameters
    ----------
    frames : (N, H, W, 3) uint8
    labels : (N, H, W) uint8, `IGNORE` without a label
    n_labels : number of classes
    recipe : settings
    say : called with a line on the losses every 200 steps
    advance : called with 1 for each step
    clock : measures the time limit; None for one that starts with the first step
    teaching : teachers and frames without labels
    checkpoints : where the training is kept; it goes on from a file that is there
    networks : to start from, by name; None for new ones
    """
    device = recipe.device
    torch.manual_seed(recipe.seed)
    rng = torch.Generator(device).manual_seed(recipe.seed)
    teaching = teaching or Teaching()
    pool = _Pool(frames, labels, teaching, recipe, rng)
    networks = networks or {rung.name: build(rung.shape, n_labels) for rung in recipe.rungs}
    start = _resume(checkpoints, networks)
    for network in networks.values():
        network.to(device, memory_format=_layout(recipe))  # type: ignore[call-overload]
    averages = {name: deepcopy(network).eval() for name, network in networks.items()}
    follower = _Follower(averages, networks)
    optimiser = _optimiser(networks, recipe)
    parameters = [parameter for network in networks.values() for parameter in network.parameters()]
    losses = _Losses(networks, teaching.teachers, _class_weights(labels, n_labels, recipe.rarity).to(device), recipe)
    learn = _learner(losses, pool.batch(), parameters)
    clock = clock or WallClock()
    kept_s = clock.now_s()
    for step, done in _schedule(recipe, clock, start):
        for group in optimiser.param_groups:
            group["lr"] = group["highest"] * _one_cycle(done)
        found = learn(pool.batch())
        optimiser.step()
        follower.follow(min(recipe.average, (step + 1) / (step + 10)))
        advance(1)
        if step % 200 == 0:
            values = "  ".join(f"{name} {loss.item():.3f}" for name, loss in found.items())
            say(f"step {step}, {100 * done:.0f} %, {clock.now_s():.0f} s: loss {values}")
        if checkpoints and clock.now_s() - kept_s > checkpoints.every_s:
            _keep(checkpoints, averages, recipe, Progress(step + 1, done, start.seconds + clock.now_s(), {}))
            kept_s = clock.now_s()
    if checkpoints:
        _keep(checkpoints, averages, recipe, Progress(recipe.n_steps, 1.0, start.seconds + clock.now_s(), {}))
    return averages


def _resume(checkpoints: Checkpoints | None, networks: dict[str, nn.Module]) -> Progress:
    if checkpoints is None or not checkpoints.path.exists():
        return Progress(0, 0.0, 0.0, {})
    return load_checkpoint(checkpoints.path, networks)


def _keep(checkpoints: Checkpoints, averages: dict[str, nn.Module], recipe: NetworkRecipe, progress: Progress) -> None:
    facts = {"rungs": [asdict(rung) for rung in recipe.rungs]}
    save_checkpoint(checkpoints.path, averages, Progress(progress.step, progress.done, progress.seconds, facts))


class _Pool:
    """All frames on the training device, as bytes, and random batches of views of them."""

    def __init__(
        self, frames: UInt8, labels: UInt8, teaching: Teaching, recipe: NetworkRecipe, rng: torch.Generator
    ) -> None:
        extra = teaching.unlabelled
        has_extra = extra is not None and len(extra) > 0 and len(teaching.teachers) > 0
        self.n_labelled = len(frames)
        self.n_extra = round(recipe.batch * recipe.unlabelled) if has_extra else 0
        if extra is not None and self.n_extra:
            frames = np.concatenate([frames, extra])
            labels = np.concatenate([labels, np.full(extra.shape[:3], IGNORE, np.uint8)])
        self.frames = torch.from_numpy(frames).to(recipe.device).permute(0, 3, 1, 2)
        self.labels = torch.from_numpy(labels).to(recipe.device)
        self.recipe = recipe
        self.rng = rng

    def batch(self) -> Batch:
        """The next batch."""
        recipe = self.recipe
        picked = self._pick(0, self.n_labelled, recipe.batch - self.n_extra)
        if self.n_extra:
            picked = torch.cat([picked, self._pick(self.n_labelled, len(self.frames), self.n_extra)])
        plain, truths = moved(self.frames[picked].float() / 255, self.labels[picked], self.rng, recipe.views)
        views = recoloured(plain, self.rng)
        bars = torch.zeros_like(truths, dtype=torch.bool)
        if recipe.cameras is not None:
            views, bars = other_cameras(views, recipe.cameras, self.rng)
            truths = torch.where(bars, IGNORE, truths)
        return Batch(_entered(views, _layout(recipe)), truths, _entered(plain, _layout(recipe)), bars)

    def _pick(self, first: int, end: int, n: int) -> Tensor:
        return torch.randint(first, end, (n,), device=self.frames.device, generator=self.rng)


def _entered(frames: Tensor, layout: torch.memory_format) -> Tensor:
    """Frames of 0 to 1 as networks take them."""
    return ((frames - MEAN) / STD).contiguous(memory_format=layout)


def _layout(recipe: NetworkRecipe) -> torch.memory_format:
    return torch.channels_last if recipe.channels_last else torch.contiguous_format


def _at_zoom(frames: Tensor, zoom: float) -> Tensor:
    """Frames (B, 3, H, W) at the size of a network's input, resized as in use: by area to become smaller."""
    height, width = frames.shape[2:]
    size = input_size((width, height), zoom)
    if size == (width, height):
        return frames
    if size[0] < width:
        return interpolate(frames, size=size[::-1], mode="area")
    return interpolate(frames, size=size[::-1], mode="bilinear", align_corners=False)


def _optimiser(networks: dict[str, nn.Module], recipe: NetworkRecipe) -> torch.optim.Optimizer:
    """AdamW with a lower rate for published weights than for all others."""
    published: list[nn.Parameter] = []
    own: list[nn.Parameter] = []
    for network in networks.values():
        for name, parameter in network.named_parameters():
            (published if name.startswith("encoder.") else own).append(parameter)
    groups = [
        {"params": parameters, "highest": rate}
        for parameters, rate in ((published, recipe.encoder_rate), (own, recipe.rate))
        if parameters
    ]
    return torch.optim.AdamW(groups, recipe.rate, weight_decay=recipe.decay, fused=recipe.device == "cuda")


def _learner(
    measure: Callable[[Batch], dict[str, Tensor]], example: Batch, parameters: list[nn.Parameter]
) -> Callable[[Batch], dict[str, Tensor]]:
    """A function that takes a batch, writes gradients to the parameters and returns the losses.

    A step runs thousands of small kernels. On a GPU they are recorded once and replayed, since launching them would
    take most of the time.
    """

    def learn(batch: Batch) -> dict[str, Tensor]:
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.grad.zero_()
        losses = measure(batch)
        torch.autograd.backward(torch.stack(list(losses.values())).sum())
        return losses

    if example.views.device.type != "cuda":
        return learn
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            learn(example)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        losses = learn(example)

    def replay(batch: Batch) -> dict[str, Tensor]:
        for place, values in zip(example, batch, strict=True):
            place.copy_(values)
        graph.replay()
        return losses

    return replay


def _schedule(recipe: NetworkRecipe, clock: Clock, start: Progress) -> Iterator[tuple[int, float]]:
    """Steps, with the share of the training that is done by count or by time, whichever is larger."""
    for step in range(start.step, recipe.n_steps):
        by_time = start.done + clock.now_s() / recipe.time_limit_s
        done = max(step / recipe.n_steps, by_time)
        if done >= 1:
            return
        yield step, done


def _one_cycle(done: float, warm: float = 0.1) -> float:
    if done < warm:
        return 0.04 + 0.96 * done / warm
    return float(0.5 * (1 + np.cos(np.pi * (done - warm) / (1 - warm)))) + 1e-4


def _class_weights(labels: UInt8, n_labels: int, power: float) -> Tensor:
    """Weights of the classes in the loss, (L,): the median frequency over their own, to a power, clipped."""
    counts = np.bincount(labels[labels != IGNORE], minlength=n_labels)[:n_labels].astype(np.float64)
    present = counts > 0
    weights = np.zeros(n_labels)
    weights[present] = np.clip((np.median(counts[present]) / counts[present]) ** power, 0.4, 4.0)
    return torch.from_numpy(weights).float()


class _Losses:
    """The loss of each network on a batch."""

    def __init__(
        self, networks: dict[str, nn.Module], teachers: Sequence[Teacher], weights: Tensor, recipe: NetworkRecipe
    ) -> None:
        self.networks = networks
        self.teachers = teachers
        self.weights = weights
        self.recipe = recipe
        self.zooms = {rung.name: rung.zoom for rung in recipe.rungs}

    def __call__(self, batch: Batch) -> dict[str, Tensor]:
        """Losses by the name of the network."""
        recipe = self.recipe
        scores = {name: self._scores(network, batch.views, self.zooms[name]) for name, network in self.networks.items()}
        losses = {name: self._own(own, batch) for name, own in scores.items()}
        last = recipe.names[-1]
        for name, own in scores.items():
            if recipe.distil and self.teachers:
                losses[name] = losses[name] + recipe.distil * _divergence(own, self._taught(batch), batch.bars)
            elif recipe.distil and name != last:
                taught = softmax(scores[last].detach(), 1)
                losses[name] = losses[name] + recipe.distil * _divergence(own, taught, batch.bars)
        return losses

    def _scores(self, network: nn.Module, views: Tensor, zoom: float) -> Tensor:
        """Class scores of the network's cells, in full precision."""
        is_half = self.recipe.bf16 or views.device.type == "cuda"
        with torch.autocast(views.device.type, torch.bfloat16, enabled=is_half, cache_enabled=False):
            scores: Tensor = network(_at_zoom(views, zoom))
        return scores.float()

    def _own(self, scores: Tensor, batch: Batch) -> Tensor:
        """Loss against labels and, in black bars, against a uniform prediction."""
        full = interpolate(scores, size=batch.truths.shape[1:], mode="bilinear", align_corners=False)
        loss = cross_entropy(full, batch.truths, self.weights, ignore_index=IGNORE)
        cameras = self.recipe.cameras
        if cameras is None or not cameras.flat:
            return loss
        uneven = -log_softmax(full, 1).mean(1)
        return loss + cameras.flat * (uneven * batch.bars).sum() / batch.bars.sum().clamp(min=1)

    @torch.no_grad()
    def _taught(self, batch: Batch) -> Tensor:
        """Mean probabilities of the teachers, over sizes and mirrored views, (B, L, h, w) at a quarter of the view."""
        height, width = batch.truths.shape[1:]
        cells = -(-height // 4), -(-width // 4)
        total = None
        n = 0
        for teacher in self.teachers:
            for zoom in self.recipe.teacher_zooms:
                for mirrored in (False, True)[: 1 + self.recipe.teacher_mirrors]:
                    seen = batch.clean.flip(3) if mirrored else batch.clean
                    scores = self._scores(teacher.network, seen, zoom * teacher.zoom)
                    found = interpolate(softmax(scores, 1), size=cells, mode="bilinear", align_corners=False)
                    found = found.flip(3) if mirrored else found
                    total = found if total is None else total + found
                    n += 1
        assert total is not None
        return total / n


def _divergence(scores: Tensor, taught: Tensor, bars: Tensor) -> Tensor:
    """Kullback-Leibler divergence from taught probabilities (B, L, h, w), outside black bars."""
    if scores.shape != taught.shape:
        scores = interpolate(scores, size=taught.shape[2:], mode="bilinear", align_corners=False)
    seen = 1 - interpolate(bars.unsqueeze(1).float(), size=taught.shape[2:], mode="nearest")[:, 0]
    divergence = kl_div(log_softmax(scores, 1), taught, reduction="none").sum(1)
    return (divergence * seen).sum() / seen.sum().clamp(min=1)


class _Follower:
    """Moves running averages a little towards the networks; the lists are made once, since making them takes long."""

    def __init__(self, averages: dict[str, nn.Module], networks: dict[str, nn.Module]) -> None:
        self.kept = _reals(averages)
        self.new = _reals(networks)

    @torch.no_grad()
    def follow(self, keep: float) -> None:
        """One step: `keep` of the averages stays."""
        torch._foreach_lerp_(self.kept, self.new, 1 - keep)


def _reals(networks: dict[str, nn.Module]) -> list[Tensor]:
    values = [value for network in networks.values() for value in network.state_dict().values()]
    return [value for value in values if value.dtype.is_floating_point]


@torch.no_grad()
def class_scores(network: nn.Module, frame: UInt8, zoom: float = 1.0, device: str = "cpu") -> Tensor:
    """Class scores of every pixel, (1, L, H, W), of a frame (H, W, 3), by a network on that device."""
    x = _entered(torch.from_numpy(frame).to(device).permute(2, 0, 1)[None].float() / 255, torch.channels_last)
    scores = network(_at_zoom(x, zoom)).float()
    return interpolate(scores, size=frame.shape[:2], mode="bilinear", align_corners=False)


@torch.no_grad()
def predict(network: nn.Module, frames: UInt8, device: str = "cpu", zoom: float = 1.0) -> UInt8:
    """Most likely class of every pixel, (N, H, W), of frames (N, H, W, 3)."""
    network = network.to(device).eval()
    labels = [class_scores(network, frame, zoom, device).argmax(1)[0].to(torch.uint8).cpu() for frame in frames]
    return np.stack([own.numpy() for own in labels])
