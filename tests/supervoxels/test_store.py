"""Ids and graphs on disk."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.supervoxels import neighbourhood_graph
from budgetseg.supervoxels.store import IdsWriter, ids_to_rgb, write_graph
from budgetseg.types import Int32


@pytest.fixture
def ids() -> Int32:
    return np.random.default_rng(0).integers(0, 70_000, (5, 7, 9)).astype(np.int32)


def test_ids_written_in_pieces_load_as_one_array(ids: Int32, tmp_path: Path) -> None:
    with IdsWriter(tmp_path / "ids.npz", (5, 7, 9)) as writer:
        writer.write(ids[:2])
        writer.write(ids[2:])
    with np.load(tmp_path / "ids.npz") as stored:
        assert np.array_equal(stored["ids"], ids)
        assert stored["ids"].dtype == np.int32


def test_fewer_frames_than_announced_are_refused(ids: Int32, tmp_path: Path) -> None:
    with (
        pytest.raises(VideoError, match="announced 5 frames but gave 3"),
        IdsWriter(tmp_path / "ids.npz", (5, 7, 9)) as writer,
    ):
        writer.write(ids[:3])


def test_an_error_on_the_way_is_not_hidden_by_the_missing_frames(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), IdsWriter(tmp_path / "ids.npz", (5, 7, 9)):
        raise ZeroDivisionError


def test_colours_tell_every_id(ids: Int32) -> None:
    assert np.array_equal(ids_to_rgb(ids[0]).astype(np.int32) @ [1, 256, 65536], ids[0])


def test_a_stored_graph_is_whole(tmp_path: Path) -> None:
    graph = neighbourhood_graph(np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    write_graph(tmp_path / "graph.npz", graph)
    with np.load(tmp_path / "graph.npz") as stored:
        assert sorted(stored) == ["bins", "boxes", "centroids", "contact", "edges", "key_frames", "sizes"]
        assert np.array_equal(stored["edges"], graph.edges)


def test_a_full_disk_is_reported_once(tmp_path: Path) -> None:
    code = f"""
import resource, signal
import numpy as np
import subprocess
import sys
from pathlib import Path
from budgetseg.supervoxels.store import IdsWriter
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
noise = np.random.default_rng(0).integers(0, 2**31, (4, 64, 64)).astype(np.int32)
try:
    with IdsWriter(Path({str(tmp_path)!r}) / "ids.npz", noise.shape) as writer:
        writer.write(noise)
except OSError as error:
    print("refused:", error.strerror)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("refused: File too large\n", "")
