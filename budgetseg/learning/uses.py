"""How a policy is used at each budget: which descriptors it does without, and how eager it is.

Judged in whole training videos, in none of which it may cost anything: what a few videos gain, and others lose, is
chance.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budgetseg.learning.gains import LEAST, Gains
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS
from budgetseg.policy.learned import Uses
from budgetseg.types import Bool, Float64

__all__ = ["MORE_EAGER", "N_SUBSETS", "SPARE", "ahead_of_first", "uses_by_budget", "with_fewer"]

N_SUBSETS = 4
"""The best subsets of descriptors, which a policy may do with instead of all: where it loses in no video."""

MORE_EAGER = (0.0, 1.0, 2.0, 4.0)
"""How much farther descriptors may be ahead of Finished, where whoever was finished is not reopened: of budgets that
pay for everybody, a policy that was good on average over all budgets leaves half."""

SPARE = LEAST
"""Of the score in all videos: what one of them may lose at a budget, and what all must gain."""


def uses_by_budget(judge: Judge, player: Player, gains: Gains) -> tuple[Uses, ...]:
    """For each of the budgets, what is best from there on: fewer descriptors, then more eagerness.

    At none of these budgets may a video lose by it, but for what there is to spare. What was done without with less to
    spend does not come back, and it never becomes less eager.
    """
    sets = _sets_by_budget(judge, player, gains)
    players = [_with(player, enabled) for enabled in sets]
    return tuple(map(Uses, BUDGETS, sets, _eagerness_by_budget(judge, players)))


def _sets_by_budget(judge: Judge, player: Player, gains: Gains) -> list[int]:
    players = with_fewer(player, gains)
    ahead, sets = ahead_of_first(judge, players), np.array([one.selection.enabled for one in players])
    found, best = list[int](), 0
    for k in range(len(BUDGETS)):
        gained, fair = _from(ahead, k)
        fair &= sets & ~sets[best] == 0
        best = int(np.argmax(np.where(fair, gained, -np.inf))) if fair.any() else best
        found.append(int(sets[best]))
    return found


def _eagerness_by_budget(judge: Judge, players: Sequence[Player]) -> list[float]:
    """Of the players for each of the budgets; the most eager of those that gain about as much."""
    if players[0].selection.reopen:
        return [0.0] * len(BUDGETS)
    ways = [[replace(one, policy=one.policy.more_eager(by)) for one in players] for by in MORE_EAGER]
    ahead = _ahead(judge, ways)
    found, best = list[float](), 0
    for k in range(len(BUDGETS)):
        gained, fair = _from(ahead, k)
        fair[:best] = False
        if fair.any():
            best = int(np.flatnonzero(fair & (gained >= gained[fair].max() - SPARE))[-1])
        found.append(MORE_EAGER[best])
    return found


def _from(ahead: Float64, k: int) -> tuple[Float64, Bool]:
    """What each gains at this budget and all larger ones, and whether that is something, and no video loses."""
    gained = ahead[:, k:].sum(axis=(1, 2))
    return gained, (ahead[:, k:] >= -SPARE).all(axis=(1, 2)) & (gained > SPARE)


def with_fewer(player: Player, gains: Gains) -> list[Player]:
    """A player, and the same with each of the best subsets of its descriptors."""
    own = player.selection.enabled
    some = [best for best in gains.best(N_SUBSETS) if not best & ~own]
    return [_with(player, enabled) for enabled in dict.fromkeys((own, *(best | own & ~gains.bits for best in some)))]


def _with(player: Player, enabled: int) -> Player:
    return replace(player, selection=replace(player.selection, enabled=enabled))


def ahead_of_first(judge: Judge, players: Sequence[Player]) -> Float64:
    """How far players are ahead of the first, by budget and video, (P, B, V)."""
    return _ahead(judge, [[one] * len(BUDGETS) for one in players])


def _ahead(judge: Judge, ways: Sequence[Sequence[Player]]) -> Float64:
    """The same where each has a player for every budget."""
    if len(ways) == 1:
        return np.zeros((1, len(BUDGETS), len(judge.arenas)))
    trials = [judge.trials((fraction,), 1) for fraction in BUDGETS]
    scores = [[judge.by_video(*pair) for pair in zip(players, trials, strict=True)] for players in ways]
    return np.array(scores) - np.array(scores[0])
