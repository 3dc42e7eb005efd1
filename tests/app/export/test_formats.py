"""Other programs read the labels that are written for them."""

import contextlib
import csv
import io
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from PIL import Image
from pycocotools.coco import COCO

from budgetseg.app.export import formats
from budgetseg.app.export.formats import export
from budgetseg.app.export.indexed import CITYSCAPES_IDS, SYNONYMS, voc_palette
from budgetseg.app.export.labelled import Labelled
from budgetseg.app.export.run import FinishedRun, read_run
from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.model import LoadedModel
from budgetseg.datasets.camvid_classes import CLASSES
from budgetseg.engine.request import Request
from budgetseg.engine.trace import WindowTrace
from budgetseg.errors import UsageError
from budgetseg.types import Budget
from budgetseg.video import open_video, read_image, read_index_png, read_label_pngs
from tests.app.streets import N_FRAMES, write_street

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
    with pytest.raises(UsageError, match="no format 'gif'; choose from png, cityscapes, coco, cvat"):
        export(street_run, "gif", tmp_path / "out")
    with pytest.raises(UsageError, match="holds no labelled video"):
        export(tmp_path, "png", tmp_path / "out")


def test_coco_has_the_images_that_it_names(street_run: Path, street: Path, tmp_path: Path) -> None:
    assert export(street_run, "coco", tmp_path / "out", video=street) == []
    document = json.loads((tmp_path / "out" / "annotations.json").read_text())
    for image, frame in zip(document["images"], open_video(street), strict=True):
        found = read_image(tmp_path / "out" / "images" / image["file_name"])
        assert found.shape == (image["height"], image["width"], 3)
        assert np.abs(found.astype(int) - frame.pixels).mean() < 4  # of JPEG


