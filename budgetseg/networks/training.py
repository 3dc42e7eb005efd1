"""Train the two networks together: the large one learns from labels, the small one from labels and the large one."""

from collections.abc import Callable, Iterator
from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, interpolate, kl_div, log_softmax, softmax

from budgetseg.errors import UsageError
from budgetseg.networks import MEAN, STD
from budgetseg.networks.architecture import LARGE, SMALL, Network
from budgetseg.networks.augment import random_views
from budgetseg.networks.recipe import NetworkRecipe
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.types import IGNORE, UInt8

Batch = tuple[Tensor, Tensor]

__all__ = ["check_device", "predict", "train_networks"]


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
) -> dict[str, Network]:
    """Train the networks `dcnn` and `dcnn_large`. Returns them by name.

    Parameters
    ----------
    frames : (N, H, W, 3) uint8
    labels : (N, H, W) uint8, `IGNORE` without a label
    n_labels : number of classes
    recipe : settings
    say : called with a line on the losses every 200 steps
    advance : called with 1 for each step
    clock : measures the time limit; None for one that starts with the first step
    """
    device = recipe.device
    torch.manual_seed(recipe.seed)
    rng = torch.Generator(device).manual_seed(recipe.seed)
    data = torch.from_numpy(frames).to(device).permute(0, 3, 1, 2), torch.from_numpy(labels).to(device)
    networks = {"dcnn": Network(n_labels, SMALL), "dcnn_large": Network(n_labels, LARGE)}
    for network in networks.values():
        network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    averages = {name: deepcopy(network).eval() for name, network in networks.items()}
    parameters = [parameter for network in networks.values() for parameter in network.parameters()]
    optimiser = torch.optim.AdamW(parameters, recipe.rate, weight_decay=recipe.decay, fused=device == "cuda")
    weights = _class_weights(labels, n_labels).to(device)
    learn = _learner(
        lambda batch: _losses(networks, batch, weights, recipe.distil), _batch(data, recipe.batch, rng), parameters
    )
    clock = clock or WallClock()
    for step, done in _schedule(recipe, clock):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * _one_cycle(done)
        losses = learn(_batch(data, recipe.batch, rng))
        optimiser.step()
        _follow(averages, networks, min(recipe.average, (step + 1) / (step + 10)))
        advance(1)
        if step % 200 == 0:
            values = "  ".join(f"{name} {loss.item():.3f}" for name, loss in losses.items())
            say(f"step {step}, {100 * done:.0f} %, {clock.now_s():.0f} s: loss {values}")
    return averages


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

    if example[0].device.type != "cuda":
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


def _schedule(recipe: NetworkRecipe, clock: Clock) -> Iterator[tuple[int, float]]:
    """Steps, with the share of the training that is done by count or by time, whichever is larger."""
    for step in range(recipe.n_steps):
        done = max(step / recipe.n_steps, clock.now_s() / recipe.time_limit_s)
        if done >= 1:
            return
        yield step, done


def _one_cycle(done: float, warm: float = 0.1) -> float:
    if done < warm:
        return 0.04 + 0.96 * done / warm
    return float(0.5 * (1 + np.cos(np.pi * (done - warm) / (1 - warm)))) + 1e-4


def _class_weights(labels: UInt8, n_labels: int) -> Tensor:
    """Weights of the classes in the loss, (L,): the square root of the median frequency over their own, clipped."""
    counts = np.bincount(labels[labels != IGNORE], minlength=n_labels)[:n_labels].astype(np.float64)
    present = counts > 0
    weights = np.zeros(n_labels)
    weights[present] = np.clip(np.sqrt(np.median(counts[present]) / counts[present]), 0.4, 4.0)
    return torch.from_numpy(weights).float()


def _batch(data: Batch, n: int, rng: torch.Generator) -> Batch:
    frames, labels = data
    picked = torch.randint(len(frames), (n,), device=frames.device, generator=rng)
    views, truths = random_views(frames[picked].float() / 255, labels[picked], rng)
    return ((views - MEAN) / STD).contiguous(memory_format=torch.channels_last), truths


def _losses(networks: dict[str, Network], batch: Batch, weights: Tensor, distil: float) -> dict[str, Tensor]:
    views, truths = batch
    losses = {}
    scores = {}
    for name, network in networks.items():
        on_gpu = views.device.type == "cuda"
        with torch.autocast(views.device.type, torch.bfloat16, enabled=on_gpu, cache_enabled=False):
            small = network(views)
        scores[name] = small.float()
        full = interpolate(scores[name], size=truths.shape[1:], mode="bilinear", align_corners=False)
        losses[name] = cross_entropy(full, truths, weights, ignore_index=IGNORE)
    teacher = softmax(scores["dcnn_large"].detach(), 1)
    divergence = kl_div(log_softmax(scores["dcnn"], 1), teacher, reduction="none").sum(1).mean()
    losses["dcnn"] = losses["dcnn"] + distil * divergence
    return losses


@torch.no_grad()
def _follow(averages: dict[str, Network], networks: dict[str, Network], keep: float) -> None:
    """Move the running averages a little towards the networks."""
    kept = [value for network in averages.values() for value in network.state_dict().values() if _is_real(value)]
    new = [value for network in networks.values() for value in network.state_dict().values() if _is_real(value)]
    torch._foreach_lerp_(kept, new, 1 - keep)


def _is_real(value: Tensor) -> bool:
    return value.dtype.is_floating_point


@torch.no_grad()
def predict(network: nn.Module, frames: UInt8, device: str = "cpu") -> UInt8:
    """Most likely class of every pixel, (N, H, W), of frames (N, H, W, 3)."""
    network = network.to(device).eval()
    labels = []
    for frame in frames:
        x = (torch.from_numpy(frame).to(device).permute(2, 0, 1)[None].float() / 255 - MEAN) / STD
        scores = interpolate(network(x), size=frame.shape[:2], mode="bilinear", align_corners=False)
        labels.append(scores.argmax(1)[0].to(torch.uint8).cpu().numpy())
    return np.stack(labels)
