"""What stages cost on this machine: seconds for a unit of work, the last few runs counting most.

Stages are few and long, so that each of them tells little about how busy the machine is; the kernel's count of waiting
for a core tells more. Descriptors are many and short, and have a model of their own, with a pace of its own.
"""

import json
import logging
import math
from contextlib import suppress
from pathlib import Path

from budgetseg.errors import OutputError
from budgetseg.files import atomic_file
from budgetseg.inference.contention import Contention
from budgetseg.machine import cache_folder, cpu_model

__all__ = ["DOUBT", "StageCosts"]

_log = logging.getLogger(__name__)

FORMAT = 3  # also when a stage counts its work in other units
FILE = "stages.json"
NEW = 0.35  # weight of the last run; the others share the rest
FAR_LESS, BELIEVED = 1.5, 0.75  # decoding that took so many times less than was known has this weight:
UNSEEN = "decode"  # it has threads of its own, of whose waiting for a core we know nothing
DOUBT = 4.0  # what was learned on a busy machine alone may take so many times less


class StageCosts:
    """Seconds on an idle machine by name and amount of work; kept in a file between runs.

    Attributes
    ----------
    contention : how much slower than that the machine is now
    """

    def __init__(self, rates: dict[str, float] | None = None) -> None:
        self._rates = rates or {}
        self.contention = Contention()

    def __contains__(self, name: str) -> bool:
        return name in self._rates

    def predict(self, name: str, work: float) -> float:
        """Seconds that so much work will take; 0 for a stage that was never seen."""
        return self._rates.get(name, 0.0) * work

    def observe(self, name: str, work: float, seconds: float) -> None:
        """Learn from one run."""
        rate = max(seconds, 1e-7) / max(work, 1.0)
        before = self._rates.get(name, rate)
        is_freed = name.startswith(UNSEEN) and FAR_LESS * rate < before
        weight = BELIEVED if is_freed else NEW
        self._rates[name] = math.exp((1 - weight) * math.log(before) + weight * math.log(rate))

    def save(self, folder: Path | None = None) -> None:
        """Keep what was learned for the next run, where there is a place to keep it: the cache if none is given."""
        with suppress(OutputError), atomic_file((folder or cache_folder()) / FILE) as part:
            part.write_text(json.dumps({"format": FORMAT, "cpu": cpu_model(), "rates": self._rates}, indent=1) + "\n")

    @classmethod
    def load(cls) -> "StageCosts":
        """What was learned on this machine; nothing where the file is missing, damaged or from another machine."""
        try:
            stored = json.loads((cache_folder() / FILE).read_text())
            rates = {str(name): float(rate) for name, rate in stored["rates"].items()}
            sound = all(0 < rate < math.inf for rate in rates.values())
            if sound and stored["format"] == FORMAT and stored["cpu"] == cpu_model():
                _log.info("costs of %d stages from %s", len(rates), cache_folder() / FILE)
                return cls(rates)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # measured again in seconds
        _log.info("no costs of stages of this machine in %s", cache_folder() / FILE)
        return cls()
