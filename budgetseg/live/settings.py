"""Settings of labelling streams, each with its meaning."""

from dataclasses import dataclass, field

from budgetseg.timing.margins import Margins

__all__ = ["LiveSettings"]


@dataclass(frozen=True)
class LiveSettings:
    """How streams are labelled.

    Attributes
    ----------
    waiting : frames of a source that may wait, at most; the oldest are dropped
    catching_up : share of the latency that labelling all waiting frames may take; where it takes more, the newest goes
        first and the others are dropped. A network stream gives two or three frames at once even where all is well
    kept : predictions of a source that are carried, at most: those that promise most
    better : points by which a network that is waited for must promise more than what is carried
    busy : share of the time between frames that labelling may take; where it takes more, no network is waited for and
        labels do not follow edges, or frames would pile up
    doubt : times its price that a network may take that is waited for; beside others, networks take longer
    caution, calm, most_caution : work that could be left out is taken to need as many times longer after a frame was
        late, and this fades with every frame that is in time; at most so many times altogether. On a busy machine
        prices of a moment ago tell little
    remembered : comparisons of networks, and of carrying, that count: what a stream shows changes within hours
    recent_changes : changes between frames that tell what is usual in a stream, and so what is a cut
    pace_weight : weight of the last frame in what is taken to be usual of a stream: its rate, and how fast it changes
    nice : how much networks beside the stream give way to it, 0 to 19, where the system has that
    margins : what is kept back of the latency
    """

    waiting: int = 8
    catching_up: float = 0.5
    kept: int = 3
    better: float = 0.3
    busy: float = 0.8
    doubt: float = 1.5
    caution: float = 1.5
    calm: float = 0.99
    most_caution: float = 8.0
    remembered: int = 32
    recent_changes: int = 32
    pace_weight: float = 0.1
    nice: int = 10
    margins: Margins = field(default_factory=lambda: Margins(share=0.02, seconds=0.002))
