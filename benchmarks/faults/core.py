"""Cases of the campaign of faults, what they may come to, and a journal from which the campaign goes on."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["BAD", "GOOD", "Case", "Journal", "Outcome", "table"]

GOOD = ("done", "refused", "ended")
"""A case was labelled, refused in one line with exit status 2, or ended by its signal with the right status."""
BAD = ("lost", "wrong", "traceback", "hang", "crash", "escape")
"""Results lost, results or exit status wrong, no line but a traceback, no end, a crash, files outside of the output."""


@dataclass(frozen=True)
class Case:
    """One try.

    Attributes
    ----------
    kind : what is tried
    seed : what chance decides
    """

    kind: str
    seed: int


@dataclass(frozen=True)
class Outcome:
    """What a case came to.

    Attributes
    ----------
    case : that was tried
    end : one of `GOOD` or `BAD`
    what : what was said, in short
    """

    case: Case
    end: str
    what: str = ""


class Journal:
    """Outcomes, one a line in a file; a campaign that is started again does only what is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: list[Outcome] = []
        if path.is_file():
            for line in path.read_text().splitlines():
                stored = json.loads(line)
                self.outcomes.append(Outcome(Case(**stored["case"]), stored["end"], stored["what"]))

    def missing(self, cases: Sequence[Case]) -> list[Case]:
        """Those of some cases that were not tried."""
        known = {outcome.case for outcome in self.outcomes}
        return [case for case in cases if case not in known]

    def add(self, outcome: Outcome) -> None:
        """Write an outcome down."""
        self.outcomes.append(outcome)
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def table(outcomes: Sequence[Outcome]) -> str:
    """A row for each kind, a column for each end; then a line for each bad end."""
    counts = Counter((outcome.case.kind, outcome.end) for outcome in outcomes)
    kinds = list(dict.fromkeys(outcome.case.kind for outcome in outcomes))
    rows = [["kind", "tries", *GOOD, *BAD]]
    for kind in [*kinds, "all"]:
        found = [
            sum(n for (own, end), n in counts.items() if kind in (own, "all") and end == name) for name in GOOD + BAD
        ]
        rows.append([kind, str(sum(found)), *map(str, found)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    bad = [f"{o.case.kind} {o.case.seed}: {o.end}: {o.what}" for o in outcomes if o.end in BAD]
    return "\n".join([*lines, *bad])
