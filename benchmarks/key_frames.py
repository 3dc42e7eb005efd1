"""Where key frames are placed, in simulation: the engine over recorded answers of a network, at so many key frames.

Usage: python -m benchmarks.key_frames DATA [SEEDS]

DATA holds camvid/, suny/, clips/ and film/. Nothing here is reported data: SUNY's training halves (labels, fold
networks), CamVid's training sequences a second apart (likewise), unlabelled film and composites of it (truth: the
dearest bundled network on every frame). Printed: mean IoU by key frames for each 100 frames, for every kind of video.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import budgetseg
from benchmarks.composites import assemble, draw
from budgetseg.datasets import open_dataset
from budgetseg.engine.request import Request
from budgetseg.engine.run import run
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.seen import stand_ins
from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.paint import paint
from budgetseg.propagate.timeline import Distances
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import CostClock
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes, Float32, UInt8
from budgetseg.video import VideoSource, open_video
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

Float16 = NDArray[np.float16]

PER_HUNDRED = (2, 4, 8, 16, 32)
CLIPS = ("clips/bikes.mp4", "clips/carphone_pristine.mp4", "film/motorway.mp4", "film/car_park.mp4", "film/person.mp4")
NETWORKS = Path(__file__).parent / "networks"
PRIOR = 1


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


class Recorded:
    """A network whose answers (T, h, w, L) for frames (T, H, W, 3) are looked up."""

    def __init__(self, frames: UInt8, answers: Float16) -> None:
        self.shape = answers.shape[1:]
        self._answers = {_key(frame): answer for frame, answer in zip(frames, answers, strict=True)}

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L)."""
        answer: Float32 = self._answers[_key(frame)].astype(np.float32)
        return answer

    def cut_off(self) -> None:
        """Nothing is ever under way."""


def _key(frame: UInt8) -> int:
    return hash(np.ascontiguousarray(frame[::5, ::5]).tobytes())


def answers_of(network: OnnxNetwork, frames: UInt8) -> Float16:
    """Probabilities of every frame, (T, h, w, L), in half precision."""
    return np.stack([network(frame).astype(np.float16) for frame in frames])


def labelled_tables(data: Path, dataset: str) -> list[Table]:
    """Training videos with labels, by fold networks that have not seen them."""
    opened = open_dataset(dataset, data / dataset)
    found = []
    with TemporaryDirectory() as work:
        folder = Path(work)
        shutil.copytree(_root(dataset), folder, dirs_exist_ok=True)
        shutil.copytree(NETWORKS / dataset, folder, dirs_exist_ok=True)
        networks: dict[Path, OnnxNetwork] = {}
        for video in opened.videos("train"):
            frames = video.video().frames
            answers = []
            for frame, stand_in in zip(frames, stand_ins(folder, "dcnn", frames), strict=True):
                path = stand_in or folder / "dcnn.onnx"
                if path not in networks:
                    networks[path] = OnnxNetwork(read_card(path), 1)
                answers.append(networks[path](frame).astype(np.float16))
            kind, rate = ("second apart", 1.0) if dataset == "camvid" else ("suny", 25.0)
            if len(frames) >= 20:
                known = {"dcnn": np.stack(answers)}
                found.append(Table(video.name, kind, frames, video.labels(), known, len(opened.classes), rate))
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


def score(table: Table, network: str, n_keys: int, settings: FrameSettings) -> float:
    """Mean IoU of a run that may ask one network about so many frames, everything else being free."""
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
    return accuracy_of(confusion_of_pixels(table.truth, result.labels, table.n_labels)).miou


def compare(tables: Sequence[Table], ways: Mapping[str, FrameSettings]) -> None:
    """Print a table: the first way, and by how much the others differ from it."""
    kinds = sorted({table.kind for table in tables})
    found: dict[tuple[str, str], list[list[float]]] = {}
    for table in tables:
        network = "dcnn_large" if table.kind in ("film", "composite") else "dcnn"
        for way, settings in ways.items():
            row = [
                100 * score(table, network, max(1, round(share * len(table.frames) / 100)), settings)
                for share in PER_HUNDRED
            ]
            found.setdefault((table.kind, way), []).append(row)
            print(f"{table.name:20s} {way:20s}", " ".join(f"{value:6.1f}" for value in row), flush=True)
    print("\n| kind | way |", " | ".join(map(str, PER_HUNDRED)), "|")
    for kind in kinds:
        base = np.array(found[kind, next(iter(ways))])
        for k, way in enumerate(ways):
            own = np.array(found[kind, way])
            values = own.mean(axis=0) if k == 0 else (own - base).mean(axis=0)
            print(f"| {kind} | {way} |", " | ".join(f"{value:{'' if k == 0 else '+'}.1f}" for value in values), "|")


def ways() -> dict[str, FrameSettings]:
    """Even spread without cuts, and by coverage."""
    plain = FrameSettings()
    even = Distances(usual=1e9, least=1.0, cut=1e9)
    return {"even": replace(plain, distances=even), "coverage": plain}


def main(data: Path, seeds: Sequence[int]) -> None:
    """Print the comparison."""
    tables = [*labelled_tables(data, "suny"), *film_tables(data, seeds), *labelled_tables(data, "camvid")]
    compare(tables, ways())


if __name__ == "__main__":
    main(Path(sys.argv[1]), range(int(sys.argv[2]) if len(sys.argv) > 2 else 6))
