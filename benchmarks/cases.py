"""Labelled videos for judging decisions about frames: videos of datasets, and composites of them with cuts.

Selection data are SUNY's training halves and CamVid's training sequences, by fold networks that have not seen them.
Reported data are SUNY's test halves and CamVid's dense run, by the bundled networks. Each composite has pieces of
videos of one dataset, so that all have the same classes.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np

import budgetseg
from benchmarks.composites import assemble, draw
from budgetseg.datasets import open_dataset
from budgetseg.evaluation.consistency import trusted_origins
from budgetseg.networks.seen import stand_ins
from budgetseg.types import IGNORE, Float32, UInt8

__all__ = ["COMPOSITE", "STEADY", "Case", "composite_cases", "plain_cases", "stored"]

STEADY, APART, COMPOSITE = "steady", "second apart", "composite"
"""Kinds of videos: film, frames a second apart, and pieces of either with cuts and changes of speed."""

FOLDS = Path(__file__).parent / "networks"
SIZES = {"suny": (240, 160), "camvid": (480, 360)}
"""Width and height of composites: the usual ones of the dataset."""
SPLITS = {"suny": ("train", "test"), "camvid": ("train", "val")}
"""Splits for choosing and for reporting."""
LEAST_FRAMES = 20
"""Shorter videos are left out."""
APART_RATE = 5.0
"""Frames a second below which film is no film."""


@dataclass(frozen=True, eq=False)
class Case:
    """A video with labels on all of its T frames, and the networks that may be asked about it.

    Attributes
    ----------
    name, kind : of the video
    dataset : that it is from
    frames, truth : (T, H, W, 3) and (T, H, W)
    networks : by name, the file that may be asked about each frame
    shares : (L,) share of each class in the training pixels
    rate : frames a second
    files : the frames as images; empty for composites
    """

    name: str
    kind: str
    dataset: str
    frames: UInt8
    truth: UInt8
    networks: Mapping[str, Sequence[Path]]
    shares: Float32
    rate: float
    files: Sequence[Path] = ()


def plain_cases(data: Path, dataset: str, reported: bool = False) -> list[Case]:
    """The videos of a dataset. DATA holds camvid/ and suny/."""
    opened = open_dataset(dataset, data / dataset)
    own = Path(budgetseg.__file__).parent / "models" / dataset / "networks"
    training = np.concatenate([video.labels().ravel() for video in opened.videos("train")])
    counts = np.bincount(training[training != IGNORE], minlength=len(opened.classes))
    shares = (counts / counts.sum()).astype(np.float32)
    cases = []
    for video in opened.videos(SPLITS[dataset][reported]):
        if video.n_frames < LEAST_FRAMES:
            continue
        whole = video.video()
        networks = _bundled(own, video.n_frames) if reported else {"dcnn": _unseeing(own, dataset, whole.frames)}
        rate = 1 / float(np.median(np.diff(whole.times_s)))
        kind = STEADY if rate > APART_RATE else APART
        files = [Path(source) for source in video.sources()]
        cases.append(Case(video.name, kind, dataset, whole.frames, video.labels(), networks, shares, rate, files))
    return cases


def _bundled(folder: Path, n_frames: int) -> dict[str, list[Path]]:
    return {file.stem: [file] * n_frames for file in sorted(folder.glob("*.onnx"))}


def _unseeing(folder: Path, dataset: str, frames: UInt8) -> list[Path]:
    """For each training frame, the fold network that has not seen it."""
    with TemporaryDirectory() as work:
        both = Path(work)
        shutil.copytree(folder, both, dirs_exist_ok=True)
        shutil.copytree(FOLDS / dataset, both, dirs_exist_ok=True)
        found = stand_ins(both, "dcnn", frames)
    return [folder / "dcnn.onnx" if path is None else FOLDS / dataset / path.parent.name / path.name for path in found]


def composite_cases(cases: Sequence[Case], seeds: Sequence[int]) -> Iterator[Case]:
    """Composites of the videos of one dataset."""
    known = {case.name: case for case in cases}
    size = SIZES[cases[0].dataset]
    for seed in seeds:
        pieces = draw({name: len(case.frames) for name, case in known.items()}, seed)
        frames = assemble(pieces, {name: case.frames for name, case in known.items()}, size, nearest=False)
        truth = assemble(pieces, {name: case.truth for name, case in known.items()}, size, nearest=True)
        networks = {
            network: [known[piece.source].networks[network][number] for piece in pieces for number in piece.frames]
            for network in cases[0].networks
        }
        name = f"{cases[0].dataset}-composite-{seed}"
        yield Case(name, COMPOSITE, cases[0].dataset, frames, truth, networks, cases[0].shares, 25.0)


def stored(case: Case, folder: Path, threads: int) -> Path:
    """Write a case to a folder, for processes that label it; case.json comes last.

    `truth.npy` and `origins.npy` (as of `trusted_origins`) are what labels are judged by.
    """
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "truth.npy", case.truth)
    np.save(folder / "origins.npy", trusted_origins(case.frames, threads))
    files = [folder / f"{t:05d}.png" for t in range(len(case.frames))]
    if case.files:
        files = list(case.files)
    else:
        for file, frame in zip(files, case.frames, strict=True):
            cv2.imwrite(str(file), cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    height, width = case.frames.shape[1:3]
    card = {
        "name": case.name,
        "kind": case.kind,
        "dataset": case.dataset,
        "files": [str(file.resolve()) for file in files],
        "size": [width, height],
        "rate": case.rate,
        "shares": case.shares.tolist(),
        "networks": {name: [str(path.resolve()) for path in paths] for name, paths in case.networks.items()},
    }
    (folder / "case.json").write_text(json.dumps(card) + "\n")
    return folder
