"""An exported network says what the original says."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from budgetseg.networks.architecture import SMALL, Network, build, count_parameters
from budgetseg.networks.card import Card
from budgetseg.networks.export import export_onnx, temperature_in
from budgetseg.networks.run import OnnxNetwork
from tests.networks.models import noise


def test_the_file_gives_the_probabilities_of_the_network_at_half_the_size(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = Network(7, SMALL).eval()
    export_onnx(network, tmp_path / "net.onnx", (64, 48))
    frames = np.random.default_rng(0).normal(size=(1, 3, 48, 64)).astype(np.float32)
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"frames": frames})
    with torch.no_grad():
        expected = torch.softmax(network(torch.from_numpy(frames)), 1).numpy()
    assert np.abs(found - expected).max() < 2e-3
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
    assert (tmp_path / "net.onnx").stat().st_size < 2.3 * count_parameters(network)


@pytest.mark.parametrize("shape", ["trim", "fine", "lite0"])
def test_networks_of_the_ladder_say_in_onnxruntime_what_they_say_in_pytorch(tmp_path: Path, shape: str) -> None:
    torch.manual_seed(0)
    network = build(shape, 7, published=False).eval()
    export_onnx(network, tmp_path / "net.onnx", (96, 64), 2.0)
    frames = np.random.default_rng(0).normal(size=(1, 3, 64, 96)).astype(np.float32)
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"frames": frames})
    with torch.no_grad():
        expected = torch.softmax(network(torch.from_numpy(frames)) / 2.0, 1).numpy()
    assert np.abs(found - expected).max() < 5e-3


def test_the_temperature_is_in_the_file(tmp_path: Path) -> None:
    network = Network(3, SMALL).eval()
    for temperature in (1.0, 1.25):
        export_onnx(network, tmp_path / "net.onnx", (64, 48), temperature)
        assert temperature_in(tmp_path / "net.onnx") == temperature


def test_an_open_network_takes_videos_of_any_shape(tmp_path: Path) -> None:
    torch.manual_seed(0)
    export_onnx(build("slim", 3, published=False).eval(), tmp_path / "net.onnx", (64, 48), is_open=True)
    network = OnnxNetwork(Card(tmp_path / "net.onnx", longest=128, multiple=4))
    for size in ((128, 72), (96, 96)):
        wide = network.at(size)
        assert wide.size == size
        assert wide(noise(size[1], size[0], 0)).shape == (size[1] // 4, size[0] // 4, 3)
