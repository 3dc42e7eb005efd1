"""Why pixels have their labels: `why.npz` and `why.png`.

For frames, they show the key frame, the network and the distance that contributed most to each label, and its
confidence. For regions, they show which descriptors were computed, where H had to interpolate, and its confidence.
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

__all__ = ["PictureStyle", "Strip", "frames_shown", "write_why"]

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""
Key = list[tuple[str, Colour]]
"""Names in a legend, each with its colour."""
Size = tuple[int, int]
"""Rows and columns."""
Tables = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Strip:
    """A few frames of a video with their labels.

    Attributes
    ----------
    numbers : of the frames in the video
    frames : (n, H, W, 3) uint8
    labels : (n, H, W) uint8
    """

    numbers: Sequence[int]
    frames: UInt8
    labels: UInt8


@dataclass(frozen=True)
class PictureStyle:
    """How `why.png` looks; sizes in pixels.

    Attributes
    ----------
    n_frames : frames side by side, at most
    width : of a frame
    gap : empty space around a frame
    line : height of a line of text
    character : space that a character of text is given
    font_scale : size of the text, as OpenCV takes it
    no_descriptor : colour of supervoxels without any descriptor
    ink, paper : colours of text and background
    most_subsets : subsets of descriptors that get a colour each, at most; if there are more, a colour stands for a
        number of descriptors
    """

    n_frames: int = 6
    width: int = 320
    gap: int = 4
    line: int = 20
    character: int = 8
    font_scale: float = 0.42
    no_descriptor: Colour = (150, 150, 150)
    ink: Colour = (30, 30, 30)
    paper: Colour = (255, 255, 255)
    most_subsets: int = 8


def frames_shown(n_frames: int, n_shown: int = PictureStyle.n_frames) -> list[int]:
    """Numbers of the frames that the picture shows, spread evenly over the video.

    Examples
    --------
    >>> frames_shown(60)
    [5, 15, 25, 35, 45, 55]
    >>> frames_shown(2)
    [0, 1]
    """
    n = min(n_shown, n_frames)
    return [(2 * k + 1) * n_frames // (2 * n) for k in range(n)]


def write_why(
    folder: Path,
    results: Sequence[Result],
    sources: Sequence[str],
    strip: Strip,
    style: PictureStyle | None = None,
) -> None:
    """Write `why.npz`, arrays for each window, and `why.png`, a picture of them, both for the last budget.

    Parameters
    ----------
    folder : to write to
    results : of a run, one for each budget
    sources : names of networks or descriptors
    strip : the frames to show
    style : how the picture looks; None for the default
    """
    last = results[-1]
    drawing = _Drawing(style or PictureStyle(), len(strip.numbers))
    if last.space == REGIONS:
        tables, rows = _explain_regions(results, sources, strip, drawing)
    else:
        tables, rows = _explain_frames(last, sources, strip, drawing)
    write_arrays(folder / "why.npz", {"classes": np.array(last.classes.names), **tables})
    picture = np.concatenate([*_labels_row(last, strip, drawing), *rows])
    if not cv2.imwrite(str(folder / "why.png"), picture[..., ::-1]):
        raise OutputError("cannot write 'why.png'; free some space or choose another place")


class _Drawing:
    """Draws rows of pictures and legends, (h, w, 3) uint8, RGB, as wide as `n_columns` frames."""

    def __init__(self, style: PictureStyle, n_columns: int) -> None:
        self.style = style
        self._legend_width = n_columns * (style.width + 2 * style.gap)

    def row(self, pictures: Sequence[UInt8], captions: Sequence[str] = ()) -> UInt8:
        """Pictures (H, W, 3) side by side, all at one width, below their captions."""
        style = self.style
        cells = []
        height, width = pictures[0].shape[:2]  # windows may have been worked on at different sizes
        size = style.width, max(1, round(height * style.width / width))
        for k, picture in enumerate(pictures):
            width = picture.shape[1]
            shrinks = width > style.width
            cell = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_NEAREST)
            border = (style.gap, style.gap)
            cell = np.pad(cell, (border, border, (0, 0)), constant_values=style.paper[0])
            if captions:
                cell = np.concatenate([self._text_line(captions[k], cell.shape[1]), cell])
            cells.append(cell)
        return np.concatenate(cells, axis=1)

    def legend(self, title: str, key: Key) -> UInt8:
        """Colours and their names, on as many lines as they need."""
        style = self.style
        width = self._legend_width
        lines = [self._text_line(f"{title}:", width)]
        at = style.character * (len(title) + 2) + style.gap
        for name, colour in key:
            needed = style.character * (len(name) + 2) + style.line
            if at + needed > width and at > style.gap:
                lines.append(self._text_line("", width))
                at = style.gap
            lines[-1][3:-3, at : at + style.line - 6] = colour
            self._write(lines[-1], name, at + style.line)
            at += needed
        return np.concatenate([*lines, np.full((style.gap, width, 3), style.paper, np.uint8)])

    def _text_line(self, text: str, width: int) -> UInt8:
        line = np.full((self.style.line, width, 3), self.style.paper, np.uint8)
        self._write(line, text, self.style.gap)
        return line

    def _write(self, line: UInt8, text: str, at: int) -> None:
        plain = text.encode("ascii", "replace").decode()
        place = (at, self.style.line - 6)
        font = cv2.FONT_HERSHEY_SIMPLEX
        cv2.putText(line, plain, place, font, self.style.font_scale, self.style.ink, 1, cv2.LINE_AA)


def _labels_row(result: Result, strip: Strip, drawing: _Drawing) -> list[UInt8]:
    """Frames tinted by their labels, and a legend of the classes that occur."""
    classes = result.classes
    tints = [blend(frame, labels, classes.colours) for frame, labels in zip(strip.frames, strip.labels, strict=True)]
    shown = np.unique(strip.labels)
    key: Key = [(name, _rgb(classes.colours[k])) for k, name in enumerate(classes.names) if k in shown]
    captions = [f"frame {number}" for number in strip.numbers]
    return [drawing.row(tints, captions), drawing.legend("labels", key)]


def _explain_frames(
    result: Result, networks: Sequence[str], strip: Strip, drawing: _Drawing
) -> tuple[Tables, list[UInt8]]:
    """Key frame, network, distance and confidence of every cell; rows of a picture of the last three."""
    tables: Tables = {"networks": np.array(networks)}
    height, width = result.labels.shape[1:]
    distance = np.zeros((len(strip.numbers), height, width), np.float32)
    confidence = np.full(distance.shape, result.least, np.float32)
    network = np.zeros(distance.shape, np.uint8)
    first = 0
    for k, (window, found) in enumerate(zip(result.windows, result.evidence, strict=True)):
        if isinstance(found, FrameEvidence) and found.key_frames is not None and found.networks is not None:
            frame_gap = np.abs(found.key_frames - np.arange(len(found.cells))[:, None, None]).astype(np.int32)
            tables |= {
                f"{k}/first_frame": np.array(first),
                f"{k}/key_frame": found.key_frames + np.int32(first),
                f"{k}/network": found.networks,
                f"{k}/distance": frame_gap,
                f"{k}/confidence": found.cells,
            }
            for at, number in enumerate(strip.numbers):
                if first <= number < first + len(found.cells):
                    t = number - first
                    distance[at] = _grown(frame_gap[t].astype(np.float32), (height, width))
                    confidence[at] = _grown(found.cells[t].astype(np.float32) / 255, (height, width))
                    network[at] = _grown(found.networks[t], (height, width))
        first += window.n_frames
    most = max(float(distance.max()), 1.0)
    colours = _ramp(len(networks))
    distance_key: Key = [
        (f"{value * most:.0f}", _rgb(_heat(np.full((1, 1), value, np.float32))[0, 0])) for value in (0, 0.5, 1)
    ]
    network_key: Key = [(name, _rgb(colours[k])) for k, name in enumerate(networks)]
    rows = [
        drawing.row([np.asarray(colours[numbers]) for numbers in network]),
        drawing.legend("network", network_key),
        drawing.row([_heat(frame / most) for frame in distance]),
        drawing.legend("frames to the key frame", distance_key),
        drawing.row([_heat(frame) for frame in confidence]),
        drawing.legend("confidence", _heat_key()),
    ]
    return tables, rows


def _grown(cells: NDArray[Any], size: Size) -> NDArray[Any]:
    """Cells (h, w) at a size (H, W), each pixel with the value of its cell."""
    return np.asarray(cv2.resize(cells, size[::-1], interpolation=cv2.INTER_NEAREST))


def _explain_regions(
    results: Sequence[Result], names: Sequence[str], strip: Strip, drawing: _Drawing
) -> tuple[Tables, list[UInt8]]:
    """Supervoxels, their descriptors, H's probabilities and labels; rows of a picture of them."""
    last = results[-1]
    tables: Tables = {"descriptors": np.array(names)}
    windows = []
    first = 0
    for k, (window, found) in enumerate(zip(last.windows, last.evidence, strict=True)):
        if isinstance(found, RegionEvidence):
            windows.append(_RegionWindow(first, found))
            tables |= {f"{k}/{name}": array for name, array in _arrays_of(results, k, first, found).items()}
        first += window.n_frames
    size = last.plan.size
    subsets = [_at(windows, number, size, lambda found: found.subsets) for number in strip.numbers]
    certainty = [_at(windows, number, size, lambda found: found.certainty) for number in strip.numbers]
    evidence = [window.evidence for window in windows]
    colours = _subset_colours(evidence, len(names), drawing.style)
    rows = [
        drawing.row([_painted(frame, colours) for frame in subsets]),
        drawing.legend("computed", _subset_key(evidence, colours, names)),
        drawing.row([_heat(frame) for frame in certainty]),
        drawing.legend("confidence", _heat_key()),
    ]
    return tables, rows


