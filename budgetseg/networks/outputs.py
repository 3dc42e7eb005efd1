"""The output of a network: which one it is, what it holds, and class probabilities made of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.errors import ModelError
from budgetseg.networks.card import Card
from budgetseg.networks.inputs import CHANNEL, SIDES, ImageInput
from budgetseg.networks.names import ClassMap
from budgetseg.types import Float32

__all__ = ["ClassOutput", "Grid", "Trial", "class_output", "onto_cells", "probabilities_of"]


@dataclass(frozen=True)
class Grid:
    """How fine the cells are that predictions are worked on with.

    Attributes
    ----------
    most_cells : of a prediction; flow is found on fewer pixels than that, and a fourth of 1024×576 is still whole
    most_values : cells times classes of a prediction, which then takes 4 MB at most
    """

    most_cells: int = 40_000
    most_values: int = 1_000_000

    def fit(self, height: int, width: int, n_classes: int) -> tuple[int, int]:
        """Rows and columns of an output, or of blocks of it where it has more cells than may be."""
        most = min(self.most_cells, self.most_values // n_classes)
        block = max(1, int(math.sqrt(height * width / most)))
        while -(-height // block) * -(-width // block) > most:
            block += 1
        return -(-height // block), -(-width // block)


@dataclass(frozen=True)
class Trial:
    """How an output is told from others when a network is tried.

    Attributes
    ----------
    outside : by which probabilities may leave 0 to 1, and their sum may differ from 1: those of networks in half
        precision or 8 bits are not exact
    skew : times that the sides of an output may differ more in size than those of the frame
    rounding : rows or columns that such an output may have more or less
    """

    outside: float = 0.02
    skew: float = 1.1
    rounding: float = 1.5


@dataclass(frozen=True)
class ClassOutput:
    """The output of a network that holds a value for each pixel, or each cell.

    Attributes
    ----------
    number : of the output
    name : of the output
    kind : `scores`, `probabilities`, `independent` or `index`
    is_told : whether the card says so
    layout : `nchw` or `nhwc`
    shape : of the output, as it is
    lacks : axes that it has not, of four: 0 for the batch, 1 for the channels
    height, width : of its cells
    n_channels : of classes; None for an index map, 2 where one channel tells a class from the rest
    """

    number: int
    name: str
    kind: str
    is_told: bool
    layout: str
    shape: tuple[int, ...]
    lacks: tuple[int, ...]
    height: int
    width: int
    n_channels: int | None

    @property
    def is_one_channel(self) -> bool:
        """Whether one channel tells a class from the rest."""
        n_frames = 1 if 0 in self.lacks else self.shape[0]
        return self.kind != "index" and math.prod(self.shape) == n_frames * self.height * self.width

    def planes(self, output: NDArray[Any]) -> NDArray[Any]:
        """The output with channels first, (C, h, w); that of the first frame, where a batch has several."""
        first: NDArray[Any] = np.expand_dims(output, self.lacks)[0]
        return first if self.layout == "nchw" else first.transpose(2, 0, 1)


def class_output(
    card: Card,
    names: Sequence[str],
    outputs: Sequence[Any],
    size: tuple[int, int],
    frame: ImageInput,
    n_named: int | None = None,
) -> ClassOutput:
    """The output of a network that has a value for each pixel; ModelError where none has.

    It is the first that has as many channels as classes are named; if there is none, the first.

    Parameters
    ----------
    card : of the network
    names : of the outputs
    outputs : of a run
    size : width and height of the frame
    frame : the input
    n_named : number of channels that somebody has named; None if nobody has
    """
    wanted = list(enumerate(names))
    if card.output_name is not None:
        wanted = [(k, name) for k, name in wanted if name == card.output_name]
        if not wanted:
            raise ModelError(f"{card.file}: has no output '{card.output_name}'; choose from {_quoted(names)}")
    first: ClassOutput | None = None
    for number, name in wanted:
        found = _read(card, number, name, outputs[number], size, frame)
        if found is not None and (n_named is None or found.n_channels in (None, n_named)):
            return found
        first = first or found
    if first is not None:
        return first
    got = ", ".join(_told(outputs[number]) for number, _ in wanted)
    raise ModelError(
        f"{card.file}: must have an output with a value for each pixel: scores or probabilities of shape (1, classes, "
        f"height, width), or the number of the class, (1, height, width). Got {got} of frames of {size[0]}x{size[1]}; "
        "export a segmentation network, without steps after it"
    )


def probabilities_of(output: ClassOutput, classes: ClassMap, raw: NDArray[Any]) -> Float32:
    """Class probabilities (L, h, w) of a network's output."""
    planes = output.planes(raw)
    if output.kind == "index":
        return _of_index(planes[0], classes)
    planes = np.asarray(planes, np.float32)
    if len(planes) == 1:
        inside = planes[0] if output.kind == "probabilities" else 1 / (1 + np.exp(-planes[0]))
        planes = np.stack([1 - inside, inside])
    elif output.kind == "scores":
        planes = np.exp(planes - planes.max(axis=0))
        planes /= planes.sum(axis=0)
    elif output.kind == "independent":
        planes = np.maximum(planes, 0)
        planes /= np.maximum(planes.sum(axis=0), np.finfo(np.float32).tiny)
    if classes.is_plain:
        return planes
    mixed: Float32 = np.tensordot(classes.groups, planes, 1)
    return mixed


