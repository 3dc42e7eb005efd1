"""An exported network says what the original says."""

from pathlib import Path

import numpy as np
import onnxruntime
import torch

from budgetseg.networks.architecture import SMALL, Network, count_parameters
from budgetseg.networks.export import export_onnx


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
