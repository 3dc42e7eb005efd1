"""`budgetseg export` as a user calls it."""

from collections.abc import Callable
from pathlib import Path


def test_a_folder_without_labels_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "holds no labelled video" in refused("export", tmp_path, "--format", "coco", "-o", tmp_path / "out")
    assert not list(tmp_path.iterdir())
    assert "no format 'gif'" in refused("export", tmp_path, "--format", "gif")
