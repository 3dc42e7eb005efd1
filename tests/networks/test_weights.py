"""Files with the weights of a network are found by what the ONNX file says."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from budgetseg.networks.weights import weight_files
from tests.networks.models import save_mixer

SAME = np.eye(3, dtype=np.float32)


@pytest.mark.parametrize("name", ["net.onnx.data", "net.onnx_data", "weights.bin", "a" * 127])
def test_files_of_any_name_are_found(tmp_path: Path, name: str) -> None:
    path = save_mixer(tmp_path / "net.onnx", SAME)
    assert weight_files(path) == []
    onnx.save(onnx.load(path), str(path), save_as_external_data=True, location=name, size_threshold=0)
    assert weight_files(path) == [tmp_path / name]


def test_files_that_are_not_there_and_paths_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(
        b"".join(b"\n\x08location\x12" + bytes([len(place)]) + place for place in (b"gone", b"../net.onnx", b"", b".."))
    )
    assert weight_files(tmp_path / "net.onnx") == []
