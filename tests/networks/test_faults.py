"""What onnxruntime says of a file is told in words, with what to do."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from budgetseg.networks.faults import fault_of, line_of
from tests.networks.models import DOUBLE, save_mixer, save_operator, tensor

SAME = np.eye(3, dtype=np.float32)


def fault(path: Path) -> str:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    with pytest.raises(Exception, match="ONNXRuntimeError") as caught:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"], enable_fallback=False)
    line = fault_of(caught.value)
    assert "\n" not in line
    assert "onnxruntime::" not in line
    return line


def stamped(path: Path, opset: int = 17, ir_version: int = 9) -> Path:
    """A network of another version of ONNX."""
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [tensor("x")], [tensor("y")])
    opsets = [helper.make_opsetid("", opset)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=ir_version), str(path))
    return path


def test_a_file_of_another_kind_is_no_network(tmp_path: Path) -> None:
    for content in (b"", b"a text", bytes(1000)):
        (tmp_path / "net.onnx").write_bytes(content)
        assert fault(tmp_path / "net.onnx") == "is no ONNX file, or is damaged; export it, or fetch it, again"


def test_an_operator_that_is_missing_is_named(tmp_path: Path) -> None:
    assert fault(save_operator(tmp_path / "net.onnx", "Frobnicate")).startswith(
        "needs the operator 'Frobnicate', which"
    )
    node = helper.make_node("Frobnicate", ["x"], ["y"], domain="my.ops")
    graph = helper.make_graph([node], "g", [tensor("x")], [tensor("y")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.ops", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(tmp_path / "net.onnx"))
    assert "needs the operator 'my.ops:Frobnicate', which" in fault(tmp_path / "net.onnx")


def test_weights_that_were_left_behind_are_named(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME)
    onnx.save(onnx.load(path), str(path), save_as_external_data=True, location="net.weights", size_threshold=0)
    (tmp_path / "net.weights").unlink()
    assert fault(path) == "has its weights in 'net.weights', which is not there; put it beside the ONNX file"


def test_weights_that_are_cut_short_are_told(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME)
    onnx.save(onnx.load(path), str(path), save_as_external_data=True, location="net.weights", size_threshold=0)
    (tmp_path / "net.weights").write_bytes(b"short")
    assert fault(path) == "has its weights in another file, which is too short; copy it again, beside the ONNX file"


@pytest.mark.parametrize(("version", "what"), [({"opset": 99}, "an opset"), ({"ir_version": 99}, "an IR version")])
def test_a_file_of_a_newer_onnx_says_what_is_known(tmp_path: Path, version: dict[str, int], what: str) -> None:
    line = fault(stamped(tmp_path / "net.onnx", **version))
    assert line.startswith("was written by a newer ONNX than onnxruntime knows; ")
    assert f"{what} of at most " in line


def test_a_type_that_an_operator_does_not_have_is_told(tmp_path: Path) -> None:
    inputs = [tensor(name, DOUBLE) for name in ("x", "w")]
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"])], "g", inputs, [tensor("y", DOUBLE, None)])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(tmp_path / "net.onnx")
    )
    assert fault(tmp_path / "net.onnx").endswith("export it in float32")


def test_what_nobody_has_foreseen_is_repeated_on_a_line_without_its_place_in_the_source() -> None:
    error = RuntimeError(
        "[ONNXRuntimeError] : 1 : FAIL : Load model from net.onnx failed:/src/core/graph.cc:12 void Graph::Look(int)\n"
        "Something is odd. "
    )
    assert line_of(error) == "Something is odd"
    assert fault_of(error) == "is no network that onnxruntime can run (Something is odd); export it again"
