"""What a run knew comes back as it was."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.app.state import (
    FIELDS,
    GRAPH,
    STATE,
    check_memory,
    read_confidence,
    read_state,
    write_confidence,
    write_state,
)
from budgetseg.datasets.synthetic import render
from budgetseg.errors import UsageError
from budgetseg.spaces.regions.evidence import WindowMemory
from budgetseg.supervoxels import segment


def made(seed: int) -> WindowMemory:
    rng = np.random.default_rng(seed)
    supervoxels = segment(render(seed, 5, (64, 48))[0].frames, 30, "fast")
    n = len(supervoxels)
    subsets = rng.integers(0, 4, n).astype(np.int32)
    probabilities = rng.random((n, 3), np.float32) * (subsets > 0)[:, None]  # nothing is known without descriptors
    return WindowMemory(supervoxels, subsets, probabilities, rng.random((n, 7), np.float32))


def test_windows_come_back_as_they_were(tmp_path: Path) -> None:
    windows = [made(seed) for seed in range(12)]  # more than ten: their order is that of numbers, not of letters
    write_state(tmp_path / STATE, windows)
    for known, found in zip(windows, read_state(tmp_path), strict=True):
        assert np.array_equal(known.supervoxels.ids, found.supervoxels.ids)
        assert found.supervoxels.ids.dtype == np.int32
        for name in GRAPH:
            before, after = getattr(known.supervoxels.graph, name), getattr(found.supervoxels.graph, name)
            assert np.array_equal(before, after), name
            assert before.dtype == after.dtype
        for name in FIELDS:
            assert np.array_equal(getattr(known, name), getattr(found, name)), name


def changed(memory: WindowMemory, name: str, value: float, at: int = 0) -> WindowMemory:
    """The memory of a window with one value of one array replaced."""
    graph = memory.supervoxels.graph
    array = getattr(graph if name in GRAPH else memory, name).copy()
    array.flat[at] = value
    if name not in GRAPH:
        return replace(memory, **{name: array})
    return replace(memory, supervoxels=replace(memory.supervoxels, graph=replace(graph, **{name: array})))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("edges", 100_000_000),
        ("edges", -1),
        ("bins", 255),
        ("sizes", 0),
        ("sizes", -5),
        ("contact", -1),
        ("centroids", np.nan),
        ("centroids", 1e30),
        ("boxes", -3),
        ("boxes", 1000),
        ("subsets", -1),
        ("inputs", np.inf),
    ],
)
def test_a_state_that_would_crash_compiled_code_is_refused(tmp_path: Path, name: str, value: float) -> None:
    write_state(tmp_path / STATE, [changed(made(0), name, value)])
    with pytest.raises(UsageError, match=r"state.npz' cannot be used .*; label the video again"):
        read_state(tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 3.0])
def test_probabilities_that_are_none_are_refused_where_they_count(tmp_path: Path, value: float) -> None:
    memory = made(0)
    known = int(np.flatnonzero(memory.subsets)[0]) * memory.probabilities.shape[1]
    write_state(tmp_path / STATE, [changed(memory, "probabilities", value, known)])
    with pytest.raises(UsageError, match="cannot be used"):
        read_state(tmp_path)


def test_a_state_of_another_model_or_window_does_not_fit() -> None:
    memory = made(0)
    check_memory(memory, (5, 48, 64), 4, 3, 7)
    for shape, n_subsets, n_labels, n_inputs in (
        ((6, 48, 64), 4, 3, 7),
        ((5, 48, 64), 2, 3, 7),
        ((5, 48, 64), 4, 4, 7),
        ((5, 48, 64), 4, 3, 8),
    ):
        with pytest.raises(ValueError, match=r"in place of|from 0 to"):
            check_memory(memory, shape, n_subsets, n_labels, n_inputs)
    with pytest.raises(ValueError, match="from 0 to"):
        check_memory(changed(memory, "subsets", 1 << 30), (5, 48, 64), 4, 3, 7)


def test_confidence_of_whole_frames_comes_back_as_it_was(tmp_path: Path) -> None:
    windows = [np.stack([np.full((n, 2, 3), k, np.uint8) for k in range(4)]) for n in (5, 2)]
    write_confidence(tmp_path / STATE, windows)
    assert all(np.array_equal(own, found) for own, found in zip(windows, read_confidence(tmp_path), strict=True))
    write_state(tmp_path / STATE, [made(0)])
    with pytest.raises(UsageError, match="cannot be used"):
        read_confidence(tmp_path)


def test_a_run_that_came_to_nothing_has_no_windows(tmp_path: Path) -> None:
    write_state(tmp_path / STATE, [])
    assert read_state(tmp_path) == []


def test_a_damaged_state_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"state.npz' cannot be used .*; label the video again"):
        read_state(tmp_path)
    write_state(tmp_path / STATE, [made(0)])
    whole = (tmp_path / STATE).read_bytes()
    for damaged in (b"", b"text", whole[: len(whole) // 2], whole[:2000] + b"xxxx" + whole[2004:]):
        (tmp_path / STATE).write_bytes(damaged)
        with pytest.raises(UsageError, match=r"state.npz' cannot be used"):
            read_state(tmp_path)
