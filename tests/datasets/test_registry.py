"""Datasets by name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import budgetseg.datasets
from budgetseg.datasets import DATASETS, open_dataset
from budgetseg.errors import DatasetError, UsageError


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no dataset 'kitti'; choose from camvid, camvid-original, folder, mpi-scene, suny, synthetic"
    ):
        open_dataset("kitti", tmp_path)


@pytest.mark.parametrize("name", sorted(name for name, entry in DATASETS.items() if entry.needs_root))
def test_a_missing_root_is_named_with_the_layout_expected(name: str, tmp_path: Path) -> None:
    layout = re.escape(DATASETS[name].layout)
    with pytest.raises(DatasetError, match=f"nowhere: no such folder; give the root of {name}: {layout}"):
        open_dataset(name, tmp_path / "nowhere")
    with pytest.raises(UsageError, match=f"{name} needs --root DIR, the folder that holds {layout}"):
        open_dataset(name)


def test_an_unknown_split_lists_those_that_are_there(folder_root: Path) -> None:
    with pytest.raises(UsageError, match="folder has no split 'val'; choose from train, fit, selection, test"):
        open_dataset("folder", folder_root).videos("val")


def test_importing_the_datasets_loads_no_decoder() -> None:
    code = "import sys, budgetseg.datasets; sys.exit(bool({'cv2', 'av', 'numba'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_public_names_are_sorted_and_there() -> None:
    assert budgetseg.datasets.__all__ == sorted(budgetseg.datasets.__all__)
    assert all(hasattr(budgetseg.datasets, name) for name in budgetseg.datasets.__all__)


def test_nothing_is_read_before_it_is_asked_for(camvid_copy: Path) -> None:
    for file in camvid_copy.rglob("*.png"):
        file.write_bytes(b"")
    assert open_dataset("camvid", camvid_copy).videos("val")[0].n_frames == 3
