"""Flow from the decoder's motion vectors against DIS: how well labels are carried, and what it costs.

Usage: python -m benchmarks.motion_vectors DATA [N_FRAMES]

DATA holds clips/ and film/, H.264 of ordinary quality. Of each film, the first N_FRAMES (100) are read. Labels of the
small bundled network are carried from every key frame to the frames after it, over gaps of 1 to 8 frames, and compared
with what the network gives there. Printed, in per cent: agreement with the frame's own labels for plain copies, for DIS
and for motion vectors; then milliseconds a frame of either flow on one thread, and of decoding for it.

A motion vector tells from which block of another frame a block was predicted. The file does not say which other frame:
it is taken to be the nearest on that side that B frames may refer to. Blocks without a vector have those around them.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

import budgetseg
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.propagate.cells import reduced, step_flow
from budgetseg.propagate.chains import chains_to
from budgetseg.propagate.settings import Propagation
from budgetseg.timing.clock import thread_s
from budgetseg.types import Float32, UInt8

FILMS = ("clips/bikes.mp4", "clips/carphone_pristine.mp4", "film/motorway.mp4", "film/car_park.mp4", "film/person.mp4")
GAPS = (1, 2, 4, 8)
B_FRAME = 3
"""Number of that type of picture in FFmpeg."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A decoded frame.

    Attributes
    ----------
    pixels : (H, W, 3)
    is_reference : whether B frames may refer to it
    vectors : as PyAV gives them, one for each block; None for none
    """

    pixels: UInt8
    is_reference: bool
    vectors: NDArray[Any] | None


def decoded(path: Path, n_frames: int, with_vectors: bool) -> tuple[list[Shown], float]:
    """The first frames of a film, and seconds of decoding."""
    shown = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "NONE"
        if with_vectors:
            stream.codec_context.options = {"flags2": "+export_mvs"}
        began_s = thread_s()
        for frame in container.decode(stream):
            side = frame.side_data.get("MOTION_VECTORS") if with_vectors else None
            vectors = None if side is None else side.to_ndarray()
            shown.append(
                Shown(np.asarray(frame.to_ndarray(format="rgb24"), np.uint8), int(frame.pict_type) != B_FRAME, vectors)
            )
            if len(shown) == n_frames:
                break
        return shown, thread_s() - began_s


def vector_flow(shown: Sequence[Shown], t: int, shape: tuple[int, int]) -> Float32:
    """Where the cells (h, w) of frame t lie in the frame before, (h, w, 2), by motion vectors."""
    vectors = shown[t].vectors
    total = np.zeros((*shape, 2), np.float32)
    if vectors is None or not len(vectors):
        return total
    height, width = shown[t].pixels.shape[:2]
    down, across = shape[0] / height, shape[1] / width
    back = next((t - u for u in range(t - 1, -1, -1) if shown[u].is_reference), 1)
    ahead = next((u - t for u in range(t + 1, len(shown)) if shown[u].is_reference), 1)
    scale = vectors["motion_scale"] * np.where(vectors["source"] < 0, back, -ahead)
    offsets = np.linspace(-0.4, 0.4, 4)  # four by four places of a block stand for it
    rows = (vectors["dst_y"][:, None] + offsets * vectors["h"][:, None]) * down
    columns = (vectors["dst_x"][:, None] + offsets * vectors["w"][:, None]) * across
    rows = np.clip(rows, 0, shape[0] - 1).astype(np.int64)
    columns = np.clip(columns, 0, shape[1] - 1).astype(np.int64)
    places = (rows[:, :, None] * shape[1] + columns[:, None, :]).reshape(len(vectors), -1)
    size = shape[0] * shape[1]
    n = np.bincount(places.ravel(), minlength=size).reshape(shape).astype(np.float32)
    for k, values in enumerate((vectors["motion_x"] / scale * across, vectors["motion_y"] / scale * down)):
        weights = np.repeat(values, places.shape[1])
        total[..., k] = np.bincount(places.ravel(), weights, size).reshape(shape)
    return _smooth(total, n)


def _smooth(total: Float32, n: Float32) -> Float32:
    """Mean vectors (h, w, 2) from sums and counts; cells without any have those around them."""
    for side in (5, 11, 31):
        empty = n == 0
        for k in range(2):
            total[..., k][empty] = cv2.blur(total[..., k], (side, side))[empty]
        n = np.where(empty, cv2.blur(n, (side, side)), n)
    flow = total / np.maximum(n, 1e-6)[..., None]
    return np.stack([cv2.medianBlur(np.ascontiguousarray(flow[..., k]), 5) for k in range(2)], axis=2)


def carried(labels: UInt8, chain: Float32) -> UInt8:
    """Labels (h, w) along a chain."""
    h, w = labels.shape
    ys = np.clip(np.rint(np.arange(h)[:, None] + chain[..., 1]), 0, h - 1).astype(np.int64)
    xs = np.clip(np.rint(np.arange(w)[None] + chain[..., 0]), 0, w - 1).astype(np.int64)
    return np.asarray(labels[ys, xs])


def agreement(labels: Sequence[UInt8], steps: Sequence[Float32], gap: int) -> float:
    """Share of the cells, per cent, that have their own label, where labels are carried over a gap of frames."""
    shape = labels[0].shape[0], labels[0].shape[1]
    same = []
    for key in range(0, len(labels) - gap, gap):
        chain = chains_to(key, key, key + gap, steps, shape)[key + gap]
        same.append(np.mean(carried(labels[key], chain) == labels[key + gap]))
    return 100 * float(np.mean(same))


def main(data: Path, n_frames: int) -> None:
    """Print the table."""
    network = OnnxNetwork(read_card(Path(budgetseg.__file__).parent / "models/camvid/networks/dcnn.onnx"), 1)
    print("| film | flow |", " | ".join(f"{gap} frames" for gap in GAPS), "| flow, ms | decoding, ms |")
    for name in FILMS:
        shown, with_s = decoded(data / name, n_frames, True)
        _, without_s = decoded(data / name, n_frames, False)
        labels = [network(own.pixels).argmax(axis=2).astype(np.uint8) for own in shown]
        shape = labels[0].shape[0], labels[0].shape[1]
        small = [reduced(own.pixels, Propagation().flow_pixels) for own in shown]
        numbers = range(1, len(shown))
        began_s = thread_s()
        dis = [step_flow(small[t], small[t - 1], shape) for t in numbers]
        dis_s = thread_s() - began_s
        vectors = [vector_flow(shown, t, shape) for t in numbers]
        vectors_s = thread_s() - began_s - dis_s
        still = [np.zeros_like(own) for own in dis]
        rows = (
            ("copies", still, 0.0, without_s),
            ("DIS", dis, dis_s, without_s),
            ("vectors", vectors, vectors_s, with_s),
        )
        for flow, steps, seconds, decoding_s in rows:
            figures = " | ".join(f"{agreement(labels, steps, gap):.1f}" for gap in GAPS)
            ms = 1e3 / len(shown)
            print(
                f"| {Path(name).stem} | {flow} | {figures} | {ms * seconds:.2f} | {ms * decoding_s:.1f} |", flush=True
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
