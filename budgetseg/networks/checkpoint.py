"""Networks in training as one small file, so that a training that is cut off continues where it was.

The file holds the running averages in half precision, with normalisation in full, and how far the schedule is. What
continues from it starts with fresh moments of the optimiser. A file of a finished training is the result.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from budgetseg.errors import ModelError
from budgetseg.files import atomic_file

__all__ = ["Progress", "load_checkpoint", "load_weights", "save_checkpoint"]

_FORMAT = 1


@dataclass(frozen=True)
class Progress:
    """How far a training is.

    Attributes
    ----------
    step : number of batches that were learned from
    done : share of the schedule, 0 to 1
    seconds : that it took, by the clock of the training
    facts : what the file should say besides, as JSON
    """

    step: int
    done: float
    seconds: float
    facts: Mapping[str, object]


def save_checkpoint(path: Path, networks: Mapping[str, nn.Module], progress: Progress) -> None:
    """Write networks by name; the file appears whole or not at all."""
    weights = {}
    for name, network in networks.items():
        for key, value in network.state_dict().items():
            halved = value.dim() > 1 and value.dtype == torch.float32
            weights[f"{name}/{key}"] = (value.half() if halved else value).detach().cpu().contiguous()
    facts = {
        "format": _FORMAT,
        "step": progress.step,
        "done": progress.done,
        "seconds": progress.seconds,
        **progress.facts,
    }
    with atomic_file(path) as part:
        save_file(weights, part, metadata={"budgetseg": json.dumps(facts)})


def load_checkpoint(path: Path, networks: Mapping[str, nn.Module]) -> Progress:
    """Fill networks from a file and return how far their training was; ModelError if the file is not one of theirs."""
    try:
        with safe_open(path, framework="pt") as file:
            facts = json.loads((file.metadata() or {})["budgetseg"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dictionary)
        for name, network in networks.items():
            own = {key.removeprefix(f"{name}/"): value for key, value in weights.items() if key.startswith(f"{name}/")}
            network.load_state_dict(own)
        step = facts.pop("step")
        done = facts.pop("done")
        seconds = facts.pop("seconds")
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"{path}: no checkpoint of these networks ({type(error).__name__}); remove it") from None
    return Progress(step, done, seconds, facts)


def load_weights(path: Path, name: str, network: nn.Module) -> Progress:
    """Fill one network of a checkpoint."""
    return load_checkpoint(path, {name: network})
