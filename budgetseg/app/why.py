"""Why pixels have their labels: which descriptors were computed, where H had to guess, and how sure it was."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.app.state import write_arrays
from budgetseg.engine.labelled import Why
from budgetseg.engine.plan import Plan
from budgetseg.errors import OutputError
from budgetseg.models.bundle import Model
from budgetseg.types import Classes, Float32, Int32, UInt8
from budgetseg.video import blend

__all__ = ["Strip", "frames_shown", "write_why"]

N_SHOWN = 6
WIDTH = 320  # pixels of a frame in the picture, at most
GAP, LINE = 4, 20
GREY, INK, PAPER = (150, 150, 150), (30, 30, 30), (255, 255, 255)
MOST_SUBSETS = 8  # told apart by colour; where there are more, only their sizes are

Key = list[tuple[str, tuple[int, int, int]]]


@dataclass(frozen=True, eq=False)
class Strip:
    """A few frames of a video, as they were labelled.

    Attributes
    ----------
    numbers : of the frames
    frames : (n, H, W, 3) uint8
    labels : (n, H, W) uint8
    """

    numbers: Sequence[int]
    frames: UInt8
    labels: UInt8


def frames_shown(n_frames: int) -> list[int]:
    """Numbers of the frames that the picture shows, evenly spread.

    Examples
    --------
    >>> frames_shown(60)
    [5, 15, 25, 35, 45, 55]
    >>> frames_shown(2)
    [0, 1]
    """
    n = min(N_SHOWN, n_frames)
    return [(2 * k + 1) * n_frames // (2 * n) for k in range(n)]


def write_why(folder: Path, whys: Sequence[Why], plan: Plan, model: Model, strip: Strip) -> None:
    """`why.npz`, arrays by window, and `why.png`, a picture of them."""
    names, classes = model.classifiers.names, model.classes
    arrays: dict[str, NDArray[Any]] = {"descriptors": np.array(names), "classes": np.array(classes.names)}
    for k, why in enumerate(whys):
        arrays |= {f"{k}/{name}": array for name, array in _arrays_of(why, plan).items()}
    write_arrays(folder / "why.npz", arrays)
    picture = _picture(whys, plan, names, classes, strip)
    if not cv2.imwrite(str(folder / "why.png"), picture[..., ::-1]):
        raise OutputError("cannot write 'why.png'; free some space or choose another place")


def _arrays_of(why: Why, plan: Plan) -> dict[str, NDArray[Any]]:
    known = why.known
    return {
        "ids": known.supervoxels.ids,
        "first_frame": np.array(why.start * plan.stride),
        "stride": np.array(plan.stride),
        "subsets": known.subsets,
        "computed": known.subsets > 0,
        "confidence": why.confidence,
        "probabilities": np.stack(why.opinions),
        "labels": why.labels,
    }


def _picture(whys: Sequence[Why], plan: Plan, names: Sequence[str], classes: Classes, strip: Strip) -> UInt8:
    """Three rows of frames with a key below each of them, RGB."""
    tints = [blend(frame, labels, classes.colours) for frame, labels in zip(strip.frames, strip.labels, strict=True)]
    subsets = [_at(whys, plan, number, [why.known.subsets for why in whys]) for number in strip.numbers]
    sure = [_at(whys, plan, number, [why.confidence for why in whys]) for number in strip.numbers]
    shown = np.unique(strip.labels)
    class_key: Key = [(name, _rgb(classes.colours[k])) for k, name in enumerate(classes.names) if k in shown]
    colours = _subset_colours(whys, len(names))
    rows = [
        _row(tints, [f"frame {number}" for number in strip.numbers]),
        _legend("labels", class_key, len(tints)),
        _row([_painted(one, colours) for one in subsets]),
        _legend("computed", _subset_key(whys, colours, names), len(tints)),
        _row([_heat(one) for one in sure]),
        _legend("confidence", _heat_key(), len(tints)),
    ]
    return np.concatenate(rows)


def _at(whys: Sequence[Why], plan: Plan, number: int, values: Sequence[Int32 | Float32]) -> NDArray[Any]:
    """Values of supervoxels at the pixels of a frame; zeros where no window has come to it."""
    worked = number // plan.stride
    for why, value in zip(whys, values, strict=True):
        if why.start <= worked < why.start + len(why.known.supervoxels.ids):
            return np.asarray(value[why.known.supervoxels.ids[worked - why.start]])
    return np.zeros(plan.size, np.float32)


def _subset_colours(whys: Sequence[Why], n_descriptors: int) -> UInt8:
    """A colour for every subset of descriptors, (2^D, 3): grey for none, then from few to many."""
    colours = np.full((1 << n_descriptors, 3), GREY, np.uint8)
    counts = np.array([subset.bit_count() for subset in range(len(colours))])
    met = sorted({int(s) for why in whys for s in np.unique(why.known.subsets)} - {0}, key=lambda s: (counts[s], s))
    if len(met) <= MOST_SUBSETS:
        colours[met] = _ramp(len(met))
    else:
        colours[1:] = _ramp(n_descriptors)[counts[1:] - 1]
    return colours


def _ramp(n: int) -> UInt8:
    """N colours from dark to light, (n, 3), RGB."""
    steps = np.linspace(20, 235, max(n, 1)).astype(np.uint8)[:n, None]
    return np.asarray(cv2.applyColorMap(steps, cv2.COLORMAP_PLASMA), np.uint8).reshape(-1, 3)[:, ::-1] if n else steps


def _subset_key(whys: Sequence[Why], colours: UInt8, names: Sequence[str]) -> Key:
    """What each colour stands for, and how much of the video it covers."""
    pixels: dict[tuple[int, int, int], float] = {}
    meaning: dict[tuple[int, int, int], set[str]] = {}
    for why in whys:
        sizes = why.known.supervoxels.graph.sizes
        for subset in np.unique(why.known.subsets):
            colour, within = _rgb(colours[subset]), why.known.subsets == subset
            pixels[colour] = pixels.get(colour, 0.0) + float(sizes[within].sum())
            meaning.setdefault(colour, set()).add(_subset_name(int(subset), names))
    total = max(sum(pixels.values()), 1.0)
    titles = {colour: texts.pop() if len(texts) == 1 else _common(texts) for colour, texts in meaning.items()}
    ordered = sorted(titles, key=lambda colour: -pixels[colour])
    return [(f"{titles[colour]} {100 * pixels[colour] / total:.0f} %", colour) for colour in ordered]


def _subset_name(subset: int, names: Sequence[str]) -> str:
    return "+".join(name for d, name in enumerate(names) if subset >> d & 1) or "interpolated"


def _common(texts: set[str]) -> str:
    n = 1 + min(texts).count("+")
    return f"{n} descriptor{'s' if n > 1 else ''}"


def _painted(subsets: Int32, colours: UInt8) -> UInt8:
    return np.asarray(colours[subsets.astype(np.int32)])


def _heat(confidence: Float32) -> UInt8:
    steps = np.clip(255 * confidence, 0, 255).astype(np.uint8)
    return np.asarray(cv2.applyColorMap(steps, cv2.COLORMAP_VIRIDIS)[..., ::-1], np.uint8)


def _heat_key() -> Key:
    return [(f"{value:g}", _rgb(_heat(np.full((1, 1), value, np.float32))[0, 0])) for value in (0, 0.25, 0.5, 0.75, 1)]


def _row(pictures: Sequence[UInt8], captions: Sequence[str] = ()) -> UInt8:
    """Pictures side by side, at one width."""
    cells = []
    for k, picture in enumerate(pictures):
        height, width = picture.shape[:2]
        size = WIDTH, max(1, round(height * WIDTH / width))
        shrinks = width > WIDTH
        cell = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_NEAREST)
        cell = np.pad(cell, ((GAP, GAP), (GAP, GAP), (0, 0)), constant_values=PAPER[0])
        if captions:
            cell = np.concatenate([_text_line(captions[k], cell.shape[1]), cell])
        cells.append(cell)
    return np.concatenate(cells, axis=1)


def _legend(title: str, key: Key, n_columns: int) -> UInt8:
    """Colours and their names, on as many lines as it takes."""
    width = n_columns * (WIDTH + 2 * GAP)
    lines, at = [_text_line(f"{title}:", width)], 8 * (len(title) + 2) + GAP
    for name, colour in key:
        needed = 8 * (len(name) + 2) + LINE
        if at + needed > width and at > GAP:
            lines.append(_text_line("", width))
            at = GAP
        lines[-1][3:-3, at : at + LINE - 6] = colour
        _write(lines[-1], name, at + LINE)
        at += needed
    return np.concatenate([*lines, np.full((GAP, width, 3), PAPER, np.uint8)])


def _text_line(text: str, width: int) -> UInt8:
    line = np.full((LINE, width, 3), PAPER, np.uint8)
    _write(line, text, GAP)
    return line


def _write(line: UInt8, text: str, at: int) -> None:
    plain = text.encode("ascii", "replace").decode()
    cv2.putText(line, plain, (at, LINE - 6), cv2.FONT_HERSHEY_SIMPLEX, 0.42, INK, 1, cv2.LINE_AA)


def _rgb(colour: NDArray[Any]) -> tuple[int, int, int]:
    red, green, blue = (int(part) for part in colour)
    return red, green, blue
