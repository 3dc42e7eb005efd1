"""Why pixels have their labels: `why.npz` and `why.png`.

Of frames: the key frame, the network and the distance that tell most for each label, and its confidence. Of regions:
which descriptors were computed, where H had to interpolate, and how confident it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.app.spaces import REGIONS
from budgetseg.app.state import write_arrays
from budgetseg.engine.result import Result
from budgetseg.errors import OutputError
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.spaces.regions.evidence import RegionEvidence
from budgetseg.types import Float32, Int32, UInt8
from budgetseg.video import blend

__all__ = ["Strip", "frames_shown", "write_why"]

N_SHOWN = 6
WIDTH = 320  # pixels of a frame in the picture, at most
GAP, LINE = 4, 20
GREY, INK, PAPER = (150, 150, 150), (30, 30, 30), (255, 255, 255)
MOST_SUBSETS = 8  # told apart by colour; where there are more, only their sizes are

Key = list[tuple[str, tuple[int, int, int]]]
Size = tuple[int, int]


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


def write_why(folder: Path, results: Sequence[Result], sources: Sequence[str], strip: Strip) -> None:
    """Write `why.npz`, arrays by window, and `why.png`, a picture of them; both of the last budget.

    `sources` are the names of networks or descriptors.
    """
    last = results[-1]
    tables, rows = (
        _explain_regions(results, sources, strip) if last.space == REGIONS else _explain_frames(last, sources, strip)
    )
    write_arrays(folder / "why.npz", {"classes": np.array(last.classes.names), **tables})
    if not cv2.imwrite(str(folder / "why.png"), np.concatenate([*_labels_row(last, strip), *rows])[..., ::-1]):
        raise OutputError("cannot write 'why.png'; free some space or choose another place")


Tables = dict[str, NDArray[Any]]


def _labels_row(result: Result, strip: Strip) -> list[UInt8]:
    """Frames with their labels, and the classes that are seen."""
    classes = result.classes
    tints = [blend(frame, labels, classes.colours) for frame, labels in zip(strip.frames, strip.labels, strict=True)]
    shown = np.unique(strip.labels)
    key: Key = [(name, _rgb(classes.colours[k])) for k, name in enumerate(classes.names) if k in shown]
    return [_row(tints, [f"frame {number}" for number in strip.numbers]), _legend("labels", key, len(tints))]


def _explain_frames(result: Result, networks: Sequence[str], strip: Strip) -> tuple[Tables, list[UInt8]]:
    """Key frame, network, distance and confidence of every cell; rows of a picture of the last three."""
    tables: Tables = {"networks": np.array(networks)}
    height, width = result.labels.shape[1:]
    distance = np.zeros((len(strip.numbers), height, width), np.float32)
    confidence = np.full(distance.shape, result.least, np.float32)
    asked = np.zeros(distance.shape, np.uint8)
    first = 0
    for k, (window, own) in enumerate(zip(result.windows, result.evidence, strict=True)):
        if isinstance(own, FrameEvidence) and own.key_frames is not None and own.networks is not None:
            far = np.abs(own.key_frames - np.arange(len(own.cells))[:, None, None]).astype(np.int32)
            tables |= {
                f"{k}/first_frame": np.array(first),
                f"{k}/key_frame": own.key_frames + np.int32(first),
                f"{k}/network": own.networks,
                f"{k}/distance": far,
                f"{k}/confidence": own.cells,
            }
            for at, number in enumerate(strip.numbers):
                if first <= number < first + len(own.cells):
                    distance[at] = _grown(far[number - first].astype(np.float32), (height, width))
                    confidence[at] = _grown(own.cells[number - first].astype(np.float32) / 255, (height, width))
                    asked[at] = _grown(own.networks[number - first], (height, width))
        first += window.n_frames
    most = max(float(distance.max()), 1.0)
    colours = _ramp(len(networks))
    far_key: Key = [
        (f"{value * most:.0f}", _rgb(_heat(np.full((1, 1), value, np.float32))[0, 0])) for value in (0, 0.5, 1)
    ]
    network_key: Key = [(name, _rgb(colours[k])) for k, name in enumerate(networks)]
    n = len(strip.numbers)
    rows = [
        _row([np.asarray(colours[one]) for one in asked]),
        _legend("network", network_key, n),
        _row([_heat(one / most) for one in distance]),
        _legend("frames to the key frame", far_key, n),
        _row([_heat(one) for one in confidence]),
        _legend("confidence", _heat_key(), n),
    ]
    return tables, rows


def _grown(cells: NDArray[Any], size: Size) -> NDArray[Any]:
    return np.asarray(cv2.resize(cells, size[::-1], interpolation=cv2.INTER_NEAREST))


def _explain_regions(results: Sequence[Result], names: Sequence[str], strip: Strip) -> tuple[Tables, list[UInt8]]:
    """Supervoxels, their descriptors, H's probabilities and labels; rows of a picture of them."""
    last, tables = results[-1], Tables({"descriptors": np.array(names)})
    windows, first = [], 0
    for k, (window, own) in enumerate(zip(last.windows, last.evidence, strict=True)):
        if isinstance(own, RegionEvidence):
            windows.append(_RegionWindow(first, own))
            tables |= {f"{k}/{name}": array for name, array in _arrays_of(results, k, first, own).items()}
        first += window.n_frames
    size = last.plan.size
    subsets = [_at(windows, number, size, lambda own: own.subsets) for number in strip.numbers]
    certain = [_at(windows, number, size, lambda own: own.certainty) for number in strip.numbers]
    evidence = [window.evidence for window in windows]
    colours = _subset_colours(evidence, len(names))
    n = len(strip.numbers)
    rows = [
        _row([_painted(one, colours) for one in subsets]),
        _legend("computed", _subset_key(evidence, colours, names), n),
        _row([_heat(one) for one in certain]),
        _legend("confidence", _heat_key(), n),
    ]
    return tables, rows


