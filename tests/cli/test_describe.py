"""`budgetseg describe`, as a user meets it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.descriptors.table import read_table
from tests.descriptors.streets import write_streets


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_streets(tmp_path_factory.mktemp("streets"))


def test_the_help_teaches_the_command() -> None:
    result = CliRunner().invoke(app, ["describe", "--help"], env={"COLUMNS": "200"})
    text = " ".join(result.stdout.split())
    assert result.exit_code == 0
    for option in (
        "--root",
        "--output",
        "--split",
        "--networks",
        "--descriptors",
        "--per-frame",
        "--tier",
        "--threads",
    ):
        assert option in text
    assert "[default: (train)]" in text
    assert "No network runs on a frame that it was trained on" in text
    assert "the same command continues with the videos that are missing" in text


def test_a_dataset_is_described_from_end_to_end_and_again_in_no_time(root: Path, tmp_path: Path) -> None:
    words = ["describe", "folder", "--root", str(root), "-o", str(tmp_path / "out"), "--descriptors", "colour, hog"]
    words += ["--split", "val", "--split", "fit", "--per-frame", "10", "--tier", "fast", "--threads", "2"]
    for _ in range(2):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0
        assert result.stdout == f"Videos described: 3, in {tmp_path / 'out'}\n"
    tables = [read_table(folder) for folder in sorted((tmp_path / "out").glob("*/*"))]
    assert [table.name for table in tables] == ["a", "b", "d"]
    assert all(tuple(table.values) == ("colour", "hog") for table in tables)
    assert all(table.settings["tier"] == "fast" for table in tables)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--descriptors", "colour,hoof"], "no descriptor 'hoof'; choose from colour, hog, hof, mbh"),
        (["--networks", "nowhere"], "no folder 'nowhere' of networks; 'budgetseg train-network' makes one"),
        (["--split", "holidays"], "no split 'holidays'"),
        (["--tier", "best"], "no supervoxel tier 'best'; choose from"),
        (["--per-frame", "0"], "see budgetseg describe --help"),
        (["--threads", "0"], "see budgetseg describe --help"),
        (["--root", "nowhere"], "nowhere"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_leaves_nothing(
    root: Path, tmp_path: Path, refused: Callable[..., str], words: list[str], line: str
) -> None:
    found = refused("describe", "folder", "--root", root, "-o", tmp_path / "out", *words)
    assert found.startswith("budgetseg: ")
    assert line in found
    assert not list(tmp_path.iterdir())


def test_a_dataset_must_be_named(refused: Callable[..., str]) -> None:
    assert "missing argument 'dataset'" in refused("describe").lower()
    assert "no dataset 'kitti'; choose from" in refused("describe", "kitti")
