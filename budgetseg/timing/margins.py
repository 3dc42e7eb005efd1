"""Safety margins: what a run keeps back of a budget so that labels are ready in time. All are in this one class."""

from dataclasses import dataclass

__all__ = ["Margins"]


@dataclass(frozen=True)
class Margins:
    """Safety factors of a run. All were set by `budgetseg bench deadline`, idle and loaded, on two cores.

    Attributes
    ----------
    finish : factor on the predicted seconds from the last action to labels ready, which cannot be cut off
    action : factor on the predicted seconds of an action; an action that is cut off is lost
    share : share of the budget that is kept back for work that nothing predicts
    seconds : seconds that are kept back in addition
    waiting_s : seconds kept back in addition if other programs always have the core first: a few of their time slices
    waiting_share : largest share of the budget that these may be
    glance : share of the smallest budget in which one place of every window is asked about before any window is
        labelled, so that windows that come late have labels of their content
    glance_alone : share of a window's part of the smallest budget; where a glance takes more, as many windows as
        possible have theirs first, since there is time for little else
    glances : number of windows that are looked at so, at most: each keeps a prediction in memory
    first : times its price that the first action of a window may take after the user has stopped the run
    decode_doubt : the stored price of decoding may be this many times too high, if it was learned while others used the
        machine; if nothing would fit by it, reading is tried nevertheless
    """

    finish: float = 1.15
    action: float = 1.2
    share: float = 0.006
    seconds: float = 0.003
    waiting_s: float = 0.018
    waiting_share: float = 0.012
    glance: float = 0.1
    glance_alone: float = 0.5
    glances: int = 256
    first: float = 2.0
    decode_doubt: float = 4.0

    def reserve_s(self, budget_s: float, waiting: float) -> float:
        """Seconds of a budget that are kept back.

        Parameters
        ----------
        budget_s : the budget
        waiting : share of its time that the process waits for a core, 0 to 1
        """
        if budget_s == float("inf"):
            return 0.0
        return self.share * budget_s + self.seconds + min(waiting * self.waiting_s, self.waiting_share * budget_s)
