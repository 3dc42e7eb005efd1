"""Where key frames are placed, in simulation: the engine over recorded answers of a network, at so many key frames.

Usage: python -m benchmarks.key_frames DATA [SEEDS [oracle]]

DATA holds camvid/, suny/, clips/ and film/. Nothing here is reported data: SUNY's training halves and composites of
them (labels, fold networks), CamVid's training sequences a second apart (likewise), unlabelled film and composites of
it (truth: the dearest bundled network on every frame). Printed: mean IoU by key frames for each 100 frames, for every
kind of video. With `oracle`, on videos with labels: key frames spread evenly, those that `frames` chooses, and those
that the true labels choose (`budgetseg/baselines/oracle.py`), all carried alike.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

import budgetseg
from benchmarks import takes
from benchmarks.cases import composite_cases, plain_cases
from benchmarks.composites import assemble, draw
from benchmarks.takes import Float16, Recorded
from budgetseg.baselines.oracle import Scene, greedy_keys
from budgetseg.datasets import open_dataset
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import run
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.order import key_frames
from budgetseg.propagate.paint import paint
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.timing.clock import CostClock
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes, UInt8
from budgetseg.video import VideoSource, open_video
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

PER_HUNDRED = (2, 4, 8, 16, 32)
CLIPS = ("clips/bikes.mp4", "clips/carphone_pristine.mp4", "film/motorway.mp4", "film/car_park.mp4", "film/person.mp4")
Found = dict[tuple[str, str], list[list[float]]]
"""Rows of mean IoU by kind of video and way."""


@dataclass(frozen=True, eq=False)
class Table:
    """A video with everything that is known of it.

    Attributes
    ----------
    name, kind : of the video
    frames : (T, H, W, 3)
    truth : (T, H, W)
    answers : (T, h, w, L) of each network, in half precision
    n_labels : L
    rate : frames a second
    """

    name: str
    kind: str
    frames: UInt8
    truth: UInt8
    answers: Mapping[str, Float16]
    n_labels: int
    rate: float = 25.0


def answers_of(network: OnnxNetwork, frames: UInt8) -> Float16:
    """Probabilities of every frame, (T, h, w, L), in half precision."""
    return np.stack([network(frame).astype(np.float16) for frame in frames])


def labelled_tables(data: Path, dataset: str, seeds: Sequence[int] = ()) -> list[Table]:
    """Training videos with labels and composites of them, by fold networks that have not seen them."""
    networks: dict[Path, OnnxNetwork] = {}

    def ask(path: Path, frame: UInt8) -> Float16:
        if path not in networks:
            networks[path] = OnnxNetwork(read_card(path), 1)
        return networks[path](frame).astype(np.float16)

    cases = plain_cases(data, dataset)
    found = []
    for case in (*cases, *composite_cases(cases, seeds)):
        answers = {
            name: np.stack([ask(path, frame) for path, frame in zip(paths, case.frames, strict=True)])
            for name, paths in case.networks.items()
        }
        kind = f"{case.kind} {dataset}"
        found.append(Table(case.name, kind, case.frames, case.truth, answers, len(case.shares), case.rate))
    return found


def _root(name: str) -> Path:
    return Path(budgetseg.__file__).parent / "models" / name / "networks"


def film_frames(data: Path, most: int = 250) -> dict[str, UInt8]:
    """Frames of unlabelled film, and of SUNY's training halves."""
    found: dict[str, UInt8] = {}
    for name in CLIPS:
        source = open_video(data / name)
        frames = []
        for frame in source:
            frames.append(frame.pixels)
            if len(frames) == most:
                break
        found[Path(name).stem] = np.stack(frames)
    for video in open_dataset("suny", data / "suny").videos("train"):
        found[video.name] = video.video().frames
    return found


def film_tables(data: Path, seeds: Sequence[int]) -> list[Table]:
    """Film, and composites of it; truth is what the dearest network finds on every frame."""
    root = _root("camvid")
    small, large = (OnnxNetwork(read_card(root / f"{name}.onnx"), 1) for name in ("dcnn", "dcnn_large"))
    plain = film_frames(data)
    known = {
        name: {"dcnn": answers_of(small, own), "dcnn_large": answers_of(large, own)} for name, own in plain.items()
    }
    n_labels = large.shape[2]
    tables = []
    for name in (Path(clip).stem for clip in CLIPS):
        truth = painted(known[name]["dcnn_large"], plain[name].shape[1:3])
        tables.append(Table(name, "film", plain[name], truth, known[name], n_labels))
    for seed in seeds:
        pieces = draw({name: len(own) for name, own in plain.items()}, seed)
        frames = assemble(pieces, plain, (480, 360), nearest=False)
        answers = {
            network: np.concatenate([known[piece.source][network][list(piece.frames)] for piece in pieces])
            for network in ("dcnn", "dcnn_large")
        }
        truth = painted(answers["dcnn_large"], frames.shape[1:3])
        tables.append(Table(f"composite {seed}", "composite", frames, truth, answers, n_labels))
    return tables


def painted(answers: Float16, size: tuple[int, ...]) -> UInt8:
    """Labels (T, H, W) of a network on every frame."""
    labels = np.empty((len(answers), *size), np.uint8)
    for own, out in zip(answers, labels, strict=True):
        wide = np.ascontiguousarray(own, np.float32)
        paint(wide, top_classes(wide), out)
    return labels


