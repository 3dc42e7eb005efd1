"""Whether labels of supervoxels can be refined in time, how, and by which network, by what that is foretold to cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from budgetseg.descriptors.network.descriptor import NetworkDescriptor
from budgetseg.inference.engine import Engine
from budgetseg.inference.ledger import Books
from budgetseg.inference.refining import Extent
from budgetseg.inference.window import SAFETY

__all__ = ["LEAST", "Outlook", "Prospect"]

LEAST = 2
"""Frames that networks must have time to be asked about, where nothing is there yet: what is foretold may not hold."""
BESIDE = 1.2
"""Times what a network takes for a frame, goes by for each that it is asked about: supervoxels want to hear of it."""
HOPE = 0.7
"""Share of what it costs that must be left to carry labels the cheap way rather than copy those of all where there are
blocks: frames for which there is no time get labels of another nearby, as they would anyway."""
NOBODY: "Answered" = {}
"""Was asked about anything."""
TRIES = 2
"""To find out how many answers there is time for: the more there are, the longer it takes to make use of them."""


Answered = Mapping[str, int]
"""By network, how many frames it was asked about."""


class Outlook(NamedTuple):
    """What can be done in time.

    Attributes
    ----------
    network : that is asked
    carry : how answers come to other frames
    worth : of the labels, by the refiner's measure
    """

    network: str
    carry: str
    worth: float


@dataclass(frozen=True, eq=False)
class Prospect:
    """Of some frames of a video.

    Attributes
    ----------
    engine : labels them
    books : foretell what that costs
    n_frames, n_worked : how many there are, and how many of them are worked on
    size : rows and columns of a frame of the video
    apart : how far frames of the video lie from each other, in frames of usual video
    """

    engine: Engine
    books: Books
    n_frames: int
    n_worked: int
    size: tuple[int, int]
    apart: float = 1.0

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """By the name of each network that is of use, the resource that it makes; none where nobody refines."""
        wanted = () if self.engine.refiner is None else self.engine.refiner.networks
        own = [one for one in self.engine.descriptors if isinstance(one, NetworkDescriptor) and one.name in wanted]
        return {one.name: one.source.kind for one in own}

    def best(
        self, left_s: float, there: Answered = NOBODY, least: int = LEAST, network: str | None = None
    ) -> Outlook | None:
        """The way that promises most where so many seconds are left; None where there is no time for any.

        `there` are the frames that networks were asked about before; `network` is the one to ask, if that is settled.
        """
        if self.engine.refiner is None:
            return None
        each = product(self.kinds, self.engine.refiner.carries(self.apart).items())
        ways = [self._outlook(*way, left_s, there, least) for way in each if network in (None, way[0])]
        return max((way for way in ways if way is not None), key=lambda way: way.worth, default=None)

    def _outlook(
        self, network: str, how: tuple[str, float], left_s: float, there: Answered, least: int
    ) -> Outlook | None:
        assert self.engine.refiner is not None
        carry, most = how
        n = self._n_answers(network, there, 0.0)
        for _ in range(TRIES):
            refining_s = self.engine.refiner.seconds(self.books, self._extent(network, there, n), carry)
            n = self._n_answers(network, there, (left_s - SAFETY * refining_s) / BESIDE)
        if n < min(least, self.n_worked) or refining_s > most * left_s:
            return None
        return Outlook(network, carry, self.engine.refiner.worth(self._extent(network, there, n), carry, network))

    def best_now(self, way: Outlook, there: Answered, left_s: float) -> Outlook:
        """A way, or a better one with the answers that are there, where so many seconds are left for nothing else."""
        assert self.engine.refiner is not None
        extent = self._extent(way.network, there, there[way.network])
        share = dict.fromkeys(self.engine.refiner.carries(self.apart), SAFETY)
        *_, cheap, cheapest = share
        if self.engine.has_blocks and way.carry == cheapest:
            share[cheap] = HOPE
        fitting = [c for c in share if share[c] * self.engine.refiner.seconds(self.books, extent, c) <= left_s]
        worths = {c: self.engine.refiner.worth(extent, c, way.network) for c in (way.carry, *fitting)}
        carry = max(worths, key=lambda c: worths[c])  # the first of equals, as was planned
        return Outlook(way.network, carry, worths[carry])

    def seconds(self, network: str, carry: str, there: Answered = NOBODY, more_s: float = 0.0) -> float:
        """What it costs by the answers that there will be when so many seconds are over, and one more a thread."""
        assert self.engine.refiner is not None
        n_answers = min(self._n_answers(network, there, more_s) + self.engine.threads, self.n_worked)
        return self.engine.refiner.seconds(self.books, self._extent(network, there, n_answers), carry)

    def _extent(self, network: str, there: Answered, n_answers: float) -> Extent:
        beside = sum(n for other, n in there.items() if other != network)
        return Extent(self.n_frames, self.n_worked, self.size, n_answers, beside, self.apart)

    def _n_answers(self, network: str, there: Answered, left_s: float) -> float:
        """About how many frames a network will have been asked about when so many seconds are over."""
        each_s = self.engine.costs.predict(self.kinds[network], 1.0)
        more = self.engine.threads * max(left_s, 0.0) / max(each_s, 1e-9)
        return min(float(self.n_worked), there.get(network, 0) + more)
