"""Checkpoints: small, whole, and refused when they are of something else."""

from pathlib import Path

import pytest
import torch

from budgetseg.errors import ModelError
from budgetseg.networks.architecture import build, count_parameters
from budgetseg.networks.checkpoint import Progress, load_checkpoint, save_checkpoint


def test_a_checkpoint_brings_the_networks_back_in_half_the_size(tmp_path: Path) -> None:
    torch.manual_seed(0)
    networks = {"a": build("small", 5).eval(), "b": build("small", 5).eval()}
    path = tmp_path / "networks.safetensors"
    save_checkpoint(path, networks, Progress(7, 0.25, 12.5, {"why": "test"}))
    others = {"a": build("small", 5).eval(), "b": build("small", 5).eval()}
    assert load_checkpoint(path, others) == Progress(7, 0.25, 12.5, {"format": 1, "why": "test"})
    frames = torch.rand(1, 3, 32, 32)
    for name, network in networks.items():
        assert (network(frames) - others[name](frames)).abs().max() < 0.02
    assert path.stat().st_size < 2.6 * 2 * count_parameters(networks["a"])


def test_a_file_of_other_networks_or_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "networks.safetensors"
    save_checkpoint(path, {"a": build("small", 5)}, Progress(1, 0.1, 1.0, {}))
    with pytest.raises(ModelError, match="no checkpoint of these networks"):
        load_checkpoint(path, {"a": build("small", 6)})
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"no checkpoint of these networks .*; remove it"):
        load_checkpoint(path, {"a": build("small", 5)})
