"""How many key frames a budget pays for, and whether it also pays for carrying their labels along flow."""

from dataclasses import dataclass

from budgetseg.errors import UsageError

__all__ = ["COPY", "FLOW", "KeyframeCosts", "KeyframePlan", "plan_keyframes"]

FLOW, COPY = "flow", "copy"
"""How labels come to frames that are not key frames: along optical flow, or as they are from the nearest key frame."""

WORTH = 4.0
"""Labels carried along flow are about as good as those copied from so many times as many key frames."""


@dataclass(frozen=True)
class KeyframeCosts:
    """Seconds a frame.

    Attributes
    ----------
    network_s : of a key frame, from the network to labels
    flow_s : of a frame whose labels are carried along flow
    copy_s : of a frame whose labels are copied
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
    n_frames : to be labelled
    n_keys : of them key frames
    carry : how the others get their labels, `flow` or `copy`
    foreseen_s : what all of it costs
    fits : whether that is within the budget; if not, it is the least that can be done
    """

    n_frames: int
    n_keys: int
    carry: str
    foreseen_s: float
    fits: bool

    @property
    def k(self) -> int:
        """Every k-th frame is a key frame."""
        return -(-self.n_frames // max(self.n_keys, 1))


def plan_keyframes(n_frames: int, budget_s: float, costs: KeyframeCosts, least: int = 1) -> KeyframePlan:
    """The smallest k that fits in a budget, frames being decoded already.

    Where flow leaves too few key frames, labels are copied instead. Where not even `least` key frames fit, there are
    still so many, labels are copied, and the plan says that it does not fit.

    Examples
    --------
    >>> plan = plan_keyframes(100, 0.5, KeyframeCosts(network_s=0.010, flow_s=0.001, copy_s=0.0001))
    >>> plan.k, plan.carry, plan.fits
    (3, 'flow', True)
    """
    n_flow, n_copy = (_affordable(n_frames, budget_s, costs.network_s, each) for each in (costs.flow_s, costs.copy_s))
    # A half more, since the frames after the last key frame are half as many as those between two.
    if n_flow >= least and n_copy + 0.5 <= WORTH * (n_flow + 0.5):
        n_keys, carry, other_s = n_flow, FLOW, costs.flow_s
    else:
        n_keys, carry, other_s = max(n_copy, least), COPY, costs.copy_s
    foreseen_s = n_keys * costs.network_s + (n_frames - n_keys) * other_s
    return KeyframePlan(n_frames, n_keys, carry, foreseen_s, foreseen_s <= budget_s)


def _affordable(n_frames: int, budget_s: float, network_s: float, other_s: float) -> int:
    """Key frames that a budget pays for after all other frames; -1 where it does not even pay for those."""
    if n_frames * network_s <= budget_s:
        return n_frames
    if n_frames * other_s > budget_s:
        return -1
    return int((budget_s - n_frames * other_s) / (network_s - other_s))