class _RegionWindow(NamedTuple):
    """The evidence of a window, and the number of its first frame in the video."""

    first: int
    evidence: RegionEvidence


def _arrays_of(results: Sequence[Result], k: int, first: int, last: RegionEvidence) -> Tables:
    """Arrays of window k, whose evidence at the last budget is `last`; probabilities (B, N, L) are of every budget."""
    prior = np.broadcast_to(last.probabilities.mean(axis=0), last.probabilities.shape)
    probabilities = [
        found.probabilities if isinstance(found, RegionEvidence) else prior
        for found in (result.evidence[k] for result in results)
    ]
    return {
        "ids": last.supervoxels.ids,
        "first_frame": np.array(first),
        "stride": np.array(last.stride),
        "subsets": last.subsets,
        "computed": last.subsets > 0,
        "confidence": last.certainty,
        "probabilities": np.stack(probabilities),
        "labels": last.labels,
    }


def _at(
    windows: Sequence[_RegionWindow], number: int, size: Size, value: Callable[[RegionEvidence], NDArray[Any]]
) -> NDArray[Any]:
    """Values of supervoxels at the pixels of a frame, (H, W); zeros for a frame that no window covers."""
    for first, evidence in windows:
        worked = (number - first) // evidence.stride
        if first <= number < first + evidence.n_frames:
            ids = evidence.supervoxels.ids
            return np.asarray(value(evidence)[ids[min(worked, len(ids) - 1)]])
    return np.zeros(size, np.float32)


