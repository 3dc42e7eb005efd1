"""Plan how many key frames a budget pays for, and whether it also pays for propagating their labels along flow."""

from dataclasses import dataclass

from budgetseg.errors import UsageError

__all__ = ["COPY", "FLOW", "KeyframeCosts", "KeyframePlan", "KeyframeSettings", "plan_keyframes"]

FLOW = "flow"
"""Frames that are not key frames get their labels from key frames along optical flow."""
COPY = "copy"
"""Frames that are not key frames get the labels of the nearest key frame, unchanged."""


@dataclass(frozen=True)
class KeyframeSettings:
    """How the key frame baseline spends a budget.

    Attributes
    ----------
    flow_worth : labels propagated along flow are about as good as labels copied from this many times as many key
        frames; 0 never propagates. `python -m benchmarks.keyframes DATA choose`
    reserve : share of the time left that plans keep back
    batch : key frames for each thread that the network runs on before the frames between them are labelled
    trials : runs that the costs of a frame are measured in
    """

    flow_worth: float = 4.0
    reserve: float = 0.03
    batch: int = 4
    trials: int = 3


@dataclass(frozen=True)
class KeyframeCosts:
    """Seconds per frame.

    Attributes
    ----------
    network_s : seconds for a key frame, from the network to labels
    flow_s : seconds for a frame whose labels are propagated along flow
    copy_s : seconds for a frame whose labels are copied
    """

    network_s: float
    flow_s: float
    copy_s: float

    def __post_init__(self) -> None:
        if not min(self.network_s, self.flow_s, self.copy_s) > 0:
            raise UsageError(f"costs must be more than 0 s a frame. Got {self}")


@dataclass(frozen=True)
class KeyframePlan:
    """Key frames for a budget.

    Attributes
    ----------
    n_frames : number of frames to be labelled
    n_keys : number of key frames among them
    carry : how the others get their labels, `flow` or `copy`
    foreseen_s : predicted seconds of all frames
    fits : whether that is within the budget; if not, the plan is the cheapest one possible
    """

    n_frames: int
    n_keys: int
    carry: str
    foreseen_s: float
    fits: bool

    @property
    def k(self) -> int:
        """The distance of key frames: every k-th frame is one."""
        return -(-self.n_frames // max(self.n_keys, 1))


def plan_keyframes(
    n_frames: int,
    budget_s: float,
    costs: KeyframeCosts,
    least: int = 1,
    settings: KeyframeSettings | None = None,
) -> KeyframePlan:
    """The plan with the most key frames that fit in a budget, for frames that are decoded already.

    If flow leaves too few key frames, labels are copied instead. If not even `least` key frames fit, the plan still has
    that many, labels are copied, and `fits` is False.

    Parameters
    ----------
    n_frames : number of frames to be labelled
    budget_s : seconds for all of them
    costs : seconds per frame
    least : number of key frames, at least
    settings : None for the default

    Examples
    --------
    >>> plan = plan_keyframes(100, 0.5, KeyframeCosts(network_s=0.010, flow_s=0.001, copy_s=0.0001))
    >>> plan.k, plan.carry, plan.fits
    (3, 'flow', True)
    """
    settings = settings or KeyframeSettings()
    n_flow = _affordable(n_frames, budget_s, costs.network_s, costs.flow_s)
    n_copy = _affordable(n_frames, budget_s, costs.network_s, costs.copy_s)
    # A half more, since the frames after the last key frame are half as many as those between two.
    if n_flow >= least and settings.flow_worth > 0 and n_copy + 0.5 <= settings.flow_worth * (n_flow + 0.5):
        n_keys = n_flow
        carry = FLOW
        other_s = costs.flow_s
    else:
        n_keys = max(n_copy, least)
        carry = COPY
        other_s = costs.copy_s
    foreseen_s = n_keys * costs.network_s + (n_frames - n_keys) * other_s
    return KeyframePlan(n_frames, n_keys, carry, foreseen_s, foreseen_s <= budget_s)


def _affordable(n_frames: int, budget_s: float, network_s: float, other_s: float) -> int:
    """Number of key frames that a budget pays for beside all other frames; -1 if it does not even pay for those."""
    if n_frames * network_s <= budget_s:
        return n_frames
    if n_frames * other_s > budget_s:
        return -1
    return int((budget_s - n_frames * other_s) / (network_s - other_s))
