"""What a run keeps back so that labels are ready when the budget ends: every safety factor, in one place."""

from dataclasses import dataclass

__all__ = ["Margins"]


@dataclass(frozen=True)
class Margins:
    """Safety factors of a run. All were set by `budgetseg bench deadline`, idle and loaded, on two cores.

    Attributes
    ----------
    finish : factor on the predicted seconds of the end, from the last action to labels ready; the end cannot be cut off
    action : factor on the predicted seconds of an action; one that is cut off is lost
    share : share of the budget that is kept back for what nothing predicts
    seconds : seconds that are kept back on top
    waiting_s : seconds kept back on top where other programs always have the core first: a few of their time slices
    waiting_share : share of the budget that this may be at most
    glance : share of the smallest budget in which one place of every window is asked about before any window is
        labelled, so that windows that come late have labels of their content; `bench wait` and tests of stopped runs
    glances : windows that are looked at so, at most: each keeps a prediction in memory
    first : times its price that the first action of a run may take once the user has stopped that run
    decode_doubt : the price of decoding may be so many times too high, since it was learned while others used the
        machine: where nothing would fit by it, reading is tried nevertheless
    """

    finish: float = 1.15
    action: float = 1.2
    share: float = 0.006
    seconds: float = 0.003
    waiting_s: float = 0.018
    waiting_share: float = 0.012
    glance: float = 0.1
    glances: int = 256
    first: float = 2.0
    decode_doubt: float = 4.0

    def reserve_s(self, budget_s: float, waiting: float) -> float:
        """Seconds of a budget that are kept back, where the process waits such a share of its time for a core."""
        if budget_s == float("inf"):
            return 0.0
        return self.share * budget_s + self.seconds + min(waiting * self.waiting_s, self.waiting_share * budget_s)
