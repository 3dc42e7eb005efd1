"""Back ends by name: what is missing, or cannot be, is refused in a line that says what to do."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.models import bundled
from budgetseg.networks.backends.core import Choice, Session, Setup
from budgetseg.networks.backends.onnxruntime import OnnxRuntime
from budgetseg.networks.backends.openvino import OpenVino
from budgetseg.networks.backends.registry import (
    BACKENDS,
    Wanted,
    candidates,
    check_earlier,
    stored_precision,
    versions,
)
from tests.networks.models import save_mixer

NET = Path("net.onnx")


class StandIn:
    """A back end with a version and precisions that a test chooses."""

    name = "openvino"
    install = "pip install 'budgetseg[openvino]'"

    def __init__(self, version: str | None, precisions: Sequence[str]) -> None:
        self._version = version
        self._precisions = precisions

    def version(self) -> str | None:
        return self._version

    def precisions(self) -> Sequence[str]:
        return self._precisions

    def open(self, file: Path, setup: Setup) -> Session:
        return OnnxRuntime().open(file, setup)


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "openvino", StandIn("2026", ("f32", "bf16")))


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "openvino", StandIn("2026", ("f32",)))


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "openvino", StandIn(None, ()))


def refusal(wanted: Wanted) -> str:
    with pytest.raises(UsageError) as caught:
        wanted.check()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.usefixtures("missing")
def test_without_other_back_ends_there_is_nothing_to_choose() -> None:
    Wanted().check()
    assert "openvino" not in versions()
    assert candidates(Wanted(), "f32", NET) == [Choice("onnxruntime", "f32")]
    assert candidates(Wanted(), "int8", NET) == [Choice("onnxruntime", "int8")]


@pytest.mark.usefixtures("able")
def test_the_reference_comes_first_and_others_in_all_their_precisions() -> None:
    found = candidates(Wanted(), "f32", NET)
    assert found == [Choice("onnxruntime", "f32"), Choice("openvino", "f32"), Choice("openvino", "bf16")]
    assert candidates(Wanted("openvino"), "f32", NET) == found[1:]
    assert candidates(Wanted(precision="f32"), "f32", NET) == found[:2]
    assert candidates(Wanted(precision="bf16"), "f32", NET) == found[2:]


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("precision", ["auto", "f32", "bf16", "int8"])
def test_a_file_of_8_bits_stays_so(precision: str) -> None:
    found = candidates(Wanted(precision=precision), "int8", NET)
    assert found == [Choice("onnxruntime", "int8"), Choice("openvino", "int8")]


@pytest.mark.usefixtures("able")
def test_8_bits_are_not_made_of_floats() -> None:
    with pytest.raises(UsageError, match=r"net\.onnx: has no 8-bit convolutions, which --precision int8 needs"):
        candidates(Wanted(precision="int8"), "f32", NET)


@pytest.mark.usefixtures("missing")
def test_a_back_end_that_is_missing_is_refused_with_what_to_install() -> None:
    line = "the back end 'openvino' is not installed; pip install 'budgetseg[openvino]', or choose another --backend"
    assert refusal(Wanted("openvino")) == line
    assert "which is not installed; pip install 'budgetseg[openvino]'" in refusal(Wanted(precision="bf16"))
    assert "'cuda' is not installed; pip install onnxruntime-gpu" in refusal(Wanted("cuda"))


def test_a_back_end_that_does_not_start_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "openvino", StandIn("2026", ()))
    assert "the back end 'openvino' does not start here; " in refusal(Wanted("openvino"))


@pytest.mark.usefixtures("old")
def test_a_precision_that_the_processor_lacks_is_refused() -> None:
    for backend in ("auto", "openvino"):
        assert refusal(Wanted(backend, "bf16")) == "the processor has no bf16; leave out --precision bf16"
    assert refusal(Wanted("onnxruntime", "bf16")).startswith("the back end 'onnxruntime' has no bf16; ")


def test_names_that_are_none_get_those_that_are() -> None:
    assert refusal(Wanted("abacus")).endswith("choose from auto, onnxruntime, openvino, cuda, tensorrt")
    assert refusal(Wanted(precision="f8")).endswith("choose from auto, f32, bf16, int8")


@pytest.mark.usefixtures("old")
def test_what_ran_an_earlier_run_must_be_there() -> None:
    for choice in (Choice("onnxruntime", "int8"), Choice("openvino", "f32")):
        check_earlier("dcnn", choice)
    for choice in (Choice("openvino", "bf16"), Choice("cuda", "int8"), Choice("abacus", "f32")):
        with pytest.raises(
            UsageError, match=f"'dcnn' was run by {choice} in the earlier run, which is not to be had here"
        ):
            check_earlier("dcnn", choice)


def test_files_of_8_bits_are_told_by_their_operators(tmp_path: Path) -> None:
    assert stored_precision(bundled("camvid", "dcnn.onnx")) == "f32"
    assert stored_precision(bundled("camvid", "dcnn_large.onnx")) == "int8"
    assert stored_precision(save_mixer(tmp_path / "net.onnx", np.eye(3, dtype=np.float32))) == "f32"
    assert stored_precision(tmp_path / "none.onnx") == "f32"


def test_openvino_says_nothing_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from budgetseg.networks.backends import openvino

    def gone() -> None:
        raise ImportError("No module named 'openvino'")

    monkeypatch.setattr(openvino, "_core", gone)
    assert OpenVino().precisions() == ()
