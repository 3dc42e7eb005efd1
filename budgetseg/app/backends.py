"""What runs each network of a model: asked for by the user, taken from an earlier run, or found by measuring."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from budgetseg.app.trace import Trace
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.network_output import NetworkDescriptor
from budgetseg.errors import UsageError, VideoError
from budgetseg.networks.backends.core import Choice
from budgetseg.networks.backends.registry import Wanted, candidates, check_earlier
from budgetseg.networks.fastest import Measured, Measuring, fastest, measure
from budgetseg.networks.measured import Entry, Mark, read_measured, remember
from budgetseg.networks.run import TRIED, OnnxNetwork
from budgetseg.types import UInt8
from budgetseg.video import VideoSource

__all__ = ["Backends", "choices_of", "inexact", "read_choices", "stored_choices", "wanted_of"]

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Backends:
    """Chooses what runs the networks of a model, and keeps them open.

    Attributes
    ----------
    wanted : by the user, or by an earlier run
    threads : that run a network at the same time
    tell : called with a line on what takes long, once on a machine
    settings : how back ends are measured
    """

    wanted: Wanted
    threads: int
    tell: Callable[[str], None] = lambda _: None
    settings: Measuring = field(default_factory=Measuring)

    def __post_init__(self) -> None:
        self.wanted.check()
        self._rows: dict[tuple[str, tuple[int, int]], Sequence[Measured]] = {}
        self._opened: dict[tuple[str, str, Choice], OnnxNetwork] = {}

    def choices(
        self, networks: Mapping[str, OnnxNetwork], size: tuple[int, int], video: VideoSource | None
    ) -> dict[str, Choice]:
        """What runs each network, by name; what is not known yet is measured on the video.

        Without a video, a network of which nothing was measured runs by the most exact back end.

        Parameters
        ----------
        networks : by name, run by the reference
        size : width and height of the video
        video : that is about to be labelled; None if there is none yet
        """
        return {name: self._choice(name, network, size, video) for name, network in networks.items()}

    def are_known(self, networks: Mapping[str, OnnxNetwork]) -> bool:
        """Whether no video is needed to choose for networks of one size."""
        return all(
            network.size is not None and self._at_once(name, network, network.size) is not None
            for name, network in networks.items()
        )

    def by(self, name: str, network: OnnxNetwork, choice: Choice) -> OnnxNetwork:
        """A network run by a choice; it is opened once, for videos of all sizes."""
        key = name, network.digest, choice
        if key not in self._opened:
            _log.info("network %s runs by %s", name, choice)
            self._opened[key] = network.by(choice, self.threads)
        return self._opened[key].among(network.names)

    def of_descriptors(self, descriptors: Sequence[Descriptor]) -> list[Descriptor]:
        """Descriptors, with their networks run by what is known of them; nothing is measured."""
        return [self._descriptor(own) if isinstance(own, NetworkDescriptor) else own for own in descriptors]

    def _descriptor(self, descriptor: NetworkDescriptor) -> Descriptor:
        network = descriptor.network
        choice = self._choice(descriptor.name, network, TRIED, None)
        return NetworkDescriptor(descriptor.name, self.by(descriptor.name, network, choice))

    def _choice(self, name: str, network: OnnxNetwork, size: tuple[int, int], video: VideoSource | None) -> Choice:
        known = self._at_once(name, network, network.size_for(size))
        if known is not None:
            return known
        rows = [] if video is None else self._measure(name, network.at(size), video)
        return fastest(rows, self._candidates(network), self.settings)

    def _at_once(self, name: str, network: OnnxNetwork, size: tuple[int, int]) -> Choice | None:
        """What runs a network on frames of a size, where nothing has to be measured for it; else None."""
        earlier = self.wanted.earlier
        if earlier is not None and self.wanted.is_open:
            choice = earlier.get(name, network.choice)
            check_earlier(name, choice)
            return choice
        rows = self._known(network, size) or ()
        measured = [row.choice for row in rows if self.wanted.takes(row.choice)]
        if measured:
            return fastest(rows, measured, self.settings)
        found = self._candidates(network)
        return found[0] if len(found) == 1 else None

    def _candidates(self, network: OnnxNetwork) -> list[Choice]:
        return candidates(self.wanted, network.choice.precision, network.card.file)

    def _known(self, network: OnnxNetwork, size: tuple[int, int]) -> Sequence[Measured] | None:
        """What was measured of a network for frames of a size, now or by an earlier program."""
        key = network.digest, size
        if key not in self._rows:
            mark = Mark.of(network, size, self.threads)
            found = [entry.rows for entry in read_measured() if entry.mark == mark]
            if not found:
                return None
            self._rows[key] = found[0]
        return self._rows[key]

    def _measure(self, name: str, network: OnnxNetwork, video: VideoSource) -> Sequence[Measured]:
        frames = self._frames(video)
        if not frames:
            return []
        self.tell(f"measuring back ends of {name}, once on this machine")
        choices = candidates(Wanted(), network.choice.precision, network.card.file)
        rows = measure(network, choices, frames, self.threads, self.settings)
        for row in rows:
            _log.info("network %s by %s: %s", name, row.choice, row.error or f"{row.ms:.1f} ms, {row.agreement:.4f}")
        size = network.size_for((video.width, video.height))
        self._rows[network.digest, size] = rows
        remember(Entry(network.card.file.stem, Mark.of(network, size, self.threads), rows))
        return rows

    def _frames(self, video: VideoSource) -> list[UInt8]:
        """A few frames of a video, from its beginning; fewer where it is short or damaged."""
        frames: list[UInt8] = []
        numbers = range(0, self.settings.n_frames * self.settings.apart, self.settings.apart)
        with suppress(VideoError):
            for frame in video.pick([t for t in numbers if video.n_frames is None or t < video.n_frames]):
                frames.append(frame.pixels)  # noqa: PERF401  # what was read before an error counts
        return frames


def choices_of(sources: Mapping[str, object]) -> dict[str, Choice]:
    """What runs each network among the sources of a space, by name."""
    return {name: source.choice for name, source in sources.items() if isinstance(source, OnnxNetwork)}


def wanted_of(backend: str, precision: str, earlier: Trace | None) -> Wanted:
    """What the options --backend and --precision ask for, or what ran networks in an earlier run."""
    return Wanted(backend, precision, None if earlier is None else read_choices(earlier.settings))


def stored_choices(choices: Mapping[str, Choice]) -> dict[str, dict[str, str]]:
    """What runs each network, as JSON values of ledgers and traces."""
    return {name: asdict(choice) for name, choice in choices.items()}


def read_choices(settings: Mapping[str, Any]) -> dict[str, Choice]:
    """What ran each network, from the settings of a trace; empty for those that do not say: it was the reference."""
    stored = settings.get("backends", {})
    try:
        return {str(name): Choice(str(own["backend"]), str(own["precision"])) for name, own in stored.items()}
    except (LookupError, TypeError, AttributeError):
        raise UsageError("the trace of the earlier run is damaged at 'backends'; label the video again") from None


def inexact(before: Mapping[str, Choice], now: Mapping[str, Choice]) -> list[str]:
    """A line for each network that ran by something else in the earlier run, so that labels may differ."""
    return [
        f"{name} ran by {before[name]} in the earlier run and by {choice} now: labels may differ"
        for name, choice in now.items()
        if name in before and before[name] != choice
    ]