class _RegionWindow(NamedTuple):
    first: int
    evidence: RegionEvidence


def _arrays_of(results: Sequence[Result], k: int, first: int, own: RegionEvidence) -> Tables:
    known = [result.evidence[k] for result in results]
    nothing = np.broadcast_to(own.probabilities.mean(axis=0), own.probabilities.shape)
    opinions = [one.probabilities if isinstance(one, RegionEvidence) else nothing for one in known]
    return {
        "ids": own.supervoxels.ids,
        "first_frame": np.array(first),
        "stride": np.array(own.stride),
        "subsets": own.subsets,
        "computed": own.subsets > 0,
        "confidence": own.certainty,
        "probabilities": np.stack(opinions),
        "labels": own.labels,
    }


def _at(
    windows: Sequence[_RegionWindow], number: int, size: Size, value: Callable[[RegionEvidence], NDArray[Any]]
) -> NDArray[Any]:
    """Values of supervoxels at the pixels of a frame; zeros where no window has come to it."""
    for first, own in windows:
        worked = (number - first) // own.stride
        if first <= number < first + own.n_frames:
            return np.asarray(value(own)[own.supervoxels.ids[min(worked, len(own.supervoxels.ids) - 1)]])
    return np.zeros(size, np.float32)


def _subset_colours(evidence: Sequence[RegionEvidence], n_descriptors: int) -> UInt8:
    """A colour for every subset of descriptors, (2^D, 3): grey for none, then from few to many."""
    colours = np.full((1 << n_descriptors, 3), GREY, np.uint8)
    counts = np.array([subset.bit_count() for subset in range(len(colours))])
    met = sorted({int(s) for own in evidence for s in np.unique(own.subsets)} - {0}, key=lambda s: (counts[s], s))
    if len(met) <= MOST_SUBSETS:
        colours[met] = _ramp(len(met))
    else:
        colours[1:] = _ramp(n_descriptors)[counts[1:] - 1]
    return colours


def _ramp(n: int) -> UInt8:
    """N colours from dark to light, (n, 3), RGB."""
    steps = np.linspace(20, 235, max(n, 1)).astype(np.uint8)[:n, None]
    return np.asarray(cv2.applyColorMap(steps, cv2.COLORMAP_PLASMA), np.uint8).reshape(-1, 3)[:, ::-1] if n else steps


def _subset_key(evidence: Sequence[RegionEvidence], colours: UInt8, names: Sequence[str]) -> Key:
    """What each colour stands for, and how much of the video it covers."""
    pixels: dict[tuple[int, int, int], float] = {}
    meaning: dict[tuple[int, int, int], set[str]] = {}
    for own in evidence:
        sizes = own.supervoxels.graph.sizes
        for subset in np.unique(own.subsets):
            colour, within = _rgb(colours[subset]), own.subsets == subset
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
