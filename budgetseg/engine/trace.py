"""The trace of a run: what it did, in order, so that it can be replayed or continued."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple

from budgetseg.checked import Limits

__all__ = ["Event", "Finish", "WindowTrace"]


class Event(NamedTuple):
    """An action that was done.

    Attributes
    ----------
    place, source : numbers, as in `Action`
    at_s : when it was decided, in seconds of the clock
    spent_s : seconds that it took
    shared_s : the part of `spent_s` that went into results which other actions can use, too, or into waiting for them
    """

    place: int
    source: int
    at_s: float
    spent_s: float
    shared_s: float = 0.0


@dataclass(frozen=True)
class Finish:
    """How the labels of a window were made at one budget: all that a replay needs to make them again.

    Attributes
    ----------
    n_events : number of actions that were done before
    prior : whether every pixel has the most frequent class
    n_read : frames: number of frames that were read before
    n_moves : regions: number of moves after which the expansion was ended; None if it converged
    carry : frames: how predictions were propagated to other frames
    edges : frames: whether labels follow the edges of the frame
    positions : frames: where each frame was taken to lie along the window, as of `Timeline`
    cuts : frames: first frames of all shots but the first
    late : frames: frames that there was no time to label; they have the labels of the nearest labelled frame
    """

    n_events: int
    prior: bool = False
    n_read: int = 0
    n_moves: int | None = None
    carry: str = ""
    edges: bool = False
    positions: tuple[float, ...] = ()
    cuts: tuple[int, ...] = ()
    late: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class WindowTrace:
    """What was done in one window of a video.

    Attributes
    ----------
    n_frames : number of frames of the video that the window covers
    read : numbers, within the window, of the frames that were read, in the order of reading
    size : height and width of the frames that were labelled
    n_places : number of places that actions could be about: frames, or supervoxels
    events : actions that were done, in order
    finishes : how labels were made, one for each budget
    """

    n_frames: int
    read: Sequence[int]
    size: tuple[int, int]
    n_places: int
    events: Sequence[Event]
    finishes: Sequence[Finish]

    def as_dict(self) -> dict[str, Any]:
        """The trace as JSON values. Events are stored by column, which takes a third of the space."""
        columns = {name: [getattr(event, name) for event in self.events] for name in Event._fields}
        seconds = {name: [round(value, 7) for value in columns[name]] for name in Event._fields[2:]}
        return {
            "n_frames": self.n_frames,
            "read": list(self.read),
            "size": list(self.size),
            "n_places": self.n_places,
            "events": columns | seconds,
            "finishes": [asdict(finish) for finish in self.finishes],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "WindowTrace":
        """The trace from its JSON values; ValueError if they contradict each other."""
        columns = [stored["events"][name] for name in Event._fields]
        events = [
            Event(int(place), int(source), float(at_s), float(spent_s), float(shared_s))
            for place, source, at_s, spent_s, shared_s in zip(*columns, strict=True)
        ]
        height, width = map(int, stored["size"])
        window = cls(
            int(stored["n_frames"]),
            tuple(int(t) for t in stored["read"]),
            (height, width),
            int(stored["n_places"]),
            events,
            [_read_finish(finish) for finish in stored["finishes"]],
        )
        window._check()
        return window

    def _check(self) -> None:
        if not all(0 <= t < self.n_frames for t in self.read) or min(self.n_frames, self.n_places, *self.size) < 0:
            raise ValueError("frames that are not there")
        if self.n_frames > Limits.frames or max(self.size) > Limits.side or self.n_places > Limits.supervoxels:
            raise ValueError("more than a window can have")
        if len(set(self.read)) < len(self.read):
            raise ValueError("frames that were read twice")
        if not all(0 <= seconds <= Limits.seconds for event in self.events for seconds in event[2:]):
            raise ValueError("actions that took no time that can be")
        if not all(0 <= event.place < self.n_places and event.source >= 0 for event in self.events):
            raise ValueError("actions about places that are not there")
        for finish in self.finishes:
            if not 0 <= finish.n_events <= len(self.events) or not 0 <= finish.n_read <= len(self.read):
                raise ValueError("labels from what was not done")
            if not all(0 <= t < self.n_frames for t in (*finish.late, *finish.cuts)):
                raise ValueError("labels of frames that are not there")
            if finish.carry and not finish.prior:
                _check_positions(finish.positions, self.n_frames)
        ends = [finish.n_events for finish in self.finishes]
        if ends != sorted(ends):
            raise ValueError("budgets that do not rise")


def _check_positions(positions: Sequence[float], n_frames: int) -> None:
    rises = all(a <= b for a, b in pairwise(positions))
    if len(positions) != n_frames or not rises or not all(map(math.isfinite, positions)):
        raise ValueError("positions that do not rise, or not one for each frame")


def _read_finish(stored: Mapping[str, Any]) -> Finish:
    known = {field.name for field in fields(Finish)}
    if set(stored) != known:
        raise ValueError(f"an end must have {', '.join(sorted(known))}")
    late = tuple(int(t) for t in stored["late"])
    n_moves = None if stored["n_moves"] is None else int(stored["n_moves"])
    return Finish(
        int(stored["n_events"]),
        bool(stored["prior"]),
        int(stored["n_read"]),
        n_moves,
        str(stored["carry"]),
        bool(stored["edges"]),
        tuple(float(x) for x in stored["positions"]),
        tuple(int(t) for t in stored["cuts"]),
        late,
    )
