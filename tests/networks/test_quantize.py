"""A network in whole numbers says almost what it said before."""

from pathlib import Path

import numpy as np
import torch

from budgetseg.networks.architecture import SMALL, Network
from budgetseg.networks.card import Card
from budgetseg.networks.export import export_onnx
from budgetseg.networks.quantize import quantize
from budgetseg.networks.run import OnnxNetwork
from tests.networks.models import noise


def test_a_quantised_network_is_smaller_and_says_almost_the_same(tmp_path: Path) -> None:
    torch.manual_seed(0)
    export_onnx(Network(5, SMALL).eval(), tmp_path / "net.onnx", (64, 48))
    frames = [noise(48, 64, seed) for seed in range(4)]
    quantize(Card(tmp_path / "net.onnx"), frames, tmp_path / "small.onnx")
    before, after = OnnxNetwork(Card(tmp_path / "net.onnx")), OnnxNetwork(Card(tmp_path / "small.onnx"))
    assert np.abs(before(frames[0]) - after(frames[0])).max() < 0.05
    assert np.allclose(after(frames[0]).sum(axis=2), 1, atol=1e-5)
    assert b"QuantizeLinear" in (tmp_path / "small.onnx").read_bytes()
