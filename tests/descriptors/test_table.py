"""A video's table on disk: whole, memory-mapped, or refused in one line."""

import json
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from budgetseg.descriptors.table import Costs, VideoTable, read_settings, read_table, write_table
from budgetseg.errors import DatasetError
from budgetseg.supervoxels import neighbourhood_graph

LENGTHS = {"colour": 5, "hof": 3}
KINDS = {"flow": 3, "tracks": 4}


def make_costs(seed: int, n: int = 9) -> Costs:
    """Each descriptor of n supervoxels needs none to all of the resources."""
    rng = np.random.default_rng(seed)
    n_resources = sum(KINDS.values())
    counts = rng.integers(0, n_resources + 1, n * len(LENGTHS))
    needed = [rng.permutation(n_resources)[:count] for count in counts]
    return Costs(
        private_s=rng.random((n, len(LENGTHS))),
        resource_s=rng.random(n_resources),
        first=np.cumsum([0, *counts], dtype=np.int64),
        needed=np.concatenate(needed).astype(np.int32),
        kinds=KINDS,
    )


def make_table(settings: dict[str, object] | None = None) -> VideoTable:
    rng = np.random.default_rng(0)
    graph = neighbourhood_graph(np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    values = {name: rng.random((24, length), np.float32) for name, length in LENGTHS.items()}
    truth = rng.integers(0, 99, (24, 4))
    return VideoTable("street", 2, graph, truth, values, make_costs(0, 24), settings or {"tier": "fast"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table on disk."""
    write_table(make_table(), tmp_path / "train" / "street")
    return tmp_path / "train" / "street"


def assert_same_arrays(one: object, other: object) -> None:
    for field in fields(one):  # type: ignore[arg-type]  # any dataclass
        left, right = getattr(one, field.name), getattr(other, field.name)
        assert np.array_equal(left, right), field.name
        assert getattr(left, "dtype", None) == getattr(right, "dtype", None), field.name


def test_what_was_written_is_read(folder: Path) -> None:
    table, again = make_table(), read_table(folder)
    assert (again.name, again.n_frames, again.settings) == (table.name, table.n_frames, table.settings)
    assert_same_arrays(again.graph, table.graph)
    assert_same_arrays(again.costs, table.costs)
    assert np.array_equal(again.truth, table.truth)
    assert list(again.values) == list(table.values)
    for name, values in table.values.items():
        assert np.array_equal(again.values[name], values)
        assert again.values[name].dtype == np.float32


def test_values_are_mapped_and_cannot_be_changed_by_accident(folder: Path) -> None:
    for values in read_table(folder).values.values():
        assert isinstance(values, np.memmap)
        assert not values.flags.writeable


def test_a_table_that_could_not_be_finished_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_table(make_table({"tier": object()}), tmp_path / "street")
    assert not list(tmp_path.iterdir())


def test_settings_are_told_without_the_rest(folder: Path) -> None:
    for file in folder.glob("*.np[yz]"):
        file.unlink()
    assert read_settings(folder) == {"tier": "fast"}


def test_a_folder_without_a_table_has_no_settings_and_cannot_be_read(tmp_path: Path) -> None:
    assert read_settings(tmp_path) is None
    with pytest.raises(DatasetError, match=f"^{tmp_path}: no table; 'budgetseg describe' makes one$"):
        read_table(tmp_path)


FILES = ["graph.npz", "costs.npz", "truth.npy", "values/hof.npy", "video.json"]


def refused(folder: Path) -> str:
    """The line that reading a table ends with."""
    with pytest.raises(DatasetError) as error:
        read_table(folder)
    assert len(str(error.value).splitlines()) == 1
    assert str(folder) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", ["cut", "empty", "other"])
def test_a_damaged_file_is_refused_in_one_line(folder: Path, file: str, damage: str) -> None:
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "other": b"text" * 100}[damage])
    assert refused(folder).endswith("; delete the folder and describe again")


@pytest.mark.parametrize("file", FILES[:-1])
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert file in refused(folder)


@pytest.mark.parametrize("file", ["graph.npz", "costs.npz"])
def test_a_missing_field_is_named(folder: Path, file: str) -> None:
    with np.load(folder / file) as stored:
        name, *others = stored
        np.savez(folder / file, **{other: stored[other] for other in others})
    assert name in refused(folder)


def edit_card(folder: Path, **changes: object) -> None:
    card = json.loads((folder / "video.json").read_text())
    (folder / "video.json").write_text(json.dumps(card | changes))


@pytest.mark.parametrize(
    "change", [{"name": 3}, {"n_frames": "2"}, {"settings": []}, {"descriptors": ["hof"]}], ids=str
)
def test_a_card_of_another_shape_is_refused(folder: Path, change: dict[str, object]) -> None:
    edit_card(folder, **change)
    assert "video.json: damaged" in refused(folder)
    with pytest.raises(DatasetError):
        read_settings(folder)


@pytest.mark.parametrize("text", ["{}", "[]", "null", '{"format": 2}'])
def test_a_card_that_lacks_things_is_refused(folder: Path, text: str) -> None:
    (folder / "video.json").write_text(text)
    assert "video.json: damaged" in refused(folder)


def test_another_format_is_refused(folder: Path) -> None:
    edit_card(folder, format=99)
    assert "format 99, not 2; delete the folder and describe again" in refused(folder)


def test_values_of_another_shape_than_announced_are_refused(folder: Path) -> None:
    np.save(folder / "values" / "hof.npy", np.zeros((23, 3), np.float32))
    assert "hof.npy does not have the shape in video.json" in refused(folder)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("columns", [[0], [1], [0, 1], [1, 0]])
def test_descriptors_of_a_whole_video_pay_each_resource_once(seed: int, columns: list[int]) -> None:
    costs = make_costs(seed)
    expected_s, paid = 0.0, set()
    for d in columns:
        for region, private_s in enumerate(costs.private_s[:, d]):
            expected_s += private_s
            cell = region * len(LENGTHS) + d
            for resource in costs.needed[costs.first[cell] : costs.first[cell + 1]]:
                expected_s += 0 if resource in paid else costs.resource_s[resource]
                paid.add(resource)
    assert costs.full_s(columns) == pytest.approx(expected_s)


def test_a_descriptor_without_resources_costs_its_private_seconds() -> None:
    nothing = np.zeros(3, np.int64), np.zeros(0, np.int32)
    costs = Costs(np.array([[1.0], [2.0]]), np.zeros(0), *nothing, kinds={})
    assert costs.full_s([0]) == pytest.approx(3.0)


@pytest.mark.parametrize("columns", [[0], [1], [1, 0], [0, 1], []])
def test_costs_of_some_descriptors_are_in_the_order_asked_for(columns: list[int]) -> None:
    costs, d = make_costs(1), len(LENGTHS)
    own = costs.take(columns)
    assert own.private_s.shape == (9, len(columns))
    assert own.private_s.flags.c_contiguous
    for region in range(9):
        for at, column in enumerate(columns):
            cell, before = region * len(columns) + at, region * d + column
            needed = costs.needed[costs.first[before] : costs.first[before + 1]]
            assert np.array_equal(own.needed[own.first[cell] : own.first[cell + 1]], needed)
            assert own.private_s[region, at] == costs.private_s[region, column]
    assert own.first.dtype == np.int64
    assert own.needed.dtype == np.int32
    assert np.array_equal(own.resource_s, costs.resource_s)
