"""Labels in the formats of other programs: the table of formats, and how they are written."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from budgetseg.app.export.coco import write_coco
from budgetseg.app.export.cvat import write_cvat
from budgetseg.app.export.fiftyone import write_fiftyone
from budgetseg.app.export.huggingface import write_huggingface
from budgetseg.app.export.indexed import write_cityscapes, write_png
from budgetseg.app.export.labelled import Advance, Labelled
from budgetseg.app.export.run import FinishedRun, find_runs, read_run
from budgetseg.app.export.zarr import write_zarr
from budgetseg.app.trace import span_of
from budgetseg.app.videos import open_counted
from budgetseg.errors import UsageError
from budgetseg.files import atomic_folder
from budgetseg.video import VideoSource

__all__ = ["FORMATS", "Format", "export"]

RESTORED = (
    "images are restored from overlay.mp4, with less detail, and grey under its legend; give --video for the originals"
)


@dataclass(frozen=True)
class Format:
    """A format that labels are written in.

    Attributes
    ----------
    write : writes a run at one budget to a folder; returns notes for the user
    purpose : what it is for, in a line
    has_images : whether frames are written beside the labels
    """

    write: Callable[[Labelled, Path, Advance], list[str]]
    purpose: str
    has_images: bool = False


FORMATS: dict[str, Format] = {
    "png": Format(write_png, "pictures of class indices with the palette of VOC and DAVIS, for evaluation scripts"),
    "cityscapes": Format(write_cityscapes, "pictures of Cityscapes label ids, for its evaluation"),
    "coco": Format(write_coco, "JSON with RLE masks, and images, for pycocotools and most training code", True),
    "cvat": Format(write_cvat, "ZIP 'Segmentation mask 1.1', to correct labels in CVAT, least sure frames first", True),
    "fiftyone": Format(write_fiftyone, "dataset to look at and search in FiftyOne, with confidence of frames", True),
    "huggingface": Format(write_huggingface, "folder for datasets.load_dataset, to train on or to share", True),
    "zarr": Format(write_zarr, "one array of labels in chunks of a frame, for NumPy, Dask and Xarray"),
}
"""Formats by name."""


def export(
    folder: Path,
    form: str,
    output: Path,
    budget: str | None = None,
    advance: Advance = lambda _: None,
    video: Path | None = None,
) -> list[str]:
    """Write the labels of all runs in a folder to `output`. Returns notes for the user.

    Parameters
    ----------
    folder : a run, or folders of runs
    form : a name in `FORMATS`
    output : a single run is written to this folder, several to folders of their names in it
    budget : name of the budget whose labels are written; None for the largest
    advance : called with 1 for each frame written
    video : the video that was labelled, for the images of a single run; None to restore them from the overlays
    """
    if form not in FORMATS:
        raise UsageError(f"no format '{form}'; choose from {', '.join(FORMATS)}")
    places = find_runs(folder)
    if not places:
        raise UsageError(f"'{folder}' holds no labelled video; give a folder that 'budgetseg label' wrote")
    if video is not None and len(places) > 1:
        raise UsageError(f"--video is for one run, and '{folder}' holds {len(places)}; give the folder of one of them")
    runs = [read_run(place) for place in places]
    source = None if video is None else _opened(video, runs[0])
    notes = [RESTORED] if FORMATS[form].has_images and video is None else []
    with atomic_folder(output) as part:
        for run in runs:
            target = part if len(runs) == 1 else part / run.folder.relative_to(folder)
            target.mkdir(parents=True, exist_ok=True)
            notes += FORMATS[form].write(Labelled(run, budget or run.budgets[-1], source), target, advance)
    return list(dict.fromkeys(notes))


def _opened(video: Path, run: FinishedRun) -> VideoSource:
    """The frames of a video that a run labelled; UsageError if it is another video."""
    source = open_counted(video, span_of(run.trace))
    run.trace.video.check(source)
    return source