def test_images_are_restored_from_the_overlay_where_there_is_no_video(
    street_run: Path, street: Path, tmp_path: Path
) -> None:
    (note,) = export(street_run, "coco", tmp_path / "out")
    assert "restored from overlay.mp4" in note
    (first, *_) = open_video(street)
    found = read_image(tmp_path / "out" / "images" / "000000.jpg")
    assert np.abs(found.astype(int) - first.pixels)[: len(found) // 2].mean() < 12


def test_another_video_is_refused(street_run: Path, tmp_path: Path) -> None:
    other = write_street(tmp_path / "other.mp4", seed=3)
    with pytest.raises(UsageError, match="is not the video of the earlier run"):
        export(street_run, "coco", tmp_path / "out", video=other)
    assert not (tmp_path / "out").exists()


def unzipped(folder: Path) -> Path:
    with ZipFile(folder / "annotations.zip") as archive:
        archive.extractall(folder / "unzipped")
    return folder / "unzipped"


def test_cvat_masks_have_the_colours_of_the_label_map(street_run: Path, tmp_path: Path) -> None:
    export(street_run, "cvat", tmp_path / "out")
    place = unzipped(tmp_path / "out")
    lines = (place / "labelmap.txt").read_text().splitlines()[1:]
    colours = {tuple(map(int, line.split(":")[1].split(","))): line.split(":")[0] for line in lines}
    names = read_run(street_run).classes.names
    assert list(colours.values()) == ["background", *names]
    truth = read_label_pngs(street_run / "100%" / "labels")
    for k, labels in enumerate(truth):
        with Image.open(place / "SegmentationClass" / f"{k:06d}.png") as mask:
            shown = np.array(mask.convert("RGB"))
        rows, columns = np.mgrid[: labels.shape[0] : 7, : labels.shape[1] : 7]
        for row, column in zip(rows.ravel(), columns.ravel(), strict=True):
            assert colours[tuple(shown[row, column].tolist())] == names[labels[row, column]]
        assert read_image(place / "JPEGImages" / f"{k:06d}.jpg").shape[:2] == labels.shape
    specified = json.loads((tmp_path / "out" / "labels.json").read_text())
    assert [label["name"] for label in specified] == list(names)


def test_cvat_lists_the_least_confident_frames_first(street_run: Path, tmp_path: Path) -> None:
    export(street_run, "cvat", tmp_path / "out")
    with (tmp_path / "out" / "review.csv").open() as file:
        rows = list(csv.DictReader(file))
    sure = [float(row["confidence"]) for row in rows]
    assert sure == sorted(sure)
    assert 0 < sure[0] < sure[-1] <= 1
    assert sorted(int(row["frame"]) for row in rows) == list(range(N_FRAMES))
    listed = (unzipped(tmp_path / "out") / "ImageSets/Segmentation/default.txt").read_text().split()
    assert listed == [row["name"] for row in rows]


def test_confidence_of_frames_is_that_of_the_result(seeing: LoadedModel, street: Path, tmp_path: Path) -> None:
    order = Order([street], Request((Budget(0.3), Budget(math.inf))), output=tmp_path / "out")
    Labeller(seeing).run(order, order.task())
    run = read_run(tmp_path / "out")
    for budget, result in zip(run.budgets, seeing.label(street, [0.3, math.inf]), strict=True):
        found = Labelled(run, budget).confidence()
        assert found.shape == (N_FRAMES,)
        assert np.allclose(found, result.confidence.mean(axis=(1, 2)), atol=0.03)


def test_frames_of_a_window_without_supervoxels_have_no_confidence(street_run: Path) -> None:
    run = read_run(street_run)
    empty = WindowTrace(3, (), (2, 3), 0, [], [])
    mark = replace(run.trace.video, n_frames=N_FRAMES + 3)
    longer = replace(run, trace=replace(run.trace, video=mark, windows=[empty, *run.trace.windows]))
    found = Labelled(longer, "100%").confidence()
    assert found[:3].tolist() == [0, 0, 0]
    assert np.array_equal(found[3:], Labelled(run, "100%").confidence())
    assert found[3:].min() > 0


def test_fiftyone_has_a_sample_with_image_and_mask_for_each_frame(street_run: Path, tmp_path: Path) -> None:
    """The program reads this; it is too heavy to be a dependency, so that its fields are checked one by one."""
    export(street_run, "fiftyone", tmp_path / "out")
    metadata = json.loads((tmp_path / "out" / "metadata.json").read_text())
    assert metadata["media_type"] == "image"
    targets = {int(value): name for value, name in metadata["info"]["default_mask_targets"].items()}
    assert targets == dict(enumerate(read_run(street_run).classes.names, 1))
    samples = json.loads((tmp_path / "out" / "samples.json").read_text())["samples"]
    for sample, labels in zip(samples, read_label_pngs(street_run / "100%" / "labels"), strict=True):
        assert sample["prediction"]["_cls"] == "Segmentation"
        with Image.open(tmp_path / "out" / sample["prediction"]["mask_path"]) as mask:
            assert mask.mode == "L"  # the colours of a palette would be taken for the mask
            assert np.array_equal(np.array(mask), labels + 1)
        assert read_image(tmp_path / "out" / sample["filepath"]).shape[:2] == labels.shape
        assert 0 <= sample["confidence"] <= 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the program itself
def test_datasets_loads_images_masks_and_confidence(
    street_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    export(street_run, "huggingface", tmp_path / "out")
    found = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    truth = read_label_pngs(street_run / "100%" / "labels")
    for row, labels in zip(found, truth, strict=True):
        assert np.array_equal(np.array(row["mask"]), labels)
        assert row["image"].size == labels.shape[::-1]
        assert 0 <= row["confidence"] <= 1
        assert np.array_equal(truth[row["frame"]], labels)
    names = json.loads((tmp_path / "out" / "classes.json").read_text())
    assert list(names.values()) == list(read_run(street_run).classes.names)


def test_zarr_reads_the_labels(street_run: Path, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    export(street_run, "zarr", tmp_path / "out")
    array = zarr.open(str(tmp_path / "out" / "labels.zarr"), mode="r")["labels"]
    assert np.array_equal(array[:], read_label_pngs(street_run / "100%" / "labels"))
    assert array.attrs["classes"] == list(read_run(street_run).classes.names)
    assert len(array.attrs["confidence"]) == N_FRAMES


def test_every_format_says_what_it_is_for() -> None:
    assert len({own.purpose for own in formats.FORMATS.values()}) == len(formats.FORMATS)
