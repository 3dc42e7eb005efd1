"""Other programs read the labels that are written for them."""

import contextlib
import io
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pycocotools.coco import COCO

from budgetseg.app.export import formats
from budgetseg.app.export.formats import CITYSCAPES_IDS, SYNONYMS, export, voc_palette
from budgetseg.app.export.run import FinishedRun, read_run
from budgetseg.datasets.camvid_classes import CLASSES
from budgetseg.errors import UsageError
from budgetseg.video import read_index_png, read_label_pngs

# Its compiled part is older than the numpy here.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")


def named(run: FinishedRun, *names: str) -> FinishedRun:
    return replace(run, trace=replace(run.trace, model=replace(run.trace.model, classes=names)))


def test_png_keeps_the_indices_and_has_the_palette_of_voc(street_run: Path, tmp_path: Path) -> None:
    export(street_run, "png", tmp_path / "out")
    assert np.array_equal(read_label_pngs(tmp_path / "out"), read_label_pngs(street_run / "100%" / "labels"))
    assert voc_palette().tobytes() in (tmp_path / "out" / "000000.png").read_bytes()
    assert voc_palette()[[15, 255]].tolist() == [[192, 128, 128], [224, 224, 192]]  # a person, and void


def test_a_budget_can_be_chosen(street_run: Path, tmp_path: Path) -> None:
    export(street_run, "png", tmp_path / "out", "5%")
    assert np.array_equal(read_label_pngs(tmp_path / "out"), read_label_pngs(street_run / "5%" / "labels"))
    with pytest.raises(UsageError, match="no budget '7s'"):
        export(street_run, "png", tmp_path / "other", "7s")
    assert not (tmp_path / "other").exists()


def test_cityscapes_ids_go_by_name(street_run: Path, tmp_path: Path) -> None:
    (note,) = export(street_run, "cityscapes", tmp_path / "out") or ["none"]
    names = read_run(street_run).classes.names
    known = [CITYSCAPES_IDS.get(SYNONYMS.get(name, name)) for name in names]
    table = np.array([one or 0 for one in known])
    labels = read_index_png(street_run / "100%" / "labels" / "000004.png")
    assert np.array_equal(read_index_png(tmp_path / "out" / "000004_labelIds.png"), table[labels])
    assert all((name in note) == (one is None) for name, one in zip(names, known, strict=True))


def test_camvid_has_a_cityscapes_id_for_every_class() -> None:
    ids = [CITYSCAPES_IDS[SYNONYMS.get(name, name)] for name in CLASSES.names]
    assert ids == [23, 11, 17, 7, 8, 21, 20, 13, 26, 24, 25]


def test_classes_that_cityscapes_does_not_know_are_refused(
    street_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "read_run", lambda folder: named(read_run(folder), *"abcdefgh"))
    with pytest.raises(UsageError, match=r"none of the classes a, b, .* is one of Cityscapes"):
        export(street_run, "cityscapes", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_coco_reads_every_label_back(street_run: Path, tmp_path: Path) -> None:
    export(street_run, "coco", tmp_path / "out")
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(tmp_path / "out" / "annotations.json"))
    true = read_label_pngs(street_run / "100%" / "labels")
    names = read_run(street_run).classes.names
    assert [one["name"] for one in coco.loadCats(coco.getCatIds())] == list(names)
    for image, labels in zip(coco.loadImgs(coco.getImgIds()), true, strict=True):
        found = np.full(labels.shape, 255, np.uint8)
        for one in coco.loadAnns(coco.getAnnIds(image["id"])):
            mask = coco.annToMask(one).astype(bool)
            found[mask] = one["category_id"] - 1
            left, top, width, height = one["bbox"]
            assert one["area"] == mask.sum() == mask[top : top + height, left : left + width].sum()
        assert np.array_equal(found, labels)


def test_several_runs_get_a_folder_each(street_run: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(street_run, tmp_path / "runs" / name)
    export(tmp_path / "runs", "coco", tmp_path / "out")
    assert sorted(path.parent.name for path in (tmp_path / "out").rglob("annotations.json")) == ["one", "two"]


def test_what_cannot_be_exported_is_refused(street_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no format 'gif'; choose from png, cityscapes, coco"):
        export(street_run, "gif", tmp_path / "out")
    with pytest.raises(UsageError, match="holds no labelled video"):
        export(tmp_path, "png", tmp_path / "out")
