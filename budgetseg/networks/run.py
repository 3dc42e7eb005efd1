"""Any ONNX segmentation network as a function from a frame to class probabilities."""

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.errors import ModelError
from budgetseg.networks.backends.core import Choice, Run, Session, Setup
from budgetseg.networks.backends.registry import REFERENCE, backend_named, stored_precision
from budgetseg.networks.card import Card
from budgetseg.networks.config import CONFIG, config_of
from budgetseg.networks.inputs import at_size, image_input
from budgetseg.networks.names import channel_names, class_map, number_named
from budgetseg.networks.outputs import ClassOutput, Grid, class_output, onto_cells, probabilities_of
from budgetseg.networks.weights import weight_files
from budgetseg.types import Float32, UInt8

__all__ = ["TRIED", "OnnxNetwork", "at_size", "trial_frame"]

TRIED = (320, 256)
"""Width and height of the video that a network of any size is tried for, before one is known: its sides differ."""


OTHER_MULTIPLES = (64, 128, 14, 28)
"""Of which sides are tried to be multiples, where a network does not run on those of 32: 14 for patches of DINOv2."""


class OnnxNetwork:
    """A network that maps frames to class probabilities.

    It is understood by the reference back end, onnxruntime; `by` gives the same network run by another.

    Parameters
    ----------
    card : how to use the network
    threads : of each run

    Attributes
    ----------
    card : how it is used, with what files beside it say
    config : what files beside it say
    choice : the back end that runs it, and the precision of its arithmetic
    channel_names : of its classes before the card merges them, leaves them out, and puts them in order
    classes : what its channels mean
    frame : its input
    output : its output
    size : width and height that frames are resized to; None where these are those of the video, see `at`
    shape : of the output, (h, w, L); where `size` is None, for a video of `TRIED`
    digest : short digest of the contents of the file and its card; networks with one digest give the same output
    """

    def __init__(self, card: Card, threads: int = 1) -> None:
        self.choice = Choice(REFERENCE, stored_precision(card.file))
        self._threads = threads
        self._session: Session = backend_named(REFERENCE).open(card.file, Setup(threads=threads))
        self._under_way: set[Run] = set()
        self.frame = image_input(card, self._session.inputs)
        self.config = config_of(card.file)
        self.card = card if self.frame.is_bytes else self.config.onto(card)
        self.size = self.frame.size(card)
        metadata = {**self.config.metadata, **self._session.metadata}
        self._n_named = number_named(card, metadata)
        self.output = self._fit(TRIED)
        self.channel_names = channel_names(card, metadata, self.output.n_channels)
        if self.channel_names.source == CONFIG:
            self.card = replace(self.card, classes=self.channel_names.names)
        self.classes = class_map(card, self.channel_names)
        self._cells: tuple[int, int] | None = None
        self.digest = _digest(self.card)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the L classes."""
        return self.classes.names

    @property
    def other_outputs(self) -> list[str]:
        """Names of the outputs that are not used."""
        return [port.name for port in self._session.outputs if port.name != self.output.name]

    @property
    def input(self) -> str:
        """Name of the network's input."""
        return self.frame.name

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of what it predicts, (h, w, L)."""
        cells = self._cells or Grid().fit(self.output.height, self.output.width, len(self.names))
        return *cells, len(self.names)

    @property
    def key(self) -> str:
        """What its price goes by: file, card, the size of frames, and what runs it where that is not onnxruntime."""
        width, height = self.size or (0, 0)
        return f"{self.digest} {width}x{height}{self.runner}"

    @property
    def runner(self) -> str:
        """What runs it, to be added to the name of a price; empty for the reference."""
        return "" if self.choice.backend == REFERENCE else f" {self.choice}"

    def by(self, choice: Choice, streams: int = 1) -> "OnnxNetwork":
        """The network run by a back end in a precision; itself where it is so. ModelError where that cannot be.

        Parameters
        ----------
        choice : of back end and precision
        streams : threads that run it at the same time
        """
        if choice == self.choice:
            return self
        other = self._copy()
        other.choice = choice
        other._session = backend_named(choice.backend).open(
            self.card.file, Setup(choice.precision, self._threads, streams)
        )
        return other

    def at(self, size: tuple[int, int]) -> "OnnxNetwork":
        """The network for videos of this width and height; itself where frames of all videos have one size.

        It is run once, since most files do not state the size of their output.
        """
        if self.size is not None:
            return self
        bound = self._copy()
        bound.output = bound._fit(size)
        bound.size = bound.size_for(size)
        return bound

    def size_for(self, size: tuple[int, int]) -> tuple[int, int]:
        """Width and height that frames of a video with this width and height are resized to."""
        return self.size or self.frame.size_for(self.card, size)

    def onto(self, cells: tuple[int, int]) -> "OnnxNetwork":
        """The network with predictions on another grid of rows and columns."""
        bound = self._copy()
        bound._cells = cells
        return bound

    def among(self, names: Sequence[str]) -> "OnnxNetwork":
        """The network with the same classes in the order of `names`; where nobody has named them, with these names."""
        named = self._copy()
        named.classes = self.classes.among(names)
        return named

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L) of a frame (H, W, 3), uint8, on the grid of `shape`."""
        return self.read(self.answer(self.tensor(frame)))

    def read(self, answer: NDArray[Any]) -> Float32:
        """Probabilities (h, w, L) on the grid of `shape` from what `answer` gave."""
        planes = probabilities_of(self.output, self.classes, answer)
        cells = self._cells or Grid().fit(planes.shape[1], planes.shape[2], len(self.names))
        return onto_cells(planes, cells)

    def tensor(self, frame: UInt8) -> NDArray[Any]:
        """A frame (H, W, 3) in the form of the network's input."""
        return self.frame.tensor(at_size(frame, self.size_for((frame.shape[1], frame.shape[0]))), self.card)

    def answer(self, tensor: NDArray[Any]) -> NDArray[Any]:
        """The output of the network as it is, for a frame in the form of its input; LateError if it was cut off."""
        run = self._session.new_run(self.output.name)
        self._under_way.add(run)
        try:
            answer: NDArray[Any] = run(tensor)[0]
        finally:
            self._under_way.discard(run)
        return answer

    def cut_off(self) -> None:
        """Make every run that is under way, in any thread, end with LateError within milliseconds."""
        for run in list(self._under_way):
            run.cut_off()

    def _copy(self) -> "OnnxNetwork":
        """The same network, whose runs are cut off by themselves."""
        other = copy.copy(self)
        other._under_way = set()
        return other

    def _fit(self, video: tuple[int, int]) -> ClassOutput:
        """What the network gives for a video of a width and height, found by a run, since many files do not state it.

        A network that does not run on sides that are multiples of 32 is tried on other usual ones, which its card has
        then.
        """
        card = self.card
        others = OTHER_MULTIPLES if self.size is None and card.multiple == Card.multiple else ()
        refusal: ModelError | None = None
        for multiple in (card.multiple, *others):
            self.card = replace(card, multiple=multiple)
            size = self.size_for(video)
            try:
                outputs = self._outputs(size)
            except ModelError as error:
                refusal = refusal or error
                continue
            names = [output.name for output in self._session.outputs]
            return class_output(self.card, names, outputs, size, self.frame, self._n_named)
        assert refusal is not None
        raise refusal

    def _outputs(self, size: tuple[int, int]) -> list[Any]:
        """All outputs for a frame of a width and height; ModelError where the network does not run on it."""
        tensor = self.frame.tensor(trial_frame(size), self.card)
        try:
            return list(self._session.new_run()(tensor))
        except Exception as error:  # errors of back ends have no common base
            raise ModelError(
                f"{self.card.file}: does not run on frames of {size[0]}x{size[1]} ({error}); set 'size', or 'multiple' "
                "of both sides, in its TOML file to what it takes"
            ) from None


def trial_frame(size: tuple[int, int]) -> UInt8:
    """A frame (H, W, 3) of large and small random spots, of this width and height: it tells outputs apart."""
    rng = np.random.default_rng(0)
    large = cv2.resize(rng.uniform(0, 255, (6, 8, 3)), size, interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.clip(large + rng.normal(0, 20, large.shape), 0, 255), np.uint8)


def _digest(card: Card) -> str:
    digest = hashlib.sha256(repr(replace(card, file=Path())).encode())
    for file in (card.file, *weight_files(card.file)):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:8]
