"""What the descriptors are made of, chosen on the training halves of SUNY: patches, agreed frames, flow, colour bins.

Usage: python -m benchmarks.choose_descriptors DATA, where DATA holds suny/ and camvid/.

Every training half is cut into four blocks of time with supervoxels of their own; a plain classifier is trained on
three of them and tested on the fourth, in turn. Figures are global accuracy / class average, means over the blocks.
The price of a flow is CPU time on frames of CamVid's held-out training sequence, 480x360.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import cv2
import numpy as np

from benchmarks.descriptor_subsets import evaluate
from budgetseg.datasets import open_dataset
from budgetseg.descriptors import colour
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.hog import Hog
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.motion import tracks
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.supervoxels import segment
from budgetseg.supervoxels.truth import count_labels
from budgetseg.timing.clock import process_s
from budgetseg.types import Float32, Int64, UInt8

Block = tuple[int, Scene, Int64]
Values = list[dict[str, Float32]]
FlowMaker = Callable[[UInt8, UInt8], Float32]
N_BLOCKS = 4
STRENGTHS = (1.0, 10.0, 100.0)


def main(data: Path) -> None:
    """Print a line per variant."""
    cv2.setNumThreads(1)
    blocks = _blocks(data / "suny")
    frames = open_dataset("camvid", data / "camvid").videos("selection")[0].video().frames[:11]
    usual = _values(blocks, ("colour", "hog"))
    print("patches: hog | colour + hog | hof | mbh | all four")
    whole = _merged(usual, _values(blocks, ("hof", "mbh")))
    sets: Sequence[tuple[str, ...]] = (("hog",), ("colour", "hog"), ("hof",), ("mbh",), ("colour", "hog", "hof", "mbh"))
    print(f"small and large ones side by side: {_line(blocks, whole, sets)}", flush=True)
    print(f"their mean: {_line(blocks, [_halves_pooled(values) for values in whole], sets)}", flush=True)
    print("agreed frames: hog | colour + hog")
    for least in (3, 2, 1):
        with patch.object(Hog, "least", least):
            values = _merged(usual, _values(blocks, ("hog",)))
        print(f"at least {least}: {_line(blocks, values, (('hog',), ('colour', 'hog')))}", flush=True)
    print("flow, ms a pair: hof | mbh | hog + hof + mbh | all four")
    for name, make in _flows().items():
        with patch.object(tracks, "optical_flow", make):
            motion = _merged(usual, _values(blocks, ("hof", "mbh")))
        sets = (("hof",), ("mbh",), ("hog", "hof", "mbh"), ("colour", "hog", "hof", "mbh"))
        print(f"{name}, {_price_ms(make, frames):.1f}: {_line(blocks, motion, sets)}", flush=True)
    print("colour bins L x a x b, strongest chroma: colour | colour + hog")
    for n_light, n_chroma, strong, even in ((8, 8, 48, 0), (8, 8, 64, 0), (8, 7, 48, 0), (6, 9, 64, 0), (8, 8, 40, 1)):
        table = _colour_bins(n_light, n_chroma, strong, bool(even))
        with patch.object(colour, "_bin_of_rgb", lambda table=table: table):
            values = _merged(usual, _values(blocks, ("colour",)))
        what = f"{n_light}x{n_chroma}x{n_chroma}, {strong}{', evenly spaced' if even else ''}"
        print(f"{what}: {_line(blocks, values, (('colour',), ('colour', 'hog')))}", flush=True)


def _blocks(root: Path) -> list[Block]:
    dataset = open_dataset("suny", root)
    blocks = []
    for video in dataset.videos("train"):
        frames, labels = video.video().frames, video.labels()
        for k in range(N_BLOCKS):
            part = slice(len(frames) * k // N_BLOCKS, len(frames) * (k + 1) // N_BLOCKS)
            supervoxels = segment(frames[part], 25 * len(frames[part]))
            truth = count_labels(supervoxels.ids, labels[part], len(dataset.classes))
            blocks.append((k, Scene.of(frames[part], supervoxels), truth))
    return blocks


def _halves_pooled(values: dict[str, Float32]) -> dict[str, Float32]:
    """With the mean of small and large patches in place of both."""
    return {
        name: own if name == "colour" else own.reshape(len(own), 2, -1).mean(axis=1) for name, own in values.items()
    }


def _values(blocks: Sequence[Block], names: tuple[str, ...]) -> Values:
    return [measure(scene, open_descriptors(names))[0] for _, scene, _ in blocks]


def _merged(first: Values, second: Values) -> Values:
    return [{**one, **other} for one, other in zip(first, second, strict=True)]


def _line(blocks: Sequence[Block], values: Values, sets: Sequence[tuple[str, ...]]) -> str:
    return " | ".join("{:.1f} / {:.1f}".format(*_accuracy(blocks, values, names)) for names in sets)


def _accuracy(blocks: Sequence[Block], values: Values, names: tuple[str, ...]) -> tuple[float, float]:
    """Global accuracy and class average at the best strength of regularisation."""
    scores = []
    for strength in STRENGTHS:
        found = []
        for held in range(N_BLOCKS):
            train, test = (_pooled(blocks, values, names, partial(keep, held)) for keep in (int.__ne__, int.__eq__))
            hits, truth = evaluate(train, test, strength, 0.0), test[1].sum(axis=0)
            found.append((hits.sum() / truth.sum(), (hits / np.maximum(truth, 1))[truth > 0].mean()))
        scores.append(tuple(100 * np.mean(found, axis=0)))
    best = max(scores, key=sum)
    return float(best[0]), float(best[1])


def _pooled(
    blocks: Sequence[Block], values: Values, names: tuple[str, ...], keep: Callable[[int], bool]
) -> tuple[list[Float32], Int64]:
    kept = [index for index, (block, _, _) in enumerate(blocks) if keep(block)]
    pooled = [np.concatenate([values[index][name] for index in kept]) for name in names]
    return pooled, np.concatenate([blocks[index][2] for index in kept])


def _flows() -> dict[str, FlowMaker]:
    from budgetseg.video.flow import flow_reduction, optical_flow

    def by(estimate: Callable[[UInt8, UInt8], Float32], full: bool) -> FlowMaker:
        def make(first: UInt8, second: UInt8) -> Float32:
            height, width = first.shape[:2]
            reduce = flow_reduction(height, width)
            size = -(-width // reduce), -(-height // reduce)
            grey = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in (first, second)]
            if not full:
                grey = [cv2.resize(frame, size, interpolation=cv2.INTER_AREA) for frame in grey]
            flow = estimate(grey[0], grey[1])  # type: ignore[arg-type]
            smooth = [cv2.medianBlur(np.ascontiguousarray(flow[..., k]), 3) for k in (0, 1)]
            sized = [cv2.resize(one, size, interpolation=cv2.INTER_AREA) for one in smooth]
            return np.stack(sized, axis=2).astype(np.float32) * np.float32(1 if full else reduce)

        return make

    def dis(preset: int, scale: int) -> Callable[[UInt8, UInt8], Float32]:
        estimator = cv2.DISOpticalFlow.create(preset)
        estimator.setFinestScale(scale)
        return lambda first, second: estimator.calc(first, second, None)  # type: ignore[call-overload]

    def farneback(first: UInt8, second: UInt8) -> Float32:
        flow: Float32 = cv2.calcOpticalFlowFarneback(first, second, None, 0.5, 3, 15, 3, 5, 1.2, 0)  # type: ignore[call-overload]
        return flow

    return {
        "DIS ultrafast, reduced (as shipped)": optical_flow,
        "DIS ultrafast, finest, reduced": by(dis(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST, 0), full=False),
        "DIS medium, reduced": by(dis(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM, 1), full=False),
        "DIS medium, full size": by(dis(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM, 1), full=True),
        "Farneback, reduced": by(farneback, full=False),
        "Farneback, full size": by(farneback, full=True),
    }


def _price_ms(make: FlowMaker, frames: UInt8) -> float:
    make(frames[0], frames[1])
    began_s = process_s()
    for first, second in pairwise(frames):
        make(first, second)
    return 1e3 * (process_s() - began_s) / (len(frames) - 1)


def _colour_bins(n_light: int, n_chroma: int, strong: float, even: bool) -> Int64:
    """Bin of every colour, as in the descriptor, with other numbers."""
    levels = (np.arange(32, dtype=np.float32) + 0.5) * 8 / 255
    rgb = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(1, -1, 3)
    light, *chroma = cv2.cvtColor(rgb, cv2.COLOR_RGB2LAB)[0].T
    shares = [c / strong if even else np.sign(c) * np.sqrt(np.abs(c) / strong) for c in chroma]
    places = [light / 100 * n_light, *((share + 1) / 2 * n_chroma for share in shares)]
    bins = [
        np.clip(place.astype(int), 0, n - 1) for place, n in zip(places, (n_light, n_chroma, n_chroma), strict=True)
    ]
    return np.asarray((bins[0] * n_chroma + bins[1]) * n_chroma + bins[2], np.uint16)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
