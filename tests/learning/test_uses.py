"""How a policy is used at each budget."""

from dataclasses import replace

import numpy as np

from budgetseg.learning.gains import Gains, find_gains
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS
from budgetseg.learning.policies import first_player
from budgetseg.learning.uses import uses_by_budget
from budgetseg.simulate import Arena
from tests.simulate.arenas import NAMES, random_arena, told_truth


def harmed_by_colour(arena: Arena) -> Arena:
    """The same with classifiers that say the truth with colour, and with the network, and lie with both."""
    return told_truth(arena, [1 << NAMES.index("colour"), 1 << NAMES.index("dcnn")])


def with_both(judge: Judge) -> Player:
    """One that computes colour and the network."""
    player, bits = first_player(judge, "budget-wanted"), 1 << NAMES.index("colour") | 1 << NAMES.index("dcnn")
    return replace(player, selection=replace(player.selection, enabled=bits))


def test_from_some_budget_on_it_does_without_what_does_harm() -> None:
    judge = Judge([harmed_by_colour(random_arena(60))], NAMES, 0.0)
    player, gains = with_both(judge), find_gains(judge)
    found = uses_by_budget(judge, player, gains)
    assert [own.budget_fraction for own in found] == list(BUDGETS)
    sets, both = [own.descriptors for own in found], player.selection.enabled
    alone = {bit: [_ahead(judge, player, bit, one) for one in BUDGETS] for bit in (1, both - 1)}
    for k, own in enumerate(sets):
        fair = {
            bit: sum(apart[k:])
            for bit, apart in alone.items()
            if min(apart[k:]) >= -Gains.least and sum(apart[k:]) > Gains.least
        }
        before = sets[k - 1] if k else both
        fair = {bit: gained for bit, gained in fair.items() if not bit & ~before}
        assert own == (max(fair, key=lambda bit: fair[bit]) if fair else before)
    assert sets[0] == both
    assert sets[-1] in alone


def _ahead(judge: Judge, player: Player, enabled: int, fraction: float) -> float:
    """How far it is ahead with other descriptors."""
    other = replace(player, selection=replace(player.selection, enabled=enabled))
    return float(np.subtract(*judge.scores([other, player], judge.trials((fraction,), 1))))


def test_what_it_was_learned_without_does_not_come_back() -> None:
    judge = Judge([told_truth(random_arena(60), [1 << NAMES.index("hog")])], NAMES, 0.0)
    player = with_both(judge)
    assert find_gains(judge).best(1) == [1 << NAMES.index("hog")]
    assert not any(
        own.descriptors & ~player.selection.enabled for own in uses_by_budget(judge, player, find_gains(judge))
    )


def test_what_one_video_needs_is_computed_in_all() -> None:
    small = told_truth(
        replace(random_arena(10, 1), name="small"), [1 << NAMES.index("colour") | 1 << NAMES.index("dcnn")]
    )
    judge = Judge([harmed_by_colour(random_arena(60)), small], NAMES, 0.0)
    player = with_both(judge)
    needed = judge.by_video(player, judge.trials(BUDGETS[-1:], 1))[1]
    assert needed > 0.05
    assert uses_by_budget(judge, player, find_gains(judge))[-1].descriptors == player.selection.enabled
