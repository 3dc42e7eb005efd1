"""A torch module labels as the network that it is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budgetseg
from budgetseg.errors import ModelError
from budgetseg.networks.modules import as_files
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.together import named_cards
from tests.networks.models import noise

torch = pytest.importorskip("torch")


def brightness(**card: Any) -> Any:
    """A module that tells dark from light cells of 8×8 pixels."""

    class Brightness(torch.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, frames: Any) -> Any:
            light = torch.nn.functional.avg_pool2d(frames.mean(1, keepdim=True), 8) - 0.5
            return torch.cat([-light, light], 1)

    module = Brightness()
    module.card = {"mean": [0, 0, 0], "std": [1, 1, 1], **card}
    return module


def test_a_module_gives_in_its_file_what_it_gives_in_torch(tmp_path: Path) -> None:
    module = brightness(classes=["dark", "light"])
    (file,) = as_files([module], tmp_path)
    network = OnnxNetwork(named_cards([file])["network0"]).at((96, 64))
    frame = noise(64, 96)
    with torch.no_grad():
        scores = module(torch.from_numpy(frame.transpose(2, 0, 1)[None].astype(np.float32) / 255))
    expected = torch.softmax(scores, 1)[0].permute(1, 2, 0).numpy()
    assert network.names == ("dark", "light")
    assert np.allclose(network(frame), expected, atol=1e-3)


def test_paths_stay_and_a_module_is_left_as_it_was(tmp_path: Path) -> None:
    module = brightness().train()
    files = as_files(["mine.onnx", module], tmp_path)
    assert files == ["mine.onnx", tmp_path / "network1.onnx"]
    assert module.training


def test_what_cannot_be_a_network_is_one_line(tmp_path: Path) -> None:
    class Broken(torch.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, _: Any) -> Any:
            raise RuntimeError("no such layer\nand more")

    with pytest.raises(ModelError, match=r"cannot be exported to ONNX \(no such layer\)"):
        as_files([Broken()], tmp_path)
    with pytest.raises(ModelError, match="cannot be an object of type int"):
        as_files([3], tmp_path)  # type: ignore[list-item]
    with pytest.raises(ModelError, match="unknown key 'colour'"):
        as_files([brightness(colour="rgb")], tmp_path)


def test_a_loaded_module_labels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path))
    frames = np.zeros((4, 64, 96, 3), np.uint8)
    frames[:, :, 48:] = 255
    model = budgetseg.load(networks=[brightness(classes=["dark", "light"])], backend="onnxruntime", precision="f32")
    labels = model.label(frames, budget_s=float("inf")).labels
    assert (labels[:, :, :40] == 0).all()
    assert (labels[:, :, 56:] == 1).all()
