"""What a policy keeps in the end: descriptors that help, and what was found if it is better."""

from dataclasses import replace

from budgetseg.learning.gains import find_gains
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.policies import _better, first_player
from budgetseg.policy.learned import SELECTIONS
from budgetseg.policy.linear import LinearPolicy
from tests.simulate.arenas import NAMES, random_arena, told_truth

HAND_MADE = NAMES[:4]


def test_descriptors_that_some_videos_need_are_not_done_without() -> None:
    """Of classifiers that say the truth with one of them alone in a large video, with another in a small one."""
    large, small, own = random_arena(60), replace(random_arena(10, 1), name="small"), 1 << NAMES.index("hog")
    network = [subset for subset in range(32) if subset >> NAMES.index("dcnn") & 1]
    judge = Judge([told_truth(large, [own]), told_truth(small, network)], NAMES, 0.0)
    assert find_gains(judge).best(1) == [own]
    assert first_player(judge, "budget-wanted").selection.enabled == own | 1 << NAMES.index(
        "dcnn"
    )  # which both gain by


def test_what_scores_less_in_whole_videos_than_what_it_began_with_is_not_kept() -> None:
    judge = Judge([told_truth(random_arena(30), range(1, 32))], NAMES, 0.0)
    first = first_player(judge, "budget-wanted")
    weights = first.policy.weights.copy()
    weights[-1, 0] += 1000  # finishes everybody before there is anything to go by
    selection = replace(first.selection, reopen=False)
    idle = Player(LinearPolicy(weights, extended=True), selection)
    assert _better(judge, first, idle) is first
    assert _better(judge, idle, first) is first
    assert _better(judge, first, replace(first)) is first  # as good is not better


def test_descriptors_that_do_not_help_over_all_budgets_are_done_without() -> None:
    own = 1 << NAMES.index("hog")
    arena = told_truth(random_arena(30), [own])
    judge = Judge([arena], NAMES, 0.0)
    for method in SELECTIONS:
        assert first_player(judge, method).selection == replace(SELECTIONS[method], enabled=own)
    few = Judge([arena], HAND_MADE, 0.0)
    assert first_player(few, "budget-wanted").selection.enabled == own | 1 << NAMES.index("dcnn")  # for who has time
