"""Whether promises hold: the interval against the truth, on labelled videos that were left out whole.

Usage: python -m benchmarks.promises DATA WORK [reported]

DATA holds camvid/, suny/, clips/ and film/. Each video of CamVid's training sequences and of SUNY's training halves is
promised something by a calibration from the other videos of its dataset. Networks have not seen the video (CamVid) or
the part of it (SUNY). Each is tried as it is and in other light, blur, noise and colour, at several budgets. Printed:
the share of runs whose interval holds the truth, the share that is in domain, and the width of intervals there. Then,
what the bundled model says of unlabelled film. With `reported`, CamVid's dense run and SUNY's test halves are judged by
the bundled networks, with calibrations from all training videos.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import budgetseg
from benchmarks.calibrate import examples_for, labelled
from benchmarks.cases import Case, plain_cases
from benchmarks.key_frames import CLIPS
from budgetseg.engine.promise import Promise
from budgetseg.learning.calibrate import Example, calibrate
from budgetseg.learning.disturb import Disturbance
from budgetseg.learning.promises import Rehearsals, examples_of
from budgetseg.spaces.frames.calibration import Calibration
from budgetseg.types import IGNORE, Bool, Float64
from budgetseg.video import open_video

Judged = tuple[Example, Promise]
DATASETS = ("camvid", "suny")
FILM = (*CLIPS, "film/motorway_720p.mp4")
MOST = 80
"""Frames of a film."""


def left_out(examples: Sequence[Example]) -> list[Judged]:
    """Each run with what a calibration from the other videos promises."""
    found: list[Judged] = []
    for video in dict.fromkeys(example.video for example in examples):
        learned = calibrate([example for example in examples if example.video != video])
        assert learned is not None
        found += promised(learned, [example for example in examples if example.video == video])
    return found


def promised(learned: Calibration, examples: Sequence[Example]) -> list[Judged]:
    """Each run with what is promised of it."""
    return [(example, learned.promise(example.signs)) for example in examples]


def show(name: str, judged: Sequence[Judged]) -> None:
    """Print a line about some runs."""
    ends = np.array([(own.low or 0.0, own.high or 0.0) for _, own in judged])
    truth = np.array([example.accuracy for example, _ in judged])
    error = 100 * np.abs(truth - [own.accuracy for _, own in judged])
    is_usual = np.array([own.in_domain is True for _, own in judged])
    is_plain = np.array([example.is_plain for example, _ in judged])
    holds = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    width = 100 * (ends[:, 1] - ends[:, 0])

    plain = is_usual & is_plain
    figures = [
        100 * _mean(holds),
        100 * _mean(holds[is_usual]),
        100 * _mean(holds[~is_usual]),
        100 * _mean(is_usual),
        100 * _mean(is_usual[is_plain]),
        _median(width[is_usual]),
        _median(width[plain]),
        _median(error[is_usual]),
        _median(error[plain]),
    ]
    print(f"| {name:20s} | {len(judged):4d} |", " | ".join(f"{value:5.1f}" for value in figures), "|", flush=True)


def _mean(values: Bool) -> float:
    return float(values.mean()) if len(values) else np.nan


def _median(values: Float64) -> float:
    return float(np.median(values)) if len(values) else np.nan


def head() -> None:
    """Print the titles of the table."""
    print("| video | runs | holds | in domain | out | share in domain | plain | width | plain | error | plain |")


def films(data: Path, learned: Calibration) -> None:
    """Print what is promised of film without labels, by the small network of the bundled model."""
    case = plain_cases(data, "camvid")[0]
    own = Rehearsals(disturbances=(Disturbance(),))
    for name in FILM:
        frames = []
        for frame in open_video(data / name):
            frames.append(frame.pixels)
            if len(frames) == MOST:
                break
        whole = np.stack(frames)
        nothing = np.full(whole.shape[:3], IGNORE, np.uint8)
        bundled = [Path(budgetseg.__file__).parent / "models" / "camvid" / "networks" / "dcnn.onnx"] * len(whole)
        film = Case(name, "film", "camvid", whole, nothing, {"dcnn": bundled}, case.shares, 25.0)
        for _, promise in promised(learned, examples_of(labelled(film), case.shares, own)):
            print(name, promise.in_words("camvid"))


def main(data: Path, work: Path, is_reported: bool) -> None:
    """Print the check."""
    head()
    training = {dataset: examples_for(data, dataset, work) for dataset in DATASETS}
    for examples in training.values():
        judged = left_out(examples)
        for video in dict.fromkeys(example.video for example in examples):
            show(video, [pair for pair in judged if pair[0].video == video])
        show("all", judged)
    show("all of both", [pair for examples in training.values() for pair in left_out(examples)])
    learned = {dataset: calibrate(examples) for dataset, examples in training.items()}
    for dataset, own in learned.items():
        assert own is not None
        if is_reported:
            show(f"{dataset}, reported", promised(own, examples_for(data, dataset, work, reported=True)))
    assert learned["camvid"] is not None
    films(data, learned["camvid"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "reported" in sys.argv[3:])
