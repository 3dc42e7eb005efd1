"""How a policy is used at each budget: which descriptors it does without.

Judged in whole training videos, in none of which it may cost anything: what a few videos gain, and others lose, is
chance.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budgetseg.learning.gains import LEAST_GAIN, Gains
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS
from budgetseg.policy.learned import Uses
from budgetseg.types import Bool, Float64

__all__ = ["ahead_of_first", "uses_by_budget", "with_fewer"]


def uses_by_budget(
    judge: Judge, player: Player, gains: Gains, n_subsets: int = 4, spare: float = LEAST_GAIN
) -> tuple[Uses, ...]:
    """For each of the budgets, the descriptors that are best from there on.

    At none of these budgets may a video lose more than `spare`, and all together must gain as much. What was done
    without with less to spend does not come back.
    """
    players = with_fewer(player, gains, n_subsets)
    ahead, sets = ahead_of_first(judge, players), np.array([one.selection.enabled for one in players])
    found, best = list[Uses](), 0
    for k, fraction in enumerate(BUDGETS):
        gained, fair = _from(ahead, k, spare)
        fair &= sets & ~sets[best] == 0
        best = int(np.argmax(np.where(fair, gained, -np.inf))) if fair.any() else best
        found.append(Uses(fraction, int(sets[best])))
    return tuple(found)


def _from(ahead: Float64, k: int, spare: float) -> tuple[Float64, Bool]:
    """What each gains at this budget and all larger ones, and whether that is something, and no video loses."""
    gained = ahead[:, k:].sum(axis=(1, 2))
    return gained, (ahead[:, k:] >= -spare).all(axis=(1, 2)) & (gained > spare)


def with_fewer(player: Player, gains: Gains, n_subsets: int = 4) -> list[Player]:
    """A player, and the same with each of the n best subsets of its descriptors."""
    own = player.selection.enabled
    some = [best for best in gains.best(n_subsets) if not best & ~own]
    return [_with(player, enabled) for enabled in dict.fromkeys((own, *(best | own & ~gains.bits for best in some)))]


def _with(player: Player, enabled: int) -> Player:
    return replace(player, selection=replace(player.selection, enabled=enabled))


def ahead_of_first(judge: Judge, players: Sequence[Player]) -> Float64:
    """How far players are ahead of the first, by budget and video, (P, B, V)."""
    if len(players) == 1:
        return np.zeros((1, len(BUDGETS), len(judge.arenas)))
    trials = [judge.trials((fraction,), 1) for fraction in BUDGETS]
    scores = [[judge.by_video(one, own) for own in trials] for one in players]
    return np.array(scores) - np.array(scores[0])
