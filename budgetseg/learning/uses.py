"""The budget schedule of a policy: which descriptors it uses from each budget on.

A descriptor is left out only if no training video loses by it: a gain in some videos with a loss in others is chance.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budgetseg.learning.gains import Gains
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS
from budgetseg.policy.learned import Uses
from budgetseg.types import Bool, Float64

__all__ = ["ahead_of_first", "uses_by_budget", "with_fewer"]


def uses_by_budget(
    judge: Judge, player: Player, gains: Gains, n_subsets: int = 4, spare: float = Gains.least
) -> tuple[Uses, ...]:
    """The schedule of a player: for each budget, the descriptors that are best from there on.

    A descriptor that was left out at a smaller budget does not come back.

    Parameters
    ----------
    judge : of whole training videos
    player : that is given a schedule
    gains : of its descriptors
    n_subsets : number of the best descriptor subsets that are tried
    spare : share of the score that a video may lose at a budget, and that all videos together must gain
    """
    players = with_fewer(player, gains, n_subsets)
    ahead = ahead_of_first(judge, players)
    sets = np.array([candidate.selection.enabled for candidate in players])
    schedule: list[Uses] = []
    best = 0
    for k, fraction in enumerate(BUDGETS):
        gained, is_allowed = _gains_from(ahead, k, spare)
        is_allowed &= sets & ~sets[best] == 0
        if is_allowed.any():
            best = int(np.argmax(np.where(is_allowed, gained, -np.inf)))
        schedule.append(Uses(fraction, int(sets[best])))
    return tuple(schedule)


def _gains_from(ahead: Float64, k: int, spare: float) -> tuple[Float64, Bool]:
    """Gain of each player, (P,), at budget k and all larger ones; whether it is enough and no video loses, (P,)."""
    gained = ahead[:, k:].sum(axis=(1, 2))
    return gained, (ahead[:, k:] >= -spare).all(axis=(1, 2)) & (gained > spare)


def with_fewer(player: Player, gains: Gains, n_subsets: int = 4) -> list[Player]:
    """A player, and the same player with each of the n best subsets of its descriptors."""
    enabled = player.selection.enabled
    subsets = [best for best in gains.best(n_subsets) if not best & ~enabled]
    sets = dict.fromkeys((enabled, *(best | enabled & ~gains.bits for best in subsets)))
    return [_with(player, descriptors) for descriptors in sets]


def _with(player: Player, enabled: int) -> Player:
    return replace(player, selection=replace(player.selection, enabled=enabled))


def ahead_of_first(judge: Judge, players: Sequence[Player]) -> Float64:
    """Scores of players less those of the first one, by budget and video, (P, B, V)."""
    if len(players) == 1:
        return np.zeros((1, len(BUDGETS), len(judge.arenas)))
    trials = [judge.trials((fraction,), 1) for fraction in BUDGETS]
    scores = [[judge.by_video(player, budget_trials) for budget_trials in trials] for player in players]
    return np.array(scores) - np.array(scores[0])