def simulated(table: Table, network: str, n_keys: int, settings: FrameSettings) -> Result:
    """A run that may ask one network about so many frames, everything else being free."""
    recorded = Recorded(table.frames, table.answers[network])
    prices = Prices({f"frames {network}": 1.0}, frozen=True)
    shares = np.full(table.n_labels, 1 / table.n_labels, np.float32)
    margins = Margins(finish=1.0, action=1.0, share=0.0, seconds=0.0)
    space = Frames({network: recorded}, shares, prices, 1, margins, settings)
    clip = ArrayClip(table.frames, table.rate)
    video = VideoSource(clip, Span(), clip.size)
    classes = Classes(tuple(map(str, range(table.n_labels))), np.zeros((table.n_labels, 3), np.uint8))
    request = Request((Budget(n_keys + 0.5),), window=len(table.frames))
    (result,) = run(space, video, request, classes, CostClock())
    return result


def miou(table: Table, labels: UInt8) -> float:
    """Mean IoU in points."""
    return 100 * accuracy_of(confusion_of_pixels(table.truth, labels, table.n_labels)).miou


def counts_of(table: Table) -> list[int]:
    """Numbers of key frames: so many for each 100 frames."""
    return [max(1, round(share * len(table.frames) / 100)) for share in PER_HUNDRED]


def compare(tables: Sequence[Table], ways: Mapping[str, FrameSettings]) -> None:
    """Print a table: the first way, and by how much the others differ from it."""
    found: Found = {}
    for table in tables:
        network = list(table.answers)[-1]
        for way, settings in ways.items():
            labels = (simulated(table, network, n, settings).labels for n in counts_of(table))
            note(found, table, way, [miou(table, own) for own in labels])
    show(found, tuple(ways))


def opened(table: Table, stride: int) -> tuple[FrameState, list[int]]:
    """The state of a whole video of which some frames were read, with flow between them, and their numbers.

    Its only network is the dearest.
    """
    name = list(table.answers)[-1]
    return takes.opened(takes.Take(table.frames, {name: table.answers[name]}, table.rate), stride)


def placed(tables: Sequence[Table]) -> None:
    """Print a table: even key frames, those that `frames` chooses, and those of an oracle, all carried alike."""
    found: Found = {}
    for table in tables:
        state, _ = opened(table, 1)
        network = list(table.answers)[-1]
        counts = counts_of(table)
        n_frames = len(table.frames)
        order = greedy_keys(scene(table, state), counts[-1])
        chosen = {
            "even": [key_frames(n_frames, n) for n in counts],
            "frames": [keys_of(simulated(table, network, n, FrameSettings())) for n in counts],
            "oracle": [order[:n] for n in counts],
        }
        for way, keys in chosen.items():
            note(found, table, way, [miou(table, carried(table, state, own)) for own in keys])
    show(found, ("even", "frames", "oracle"))


def keys_of(result: Result) -> list[int]:
    """Frames that were asked about in the only window of a run."""
    (window,) = result.windows
    return [event.place for event in window.events]


def scene(table: Table, state: FrameState) -> Scene:
    """The video of an opened state for the oracle."""
    answers = np.ascontiguousarray(table.answers[list(table.answers)[-1]], np.float32)
    grey = np.stack([state.footage.grey(t) for t in range(len(answers))])
    size = answers.shape[2], answers.shape[1]
    truth = np.stack([cv2.resize(own, size, interpolation=cv2.INTER_NEAREST) for own in table.truth])
    return Scene(answers, grey, state.footage.steps(), state.timeline(), truth)


def predictions_of(table: Table, keys: Sequence[int]) -> dict[int, Prediction]:
    """Of the dearest network, by number of the frame."""
    answers = table.answers[list(table.answers)[-1]]
    return {key: Prediction.of(np.ascontiguousarray(answers[key], np.float32)) for key in keys}


def carried(table: Table, state: FrameState, keys: Sequence[int]) -> UInt8:
    """Labels (T, H, W) from these key frames, carried along flow."""
    state.predictions = [predictions_of(table, keys)]
    out: UInt8 = np.empty(table.truth.shape, np.uint8)
    state.finish(np.inf, out)
    return out


def note(found: Found, table: Table, way: str, row: list[float]) -> None:
    """Keep and print a row."""
    found.setdefault((table.kind, way), []).append(row)
    print(f"{table.name:20s} {way:20s}", " ".join(f"{value:6.1f}" for value in row), flush=True)


def show(found: Found, ways: Sequence[str]) -> None:
    """Print the means of each kind of video: the first way, and by how much the others differ from it."""
    print("\n| kind | way |", " | ".join(map(str, PER_HUNDRED)), "|")
    for kind in sorted({kind for kind, _ in found}):
        base = np.array(found[kind, ways[0]])
        for k, way in enumerate(ways):
            own = np.array(found[kind, way])
            values = own.mean(axis=0) if k == 0 else (own - base).mean(axis=0)
            print(f"| {kind} | {way} |", " | ".join(f"{value:{'' if k == 0 else '+'}.1f}" for value in values), "|")


def ways() -> dict[str, FrameSettings]:
    """Even spread without cuts, and by what changes."""
    plain = FrameSettings()
    return {"even": replace(plain, distances=replace(plain.distances, even=True)), "frames": plain}


def main(data: Path, seeds: Sequence[int], with_oracle: bool) -> None:
    """Print the comparison."""
    labelled = [*labelled_tables(data, "suny", seeds), *labelled_tables(data, "camvid")]
    if with_oracle:
        placed(labelled)
    else:
        compare([*labelled, *film_tables(data, seeds)], ways())


if __name__ == "__main__":
    main(Path(sys.argv[1]), range(int(sys.argv[2]) if len(sys.argv) > 2 else 6), "oracle" in sys.argv[3:])
