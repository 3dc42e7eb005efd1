"""Settings of the frames space, each with its meaning and where its value comes from."""

from dataclasses import dataclass, field

from budgetseg.propagate.gaps import Gaps
from budgetseg.propagate.settings import Propagation

__all__ = ["FrameSettings", "Losses"]


@dataclass(frozen=True)
class Losses:
    """What plans believe: points of mean IoU, against the cheapest network on every frame.

    Means over the training splits of CamVid and SUNY, by fold networks on frames that they have not seen.

    Attributes
    ----------
    flow : lost for a second frame to a key frame, where predictions are carried along flow
    copy : the same, where labels are copied
    far : so many frames from key frame to key frame lose twice as much for each of them
    most : lost by frames that have nothing in common with key frames but what such videos show
    alone : lost where frames use one key frame alone, since nothing is fused
    edges : gained where labels follow edges
    skipped : lost for each frame left out between two that are read
    skipped_growth : how much more distance costs for each of these
    doubling : gained with each doubling of a network's price: the dearer it is, the better it is taken to be
    """

    flow: float = 0.09
    copy: float = 1.0
    far: float = 20.0
    most: float = 25.0
    alone: float = 0.4
    edges: float = 0.3
    skipped: float = 0.2
    skipped_growth: float = 0.35
    doubling: float = 1.1


@dataclass(frozen=True)
class FrameSettings:
    """How a video is worked on by whole frames.

    Attributes
    ----------
    propagation : how predictions are carried, fused and painted
    gaps : how far apart frames lie
    losses : what plans believe
    balance : each class counts its share of the training pixels to minus this: fusing costs rare and thin classes
    window_bytes : memory of a window, at most
    shortest_window : frames of a window, at least
    looked_at : pairs of frames that tell how far apart frames lie, of a window
    telling : share of a window that must be read before it is clear that there is no time to decode all of it
    clearly : times the time that is left that decoding must take then, before frames that need others are left out
    search : share of the time that is left in which a file is looked through for frames that need no others
    """

    propagation: Propagation = field(default_factory=Propagation)
    gaps: Gaps = field(default_factory=Gaps)
    losses: Losses = field(default_factory=Losses)
    balance: float = 0.1
    window_bytes: int = 400_000_000
    shortest_window: int = 8
    looked_at: int = 8
    telling: float = 0.125
    clearly: float = 1.25
    search: float = 0.25
