"""Providers of onnxruntime for other devices, with a stand-in for the library: they never fall back in silence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from budgetseg.errors import ModelError
from budgetseg.networks.backends.core import Choice, Setup
from budgetseg.networks.backends.registry import BACKENDS, Wanted, candidates
from tests.networks.models import save_mixer

PROVIDERS = {"cuda": "CUDAExecutionProvider", "tensorrt": "TensorrtExecutionProvider"}
NET = Path("net.onnx")


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Providers that sessions were asked for; each runs on the CPU, and says that it has what was asked for."""
    asked: list[Sequence[str]] = []
    plain = onnxruntime.InferenceSession

    def opened(file: str, options: Any, providers: Sequence[str], enable_fallback: bool) -> Any:
        assert not enable_fallback
        asked.append(providers)
        session = plain(file, options, providers=["CPUExecutionProvider"])
        session.get_providers = lambda: list(providers)
        return session

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [*PROVIDERS.values(), "CPUExecutionProvider"])
    monkeypatch.setattr(onnxruntime, "InferenceSession", opened)
    return asked


@pytest.mark.parametrize("name", list(PROVIDERS))
def test_a_provider_runs_a_network_and_what_it_lacks_runs_on_the_cpu(
    sessions: list[Sequence[str]], tmp_path: Path, name: str
) -> None:
    Wanted(name).check()
    assert candidates(Wanted(name), "f32", NET) == [Choice(name, "f32")]
    session = BACKENDS[name].open(save_mixer(tmp_path / "net.onnx", np.eye(3, dtype=np.float32)), Setup())
    assert sessions == [[PROVIDERS[name], "CPUExecutionProvider"]]
    frame = np.ones((1, 3, 6, 8), np.float32)
    assert np.allclose(session.new_run()(frame)[0], frame)


@pytest.mark.usefixtures("sessions")
def test_installed_providers_are_measured_too() -> None:
    found = [choice.backend for choice in candidates(Wanted(precision="f32"), "f32", NET)]
    assert [name for name in found if name != "openvino"] == ["onnxruntime", "cuda", "tensorrt"]


@pytest.mark.usefixtures("sessions")
def test_only_tensorrt_cannot_be_cut_off(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", np.eye(3, dtype=np.float32))
    able = {name: BACKENDS[name].open(path, Setup()).can_cut_off for name in ("onnxruntime", *PROVIDERS)}
    assert able == {"onnxruntime": True, "cuda": True, "tensorrt": False}


def test_a_provider_that_does_not_start_is_refused_in_place_of_the_cpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = onnxruntime.InferenceSession
    monkeypatch.setattr(
        onnxruntime, "InferenceSession", lambda file, options, **_: plain(file, options, ["CPUExecutionProvider"])
    )
    path = save_mixer(tmp_path / "net.onnx", np.eye(3, dtype=np.float32))
    with pytest.raises(ModelError, match="does not run by 'cuda', whose libraries or device are missing here; install"):
        BACKENDS["cuda"].open(path, Setup())