def _subset_colours(evidence: Sequence[RegionEvidence], n_descriptors: int, style: PictureStyle) -> UInt8:
    """A colour for every subset of descriptors, (2^D, 3): grey for none, then a ramp from few to many."""
    colours = np.full((1 << n_descriptors, 3), style.no_descriptor, np.uint8)
    counts = np.array([subset.bit_count() for subset in range(len(colours))])
    occurring = {int(subset) for found in evidence for subset in np.unique(found.subsets)} - {0}
    if len(occurring) <= style.most_subsets:
        colours[sorted(occurring, key=lambda subset: (counts[subset], subset))] = _ramp(len(occurring))
    else:
        colours[1:] = _ramp(n_descriptors)[counts[1:] - 1]
    return colours


def _ramp(n: int) -> UInt8:
    """N colours from dark to light, (n, 3), RGB."""
    steps = np.linspace(20, 235, max(n, 1)).astype(np.uint8)[:n, None]
    return np.asarray(cv2.applyColorMap(steps, cv2.COLORMAP_PLASMA), np.uint8).reshape(-1, 3)[:, ::-1] if n else steps


def _subset_key(evidence: Sequence[RegionEvidence], colours: UInt8, names: Sequence[str]) -> Key:
    """The meaning of each colour, and the share of the pixels that have it."""
    pixels: dict[Colour, float] = {}
    meaning: dict[Colour, set[str]] = {}
    for found in evidence:
        sizes = found.supervoxels.graph.sizes
        for subset in np.unique(found.subsets):
            colour = _rgb(colours[subset])
            within = found.subsets == subset
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
    """Colours (..., 3) of values from 0 to 1."""
    steps = np.clip(255 * confidence, 0, 255).astype(np.uint8)
    return np.asarray(cv2.applyColorMap(steps, cv2.COLORMAP_VIRIDIS)[..., ::-1], np.uint8)


def _heat_key() -> Key:
    return [(f"{value:g}", _rgb(_heat(np.full((1, 1), value, np.float32))[0, 0])) for value in (0, 0.25, 0.5, 0.75, 1)]


def _rgb(colour: NDArray[Any]) -> Colour:
    red, green, blue = (int(part) for part in colour)
    return red, green, blue
