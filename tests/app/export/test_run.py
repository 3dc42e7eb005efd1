"""A run is read back as it was written."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from budgetseg.app.export.run import find_runs, read_run
from budgetseg.app.model import LoadedModel
from budgetseg.errors import UsageError
from tests.app.streets import N_FRAMES


def test_budgets_classes_and_descriptors_are_those_of_the_run(street_run: Path, loaded: LoadedModel) -> None:
    run = read_run(street_run)
    assert run.budgets == ["5%", "100%"]
    assert run.classes.names == loaded.classes.names
    assert np.array_equal(run.classes.colours, loaded.classes.colours)
    assert list(run.descriptors) == ["colour", "hog"]
    assert len(run.label_files("5%")) == N_FRAMES
    assert run.ledger("5%")["spent_s"] < run.ledger("100%")["spent_s"]


def test_runs_are_found_in_a_folder_and_below(street_run: Path, tmp_path: Path) -> None:
    for name in ("b", "a", "deep/er"):
        shutil.copytree(street_run, tmp_path / name)
    assert find_runs(street_run) == [street_run]
    assert find_runs(tmp_path) == [tmp_path / name for name in ("a", "b", "deep/er")]


def test_what_is_missing_is_one_line(street_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no budget '3s' in .*; choose from 5%, 100%"):
        read_run(street_run).place("3s")
    shutil.copytree(street_run, tmp_path / "out")
    (tmp_path / "out" / "100%" / "labels" / "000003.png").unlink()
    with pytest.raises(UsageError, match=f"has {N_FRAMES - 1} label files for {N_FRAMES} frames"):
        read_run(tmp_path / "out")


def test_a_run_names_its_classes_though_its_model_is_gone(street_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(street_run, folder)
    trace = json.loads((folder / "trace.json").read_text())
    (folder / "trace.json").write_text(json.dumps(trace | {"model": trace["model"] | {"place": "gone", "digest": ""}}))
    assert read_run(folder).classes.names == read_run(street_run).classes.names
