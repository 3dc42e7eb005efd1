"""`backends.json`: what was measured of networks in back ends on this machine, kept between programs."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from budgetseg.checked import read_json
from budgetseg.errors import OutputError
from budgetseg.files import atomic_file
from budgetseg.machine import cache_folder, cpu_model
from budgetseg.networks.backends.core import Choice
from budgetseg.networks.backends.registry import versions
from budgetseg.networks.fastest import Measured
from budgetseg.networks.run import OnnxNetwork

__all__ = ["FILE", "Entry", "Mark", "read_measured", "remember"]

FILE = "backends.json"
FORMAT = 1
_DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True)
class Mark:
    """What a measurement holds for.

    Attributes
    ----------
    cpu : name of the processor
    versions : of the back ends that were installed, by name
    digest : of the network
    size : width and height of the frames that it takes
    threads : that run it at the same time
    """

    cpu: str
    versions: Mapping[str, str]
    digest: str
    size: tuple[int, int]
    threads: int

    @classmethod
    def of(cls, network: OnnxNetwork, size: tuple[int, int], threads: int) -> "Mark":
        """The mark of a network for frames of one size on this machine."""
        return cls(cpu_model(), versions(), network.digest, size, threads)


@dataclass(frozen=True)
class Entry:
    """A measurement of a network.

    Attributes
    ----------
    network : name of its file
    mark : what it holds for
    rows : what was found, by back end and precision
    """

    network: str
    mark: Mark
    rows: Sequence[Measured]


def read_measured(folder: Path | None = None) -> list[Entry]:
    """All measurements that are kept; none where the file is missing or damaged: they are made again in seconds."""
    try:
        stored = read_json((folder or cache_folder()) / FILE)
        return [_read_entry(entry) for entry in stored["measured"]] if stored["format"] == FORMAT else []
    except _DAMAGES:
        return []


def remember(entry: Entry, folder: Path | None = None) -> None:
    """Keep a measurement, in place of an earlier one of the same; nothing where the folder cannot be written."""
    folder = folder or cache_folder()
    entries = [other for other in read_measured(folder) if other.mark != entry.mark] + [entry]
    text = json.dumps({"format": FORMAT, "measured": [asdict(own) for own in entries]}, indent=1)
    with suppress(OutputError, OSError), atomic_file(folder / FILE) as part:
        part.write_text(text + "\n")


def _read_entry(stored: Mapping[str, Any]) -> Entry:
    mark = stored["mark"]
    width, height = map(int, mark["size"])
    installed = {str(name): str(version) for name, version in mark["versions"].items()}
    own = Mark(str(mark["cpu"]), installed, str(mark["digest"]), (width, height), int(mark["threads"]))
    return Entry(str(stored["network"]), own, [_read_row(row) for row in stored["rows"]])


def _read_row(stored: Mapping[str, Any]) -> Measured:
    choice = Choice(str(stored["choice"]["backend"]), str(stored["choice"]["precision"]))
    ms = None if stored["ms"] is None else float(stored["ms"])
    return Measured(choice, ms, float(stored["agreement"]), float(stored["difference"]), str(stored["error"]))