def onto_cells(planes: Float32, cells: tuple[int, int]) -> Float32:
    """Probabilities (L, h, w) on another grid, (rows, columns, L): means of areas, or interpolated."""
    if planes.shape[1:] != cells:
        shrinks = cells[0] <= planes.shape[1] and cells[1] <= planes.shape[2]
        how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
        planes = np.stack([cv2.resize(np.ascontiguousarray(own), cells[::-1], interpolation=how) for own in planes])
    return np.ascontiguousarray(planes.transpose(1, 2, 0), np.float32)


def _of_index(numbers: NDArray[Any], classes: ClassMap) -> Float32:
    """One at the class of each cell, (L, h, w); a cell without a class has that of the nearest cell with one."""
    channels = np.append(classes.channels, -1)
    n = len(channels) - 1
    rounded = np.rint(numbers).astype(np.int64)
    found = channels[np.where((rounded >= 0) & (rounded < n), rounded, n)]
    missing = found < 0
    if missing.any() and not missing.all():
        _, nearest = cv2.distanceTransformWithLabels(
            missing.astype(np.uint8), cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL
        )
        label_of = np.zeros(nearest.max() + 1, np.int64)
        label_of[nearest[~missing]] = found[~missing]
        found = label_of[nearest]
    return np.asarray(found == np.arange(len(classes.names))[:, None, None], np.float32)


def _read(
    card: Card, number: int, name: str, output: Any, size: tuple[int, int], frame: ImageInput
) -> ClassOutput | None:
    """What an output holds; None where it has no value for each pixel."""
    if not isinstance(output, np.ndarray) or output.dtype.kind not in "fiub" or output.size == 0:
        return None
    if output.dtype.kind == "f" and (np.isnan(output).any() or np.isposinf(output).any()):
        raise ModelError(f"{card.file}: gives NaN or infinity in '{name}'; check its weights, and how it was exported")
    lacks = _lacks(output.shape, size, frame.batch)
    if lacks is None:
        return None
    whole = np.expand_dims(output, lacks)
    shape = whole.shape
    fitting = [own for own in SIDES if _fits([shape[k] for k in SIDES[own]], size)]
    if card.output_layout is not None and not lacks:
        fitting = [own for own in fitting if own == card.output_layout]
    if not fitting:
        return None
    layout = min(fitting, key=lambda own: (_skew([shape[k] for k in SIDES[own]], size), own != frame.layout))
    height, width = (shape[k] for k in SIDES[layout])
    n_channels = shape[CHANNEL[layout]]
    kind = _kind(card, whole, layout, n_channels)
    channels = None if kind == "index" else max(n_channels, 2)
    is_told = card.output is not None
    return ClassOutput(number, name, kind, is_told, layout, output.shape, lacks, height, width, channels)


def _lacks(shape: tuple[int, ...], size: tuple[int, int], batch: int) -> tuple[int, ...] | None:
    """Axes that an output has not, of batch, channels, height and width; None where it has no value for each pixel."""
    if len(shape) == 4:
        return () if shape[0] == batch else None
    if len(shape) == 3:
        return (1,) if shape[0] == batch and _fits(shape[1:], size) else (0,)
    return (0, 1) if shape == size[::-1] else None  # a table of a few numbers is no picture


def _kind(card: Card, output: NDArray[Any], layout: str, n_channels: int) -> str:
    """What an output holds: as the card says, else what its values can be."""
    trial = Trial()
    low, high = float(output.min()), float(output.max())
    is_inside = low > -trial.outside and high < 1 + trial.outside
    if card.output in ("probabilities", "independent") and not is_inside:
        raise ModelError(
            f"{card.file}: gives {low:.3g} to {high:.3g}, which are no probabilities; "
            "if they are scores, set output = 'scores' in its TOML file"
        )
    if card.output == "index" and n_channels != 1:
        raise ModelError(
            f"{card.file}: gives {n_channels} channels, which are no index map; remove 'output' from its TOML file"
        )
    if card.output is not None:
        return card.output
    if n_channels == 1 and output.dtype.kind != "b" and np.array_equal(output, np.rint(output)):
        return "index"
    if n_channels == 1 or not is_inside:
        return "probabilities" if is_inside else "scores"
    sums = np.asarray(output, np.float32).sum(axis=CHANNEL[layout])
    return "probabilities" if np.abs(sums - 1).max() < trial.outside else "independent"


def _fits(sides: Sequence[int], size: tuple[int, int]) -> bool:
    """Whether rows and columns can be those of a frame of this width and height, reduced evenly."""
    height, width = sides
    if min(sides) < 2:
        return False
    trial = Trial()
    expected = width * size[1] / size[0]
    return expected / trial.skew - trial.rounding <= height <= expected * trial.skew + trial.rounding


def _skew(sides: Sequence[int], size: tuple[int, int]) -> float:
    """How much more one side is reduced than the other, rounded, 0 for the same."""
    return round(abs(math.log(sides[0] * size[0] / (sides[1] * size[1]))), 2)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _told(output: Any) -> str:
    return f"{output.dtype} {output.shape}" if isinstance(output, np.ndarray) else type(output).__name__
