"""Which back end runs a network fastest on this machine, among those whose answers agree with the reference."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle

import numpy as np

from budgetseg.networks.backends.core import Choice
from budgetseg.networks.run import OnnxNetwork
from budgetseg.timing.clock import WallClock
from budgetseg.types import Float32, UInt8

__all__ = ["Measured", "Measuring", "fastest", "measure"]


@dataclass(frozen=True)
class Measuring:
    """How back ends are measured, and which may be taken.

    Attributes
    ----------
    pixels : share of the pixels that must be labelled as by the reference
    probability : mean difference of a probability from that of the reference, at most
    n_frames : of the video, at most, that networks are run on; a few tell 99.5 % from 99 % of ten thousand cells each
    apart : frames of the video from one of them to the next, since neighbours look alike
    n_rounds : runs of each network, on the frames in turn; the shortest counts, and other programs disturb most of them
    most_s : seconds after which there is no further round, once there were two: dear networks would take minutes
    """

    pixels: float = 0.995
    probability: float = 0.002
    n_frames: int = 6
    apart: int = 8
    n_rounds: int = 24
    most_s: float = 3.0


@dataclass(frozen=True)
class Measured:
    """What was measured of a network in a back end.

    Attributes
    ----------
    choice : of back end and precision
    ms : milliseconds of a run, while as many run as there are threads; None where it does not run
    agreement : share of the pixels that are labelled as by the reference
    difference : mean difference of a probability from that of the reference
    error : why it does not run, in a line
    """

    choice: Choice
    ms: float | None = None
    agreement: float = 0.0
    difference: float = 1.0
    error: str = ""

    def agrees(self, settings: Measuring) -> bool:
        """Whether it runs, and its answers are close enough to those of the reference."""
        is_alike = self.agreement >= settings.pixels and self.difference <= settings.probability
        return self.ms is not None and is_alike


def fastest(rows: Sequence[Measured], choices: Sequence[Choice], settings: Measuring) -> Choice:
    """The fastest of some choices among those that agree with the reference; the first of them where none does."""
    fit = {row.choice: row.ms for row in rows if row.choice in choices and row.agrees(settings)}
    return min(fit, key=lambda choice: fit[choice] or 0.0, default=choices[0])


def measure(
    network: OnnxNetwork, choices: Sequence[Choice], frames: Sequence[UInt8], threads: int, settings: Measuring
) -> list[Measured]:
    """Run a network by each choice on frames (H, W, 3) in turn, and compare the answers with those of the reference.

    Times are those of the shortest run, since other programs only add to them.

    Parameters
    ----------
    network : run by the reference, for the size of the frames
    choices : to measure beside the reference
    frames : to run it on, one at least
    threads : that run it at the same time
    settings : how often, and for how long
    """
    trials, broken = _opened(network, choices, frames[0], threads)
    clock = WallClock()
    with ThreadPoolExecutor(threads) as pool:
        for k, frame in zip(range(settings.n_rounds), cycle(frames), strict=False):
            if k > 1 and clock.now_s() > settings.most_s:
                break
            wanted: Float32 | None = None
            for trial in trials:
                wanted = trial.run(pool, frame, threads, wanted)
    return [trial.measured() for trial in trials] + broken


def _opened(
    network: OnnxNetwork, choices: Sequence[Choice], frame: UInt8, threads: int
) -> tuple[list["_Trial"], list[Measured]]:
    """The reference and the choices that run, each run once, and what is wrong with the others."""
    trials = [_Trial(network)]
    broken = []
    for choice in choices:
        if choice == network.choice:
            continue
        try:
            other = network.by(choice, threads)
            other(frame)
            trials.append(_Trial(other))
        except Exception as error:  # a back end may raise anything, and is left out then
            broken.append(Measured(choice, error=str(error)))
    network(frame)
    return trials, broken


class _Trial:
    """A network in a back end, and what its runs gave so far."""

    def __init__(self, network: OnnxNetwork) -> None:
        self._network = network
        self._seconds: list[float] = []
        self._alike: list[float] = []
        self._apart: list[float] = []

    def run(self, pool: ThreadPoolExecutor, frame: UInt8, threads: int, wanted: Float32 | None) -> Float32:
        """Run it on a frame in every thread, and compare with the reference's probabilities; those, or its own."""
        network = self._network
        tensor = network.tensor(frame)

        def timed(_: int) -> tuple[float, Float32]:
            clock = WallClock()
            answer = network.answer(tensor)
            return clock.now_s(), answer

        found = list(pool.map(timed, range(threads)))
        self._seconds.append(float(np.mean([seconds for seconds, _ in found])))
        own = network.read(found[0][1])
        wanted = own if wanted is None else wanted
        self._alike.append(float((own.argmax(2) == wanted.argmax(2)).mean()))
        self._apart.append(float(np.abs(own - wanted).mean()))
        return wanted

    def measured(self) -> Measured:
        """What was found."""
        ms = 1000 * min(self._seconds)
        return Measured(self._network.choice, ms, float(np.mean(self._alike)), float(np.mean(self._apart)))
