"""The bench of back ends: a row for each network, number of threads, back end and precision."""

from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import ModelError
from budgetseg.evaluation.bench_backends import bench_backends, frames_of, networks_of
from budgetseg.networks.backends.registry import BACKENDS
from tests.networks.models import noise, save_mixer


def test_rows_name_every_back_end_the_reference_first(tmp_path: Path) -> None:
    path = save_mixer(tmp_path / "net.onnx", np.eye(3, dtype=np.float32), (1, 3, "height", "width"))
    done: list[int] = []
    rows = bench_backends(
        networks_of("camvid", [path]), [noise(40, 60, seed) for seed in range(3)], [1, 2], done.append
    )
    assert [row["threads"] for row in rows if row["backend"] == "onnxruntime"] == [1, 2]
    assert {row["backend"] for row in rows} == {name for name, own in BACKENDS.items() if own.precisions()}
    assert rows[0]["agreement"] == 1
    assert all(float(row["ms"] or 0) > 0 for row in rows)
    assert done == [1, 1]


def test_a_back_end_that_does_not_run_has_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BACKENDS["openvino"], "version", lambda: "2026")
    monkeypatch.setattr(BACKENDS["openvino"], "precisions", lambda: ("f32",))
    monkeypatch.setattr(BACKENDS["openvino"], "open", lambda *_: 1 / 0)
    path = save_mixer(tmp_path / "net.onnx", np.eye(3, dtype=np.float32))
    first, second = bench_backends(networks_of("camvid", [path]), [noise(6, 8)], [1])
    assert first["ms"] is not None
    assert (second["backend"], second["ms"], second["agreement"]) == ("openvino", None, None)


def test_networks_are_those_of_a_model_or_of_files() -> None:
    assert "dcnn" in networks_of("camvid", [])
    with pytest.raises(ModelError, match="no model 'moon'"):
        networks_of("moon", [])


def test_frames_are_those_of_a_street_where_there_is_no_data() -> None:
    frames = frames_of(None, 2)
    assert [frame.shape for frame in frames] == [(360, 480, 3)] * 2
