"""Settings of the frames space, each with its meaning and where its value comes from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from budgetseg.propagate.settings import Propagation
from budgetseg.propagate.timeline import Distances

__all__ = ["FrameSettings", "Losses"]


@dataclass(frozen=True)
class Losses:
    """What plans believe: points of mean IoU, against the cheapest network on every frame.

    From CamVid's and SUNY's training frames and composites of them, by fold networks that have not seen them:
    `python -m benchmarks.carrying` for what carrying loses, `python -m benchmarks.worth` for the rest. `python -m
    benchmarks.adapted DATA 3 FIELD=VALUE` tells what changing one does to runs.

    Attributes
    ----------
    rate : lost for each unit of distance along flow from a frame to the nearest key frame
    copied : times as much is lost where labels are copied
    most : lost at most, by frames that have nothing in common with key frames but what such videos show
    alone : lost where labels are copied, since nothing is fused; 0.12 in the mean over videos, 0.30 of SUNY
    edges : gained where labels follow edges; 0.28 in the mean over videos
    skipped, skipped_gap : lost by frames that are not read, where flow is taken to be even between those that are: at
        most, and the distance between neighbours that are read from which on two thirds of that are lost
    crossed : lost by frames that are not read and are taken to lie on the other side of a cut: 5 to 7 points where half
        of the frames of SUNY's composites are read, with 7 cuts in 200 frames, and fewer where scenes are alike
    gains : by network, points by which it is better than the cheapest, where that was measured for a model:
        `budgetseg adapt` and `budgetseg train`
    prior_frames : as many frames of the video at hand as these gains count for, beside those on which networks were
        compared there; `python -m benchmarks.adapted`
    doubling : gained with each doubling of a network's price where no gains were measured, until networks were compared
        on the video at hand: the dearer it is, the better it is taken to be. By labels 0.3 on SUNY, 2.1 on CamVid,
        1.1 on both
    hope : points by which a network may be better than that: it is tried where it would be chosen then. On film, 0
        loses 5 points in the mean, and 15 changes nothing
    trust : points of mean IoU that are gained or lost for each point that is expected by the probabilities of the
        better answer: networks are too sure of themselves. Slope over training videos and networks that have not seen
        them: 0.73 for networks (correlation 0.91), 0.86 for one frame carried along flow (0.97), 0.90 copied (0.92)
    rare : share of a frame; classes that are expected to have less do not count in that. Correlations are about the
        same from 0.002 to 0.03, and worse with 0
    prior_points : points of loss that `rate` is trusted with, beside those that were found on the video at hand. 1 and
        10 are the same but for 0.1 points
    """

    rate: float = 0.8
    copied: float = 2.4
    most: float = 30.0
    alone: float = 0.15
    edges: float = 0.3
    skipped: float = 6.5
    skipped_gap: float = 14.0
    crossed: float = 300.0
    gains: Mapping[str, float] = field(default_factory=dict)
    prior_frames: float = 2.0
    doubling: float = 1.1
    hope: float = 5.0
    trust: float = 0.7
    rare: float = 0.002
    prior_points: float = 3.0


@dataclass(frozen=True)
class FrameSettings:
    """How a video is worked on by whole frames.

    Attributes
    ----------
    propagation : how predictions are carried, fused and painted
    distances : how far frames lie from each other
    losses : what plans believe
    balance : each class counts its share of the training pixels to minus this: fusing costs rare and thin classes
    window_bytes : memory of a window, at most
    shortest_window : frames of a window, at least
    flow_share : distance between neighbouring frames along flow, as a share of that without, where there was no time to
        find it out. Median over training videos and film
    probes : pairs of neighbours along which flow is found before anything is planned, in each window
    look_share : share of the time that is left that comparing frames may take, and these pairs
    telling : share of a window that must be read before it is clear that there is no time to decode all of it
    clearly : times the time that is left that decoding must take then, before frames that need others are left out
    search : share of the time that is left in which a file is looked through for frames that need no others
    rehearsals : predictions that are fused and painted when they come in, so that the end is priced by this video
    rehearsal_share : share of the time that is left that this may take, each time
    trials : predictions that are compared with what is carried to their frames from others, in each window
    trial_share : share of the time that is left that this may take, each time
    probe_share : share of the time that is left that a network may take on its first frame, to show what it is worth
    moved : cells by which such a prediction is moved against itself. With 4, fusing takes then about what it takes at
        the end (median over the videos of `bench deadline` and film)
    """

    propagation: Propagation = field(default_factory=Propagation)
    distances: Distances = field(default_factory=Distances)
    losses: Losses = field(default_factory=Losses)
    balance: float = 0.1
    window_bytes: int = 400_000_000
    shortest_window: int = 8
    flow_share: float = 0.3
    probes: int = 3
    look_share: float = 0.1
    telling: float = 0.125
    clearly: float = 1.25
    search: float = 0.25
    rehearsals: int = 3
    rehearsal_share: float = 0.02
    trials: int = 6
    trial_share: float = 0.004
    probe_share: float = 0.15
    moved: float = 4.0
