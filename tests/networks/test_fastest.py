"""The fastest back end is taken among those whose answers agree with the reference."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from budgetseg.networks.backends.core import Choice, Setup
from budgetseg.networks.backends.onnxruntime import OnnxRuntime
from budgetseg.networks.backends.registry import BACKENDS
from budgetseg.networks.card import Card
from budgetseg.networks.fastest import Measured, Measuring, fastest, measure
from budgetseg.networks.run import OnnxNetwork
from tests.networks.models import noise, save_mixer

EXACT, OTHER, ROUGH = Choice("onnxruntime", "f32"), Choice("openvino", "f32"), Choice("openvino", "bf16")
CHOICES = [EXACT, OTHER, ROUGH]
SETTINGS = Measuring()


def rows(agreement: float, difference: float) -> list[Measured]:
    return [Measured(EXACT, 9.0, 1.0, 0.0), Measured(OTHER, 7.0, 1.0, 0.0), Measured(ROUGH, 4.5, agreement, difference)]


def test_the_fastest_that_agrees_is_taken() -> None:
    assert fastest(rows(0.998, 0.0003), CHOICES, SETTINGS) == ROUGH
    assert fastest(rows(0.995, 0.002), CHOICES, SETTINGS) == ROUGH


@pytest.mark.parametrize(("agreement", "difference"), [(0.9949, 0.0003), (0.998, 0.0021)])
def test_one_that_labels_or_weighs_in_another_way_is_not(agreement: float, difference: float) -> None:
    assert fastest(rows(agreement, difference), CHOICES, SETTINGS) == OTHER
    assert fastest(rows(agreement, difference), CHOICES, Measuring(pixels=0.9, probability=0.1)) == ROUGH


def test_of_those_that_do_not_agree_the_most_exact_is_taken() -> None:
    assert fastest(rows(0.9, 0.1), [ROUGH], SETTINGS) == ROUGH
    assert fastest([Measured(EXACT, 9.0, 1.0, 0.0)], [OTHER, ROUGH], SETTINGS) == OTHER


def test_one_that_does_not_run_is_not_taken() -> None:
    assert fastest([Measured(EXACT, 9.0, 1.0, 0.0), Measured(OTHER, error="no")], CHOICES, SETTINGS) == EXACT


# Measuring

MIX = np.array([[1, 2, 3], [0, 0, -1], [4, 0, 0], [-1, 5, 1]], np.float32)


class Shifted(OnnxRuntime):
    """A back end whose answers are those of another frame, or none."""

    def open(self, file: Path, setup: Setup) -> Any:
        session = super().open(file, setup)
        return replace_run(session, setup.precision)


def replace_run(session: Any, precision: str) -> Any:
    plain = session.new_run

    def new_run(output: str | None = None) -> Any:
        run = plain(output)

        def call(tensor: NDArray[Any]) -> list[Any]:
            if precision == "bf16":
                raise RuntimeError("no such instruction")
            return [np.roll(answer, 1, axis=1) for answer in run(tensor)]

        return call

    session.new_run = new_run
    return session


@pytest.fixture
def network(tmp_path: Path) -> OnnxNetwork:
    return OnnxNetwork(Card(save_mixer(tmp_path / "net.onnx", MIX), output="scores"))


def test_every_choice_is_timed_and_compared_on_the_same_frames(
    network: OnnxNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS, "openvino", Shifted())
    exact, other, rough = measure(network, CHOICES, [noise(6, 8, seed) for seed in range(3)], 2, SETTINGS)
    assert [exact.choice, other.choice, rough.choice] == CHOICES
    assert (exact.agreement, exact.difference) == (1.0, 0.0)
    assert exact.ms is not None
    assert exact.ms > 0
    assert other.agreement < 0.5
    assert other.difference > 0.01
    assert (rough.ms, rough.error) == (None, "no such instruction")
    assert fastest([exact, other, rough], CHOICES, SETTINGS) == EXACT


def test_dear_networks_are_run_on_two_frames(network: OnnxNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def answer(tensor: NDArray[Any]) -> NDArray[Any]:
        asked.append(1)
        return OnnxNetwork.answer(network, tensor)

    monkeypatch.setattr(network, "answer", answer)
    measure(network, [EXACT], [noise(6, 8)] * 5, 1, replace(SETTINGS, most_s=0.0))
    assert len(asked) == 1 + 2  # the first is not timed
