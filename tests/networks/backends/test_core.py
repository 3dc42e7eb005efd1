"""The contract of a back end: every one that is installed passes the same tests."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from budgetseg.errors import ModelError
from budgetseg.models import bundled
from budgetseg.networks.backends.core import F32, BackEnd, Port, Setup
from budgetseg.networks.backends.registry import BACKENDS
from budgetseg.timing.clock import ManualClock
from budgetseg.timing.deadline import LateError, cutting_off
from tests.networks.models import FLOAT, SHAPE, save_mixer, save_model, save_operator, tensor

MIX = np.array([[1, 2, 3], [0, 0, -1], [4, 0, 0], [-1, 5, 1]], np.float32)
OPEN = (1, 3, "height", "width")


@pytest.fixture(params=["onnxruntime", "openvino"])
def backend(request: pytest.FixtureRequest) -> BackEnd:
    found = BACKENDS[request.param]
    if found.version() is None:
        pytest.skip(f"'{request.param}' is not installed")
    return found


def image(seed: int = 0, shape: tuple[int, ...] = SHAPE) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_a_network_says_what_goes_in_and_out(backend: BackEnd, tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
    outputs = [tensor("y"), tensor("z")]
    session = backend.open(save_model(tmp_path / "net.onnx", nodes, [tensor("x")], outputs), Setup())
    assert [list(port.shape) for port in session.inputs] == [list(SHAPE)]
    assert session.inputs[0] == Port("x", "tensor(float)", session.inputs[0].shape)
    assert [port.name for port in session.outputs] == ["y", "z"]


def test_sides_that_are_left_open_are_no_numbers(backend: BackEnd, tmp_path: Path) -> None:
    (port,) = backend.open(save_mixer(tmp_path / "net.onnx", MIX, OPEN), Setup()).inputs
    assert list(port.shape[:2]) == [1, 3]
    assert not any(isinstance(side, int) for side in port.shape[2:])


def test_texts_of_the_file_are_read(backend: BackEnd, tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", MIX)
    model = onnx.load(str(path))
    helper.set_model_props(model, {"names": "road,sky"})
    onnx.save(model, str(path))
    assert backend.open(path, Setup()).metadata["names"] == "road,sky"


def test_the_answer_is_that_of_the_arithmetic(backend: BackEnd, tmp_path: Path) -> None:
    session = backend.open(save_mixer(tmp_path / "net.onnx", MIX), Setup())
    frame = image()
    (answer,) = session.new_run()(frame)
    assert np.allclose(answer, np.einsum("lc,bchw->blhw", MIX, frame), atol=1e-4)


def test_one_output_or_all_of_them(backend: BackEnd, tmp_path: Path) -> None:
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x")], [tensor("y"), tensor("z")])
    session, frame = backend.open(path, Setup()), image()
    both = session.new_run()(frame)
    assert np.array_equal(both[0], frame)
    assert np.array_equal(both[1], -frame)
    (second,) = session.new_run("z")(frame)
    assert np.array_equal(second, -frame)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(TensorProto.FLOAT16, "float16"), (TensorProto.DOUBLE, "double"), (TensorProto.UINT8, "uint8")],
)
def test_frames_of_any_type(backend: BackEnd, tmp_path: Path, kind: int, name: str) -> None:
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=FLOAT)]
    path = save_model(tmp_path / "net.onnx", nodes, [tensor("x", kind)], [tensor("y")])
    session = backend.open(path, Setup())
    assert session.inputs[0].type == f"tensor({name})"
    frame = np.arange(np.prod(SHAPE)).reshape(SHAPE).astype(helper.tensor_dtype_to_np_dtype(kind))
    assert np.array_equal(session.new_run()(frame)[0], frame.astype(np.float32))


def test_weights_may_be_stored_as_half(backend: BackEnd, tmp_path: Path) -> None:
    halves = numpy_helper.from_array(MIX[:, :, None, None].astype(np.float16), "half")
    nodes = [
        helper.make_node("Cast", ["half"], ["weights"], to=FLOAT),
        helper.make_node("Conv", ["x", "weights"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "network", [tensor("x")], [tensor("y", shape=None)], [halves])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    (answer,) = backend.open(path, Setup()).new_run()(image())
    assert np.allclose(answer, np.einsum("lc,bchw->blhw", MIX, image()), atol=1e-4)


def test_frames_of_several_sizes_in_turn(backend: BackEnd, tmp_path: Path) -> None:
    session = backend.open(save_mixer(tmp_path / "net.onnx", MIX, OPEN), Setup())
    for size in ((6, 8), (3, 5), (6, 8), (9, 2)):
        frame = image(shape=(1, 3, *size))
        (answer,) = session.new_run()(frame)
        assert np.allclose(answer, np.einsum("lc,bchw->blhw", MIX, frame), atol=1e-4)


@pytest.mark.parametrize("streams", [1, 2])
def test_every_thread_gets_its_own_answer_and_keeps_it(backend: BackEnd, tmp_path: Path, streams: int) -> None:
    session = backend.open(save_mixer(tmp_path / "net.onnx", MIX), Setup(streams=streams))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda seed: session.new_run()(image(seed))[0], range(40)))
    for seed, answer in enumerate(answers):
        assert np.allclose(answer, np.einsum("lc,bchw->blhw", MIX, image(seed)), atol=1e-4)


def test_a_run_that_is_cut_off_before_it_begins_does_not_begin(backend: BackEnd, tmp_path: Path) -> None:
    session = backend.open(save_mixer(tmp_path / "net.onnx", MIX), Setup())
    run = session.new_run()
    run.cut_off()
    with pytest.raises(LateError):
        run(image())
    assert session.new_run()(image())[0].shape == (1, 4, 6, 8)


def test_a_run_that_is_cut_off_ends_and_others_do_not(backend: BackEnd) -> None:
    session = backend.open(bundled("camvid", "dcnn_large.onnx"), Setup(streams=2))
    assert session.can_cut_off
    frame = image(shape=(1, 3, 360, 480))
    before = session.new_run()(frame)[0]
    other: list[object] = []
    for _ in range(3):
        run, beside = session.new_run(), session.new_run()
        thread = threading.Thread(target=lambda own=beside: other.append(own(frame)[0]))
        thread.start()
        with cutting_off([run], lambda: 0.0, ManualClock()), pytest.raises(LateError):
            run(frame)
        thread.join()
    run.cut_off()  # it is over
    assert all(np.array_equal(answer, before) for answer in (*other, session.new_run()(frame)[0]))


def test_what_cannot_be_opened_is_refused_in_a_line(backend: BackEnd, tmp_path: Path) -> None:
    broken = tmp_path / "net.onnx"
    broken.write_bytes(save_mixer(tmp_path / "whole.onnx", MIX).read_bytes()[:-9])
    for path in (broken, save_operator(tmp_path / "other.onnx", "Frobnicate"), tmp_path / "none.onnx"):
        with pytest.raises(ModelError) as caught:
            backend.open(path, Setup())
        line = str(caught.value)
        assert line.startswith(f"{path}: ")
        assert "\n" not in line
        assert "; " in line


def test_the_reference_precision_comes_first(backend: BackEnd) -> None:
    assert backend.precisions()[0] == F32


def test_frames_that_do_not_fit_are_an_error_of_one_line(backend: BackEnd, tmp_path: Path) -> None:
    session = backend.open(save_mixer(tmp_path / "net.onnx", MIX), Setup())
    with pytest.raises(Exception) as caught:  # noqa: PT011  # errors of back ends have no common base
        session.new_run()(image(shape=(1, 3, 5, 4)))
    assert "\n" not in str(caught.value)
    assert session.new_run()(image())[0].shape == (1, 4, 6, 8)
