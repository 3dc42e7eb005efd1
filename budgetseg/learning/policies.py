"""Learn policies for a model: every method, with hand-made descriptors and with a network, for each kind of costs.

    training videos, with probabilities out of fold
        ─► gains of descriptors ─► a first policy of gain per cost ─► which descriptors it does without
        ─► CAPI, judged in held-out clips
        ─► is it better than the first policy, in whole videos? ─► descriptors that it uses at each budget

One policy serves every budget: what is left is among its features.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from budgetseg.errors import UsageError
from budgetseg.files import atomic_folder
from budgetseg.learning.capi import CapiRecipe, iterate
from budgetseg.learning.gains import Gains, find_gains
from budgetseg.learning.journal import Journal, plot_rounds
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS, Learned, mark_of, variants_of
from budgetseg.learning.rollouts import RolloutRecipe
from budgetseg.learning.start import Start, first_policy
from budgetseg.learning.uses import ahead_of_first, uses_by_budget, with_fewer
from budgetseg.models.bundle import Model
from budgetseg.policy.features import EXTRAS
from budgetseg.policy.learned import SELECTIONS, Expected, LearnedPolicy, Uses
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.settings import SETTINGS
from budgetseg.policy.static import COSTS
from budgetseg.simulate import Arena
from budgetseg.simulate.cut import clips_of
from budgetseg.types import Float32

__all__ = ["Clips", "PolicyRecipe", "first_player", "judge_of", "judges_of", "learn_policies", "n_policies"]

_CAPI = CapiRecipe(BUDGETS, n_rounds=4, rollouts=RolloutRecipe(24, 2))

FORMAT = 5  # of policies that are kept while a model is trained; those of another format are learned again

Tell = Callable[[str], None]
"""Called with a line about every round."""


@dataclass(frozen=True)
class Clips:
    """How training videos are cut into clips.

    A run over a whole video would teach the same at a higher price. But a twentieth of the cost of a short clip does
    not pay for a frame of a network, and that of a long clip does.

    Attributes
    ----------
    short : supervoxels of a short clip, about
    long : supervoxels of a clip for small budgets, about
    few : with fewer long clips than this, none is held out
    """

    short: int = 1500
    long: int = 6000
    few: int = 6


@dataclass(frozen=True)
class PolicyRecipe:
    """Settings of learning policies.

    Attributes
    ----------
    balance : what is maximised, from 0 for the share of right pixels to 1 for the average over classes
    capi : settings of the learner
    methods : names in `SELECTIONS`
    costs : names in `COSTS`
    seed : of all random choices
    start : weights of the first policy
    clips : how training videos are cut
    least_gain : smallest gain that counts, as a share of the score. If descriptors are left out at a budget, no video
        may lose more than this, and all together must gain more
    n_subsets : number of the best descriptor subsets that a policy may use instead of all descriptors
    """

    balance: float = 0.5
    capi: CapiRecipe = _CAPI
    methods: tuple[str, ...] = tuple(SELECTIONS)
    costs: tuple[str, ...] = COSTS
    seed: int = 0
    start: Start = field(default_factory=Start)
    clips: Clips = field(default_factory=Clips)
    least_gain: float = Gains.least
    n_subsets: int = 4

    def __post_init__(self) -> None:
        for wanted, known in ((self.methods, tuple(SELECTIONS)), (self.costs, COSTS)):
            for name in set(wanted) - set(known):
                raise UsageError(f"no policies for '{name}'; choose from {', '.join(known)}")

    def within(self, limit_s: float) -> "PolicyRecipe":
        """The recipe with at most `limit_s` seconds of computing for each policy."""
        return replace(self, capi=replace(self.capi, limit_s=limit_s))


def n_policies(names: Sequence[str], recipe: PolicyRecipe) -> int:
    """Number of policies that a model with these descriptors gets."""
    return len(recipe.costs) * len(_wanted(names, recipe))


def _wanted(names: Sequence[str], recipe: PolicyRecipe) -> list[tuple[str, tuple[str, ...]]]:
    """Methods with their descriptor sets; the random order, as in the paper, is for hand-made descriptors alone."""
    pairs = [(method, descriptor_set) for method in recipe.methods for descriptor_set in variants_of(names)]
    return [pair for pair in pairs if pair[0] != "budget-rndrnk" or pair[1] == variants_of(names)[0]]


def learn_policies(
    learned: Learned,
    recipe: PolicyRecipe,
    folder: Path,
    cores: int,
    advance: Callable[[int], None] = lambda _: None,
    tell: Tell = lambda _: None,
) -> tuple[LearnedPolicy, ...]:
    """Learn a policy of every method, descriptor set and kind of costs.

    Parameters
    ----------
    learned : the model without policies
    recipe : settings
    folder : that each policy is kept in, with the journal of its rounds; those that are there are not learned again
    cores : number of runs at a time
    advance : called with 1 for each policy, `n_policies` in all
    tell : called with a line about every round
    """
    settings = replace(recipe, methods=(), costs=()), EXTRAS, SETTINGS, FORMAT  # the same for all policies
    mark = mark_of(learned, settings)
    policies = []
    gains: dict[tuple[str, ...], Gains] = {}
    for costs in recipe.costs:
        arenas: list[Arena] = []
        for method, names in _wanted(learned.model.classifiers.names, recipe):
            place = folder / f"{method}-{'+'.join(names)}-{costs}"
            policy = _read(place, mark, learned.model)
            if policy is None:
                arenas = arenas or learned.arenas(costs)
                journal = Journal(place.name, tell)
                judge = Judge(arenas, names, recipe.balance, cores)
                gains[names] = gains.get(names) or find_gains(judge, recipe.least_gain)  # costs do not matter to them
                policy = _learn(judge, gains[names], method, recipe, journal)
                _write(place, mark, policy, journal)
            policies.append(policy)
            advance(1)
    return tuple(policies)


def judges_of(
    arenas: Sequence[Arena], names: Sequence[str], balance: float, cores: int = 1, clips: Clips | None = None
) -> tuple[Judge, Judge]:
    """Judges of the clips to learn from, and of every fourth long clip, held out; both have all clips if there are few.

    A classifier of single decisions overfits, and must be judged by videos that it has not seen.
    """
    clips = clips or Clips()
    long = [clip for arena in arenas for clip in clips_of(arena, clips.long)]
    if len(long) < clips.few:
        judge = judge_of(long, names, balance, cores, clips)
        return judge, judge
    train = [clip for k, clip in enumerate(long) if k % 4 != 3]
    held_out = [clip for k, clip in enumerate(long) if k % 4 == 3]
    return judge_of(train, names, balance, cores, clips), judge_of(held_out, names, balance, cores, clips)


def judge_of(
    long: Sequence[Arena], names: Sequence[str], balance: float, cores: int, clips: Clips | None = None
) -> Judge:
    """A judge of long clips for small budgets, and of short clips, cut from them, for larger ones."""
    clips = clips or Clips()
    short = [clip for arena in long for clip in clips_of(arena, clips.short)]
    return Judge(short, names, balance, cores, long)


def first_player(judge: Judge, method: str, gains: Gains | None = None, recipe: PolicyRecipe | None = None) -> Player:
    """The player that learning begins with: gain per cost, with all descriptors of a judge, or with fewer of them.

    Descriptors are left out if that gains most over all budgets and no video loses: a gain in some videos with a loss
    in others is chance.

    Parameters
    ----------
    judge : of whole videos
    method : a name in `SELECTIONS`
    gains : of the judge's videos; None to measure them
    recipe : settings; None for the default
    """
    recipe = recipe or PolicyRecipe()
    selection = SELECTIONS[method]
    gains = gains or find_gains(judge, recipe.least_gain)
    first = first_policy(judge.arenas[0].model, gains, selection.order, recipe.start)
    spare = (1 << len(gains.names)) - 1 & ~gains.bits  # descriptors beside the set, computed only with time to spare
    player = Player(first, replace(selection, enabled=gains.bits | spare))
    return _best_without_loss(judge, with_fewer(player, gains, recipe.n_subsets))


def _best_without_loss(judge: Judge, players: Sequence[Player]) -> Player:
    """The player that gains most over the first, summed over all budgets, of those that lose in no video."""
    ahead = ahead_of_first(judge, players)
    loses_nowhere = (ahead.sum(axis=1) >= 0).all(axis=1)
    return players[int(np.argmax(np.where(loses_nowhere, ahead.sum(axis=(1, 2)), -np.inf)))]


def _learn(judge: Judge, gains: Gains, method: str, recipe: PolicyRecipe, journal: Journal) -> LearnedPolicy:
    """Learn a policy from the whole videos of a judge."""
    first = first_player(judge, method, gains, recipe)
    train, held_out = judges_of(judge.arenas, judge.names, judge.balance, judge.cores, recipe.clips)
    player = _better(judge, first, iterate(train, held_out, first, recipe.capi, recipe.seed, journal.round))
    weights = first.policy.weights.copy()
    learned = [judge.arenas[0].model.classifiers.names.index(name) for name in judge.names]
    weights[[*learned, -1]] = player.policy.weights[[*learned, -1]]
    player = replace(player, policy=LinearPolicy(weights, extended=True))
    schedule = uses_by_budget(judge, player, gains, recipe.n_subsets, recipe.least_gain)
    policy = LearnedPolicy(method, judge.names, judge.arenas[0].pricing, player.policy, uses=schedule)
    expected = [_accuracy(judge, Player(*policy.at(fraction)), fraction) for fraction in BUDGETS]
    return replace(policy, expected=_rising(expected))


def _better(judge: Judge, first: Player, found: Player) -> Player:
    """The player that scores more over all budgets in whole videos; the first if both score the same.

    A player that is better in the held-out clips may be worse in all videos together.
    """
    scores = judge.scores([first, found], judge.trials(BUDGETS, 1))
    return found if scores[1] > scores[0] else first


def _accuracy(judge: Judge, player: Player, fraction: float) -> Expected:
    """Accuracy of a player in all videos, with probabilities out of fold, at a share of the full cost."""
    pixels = sum(arena.truth.sum(axis=0) for arena in judge.arenas)
    right = judge.right(player, judge.trials((fraction,), 1))
    average = float(np.mean(right[pixels > 0] / pixels[pixels > 0]))
    return Expected(fraction, average, float(right.sum() / pixels.sum()))


def _rising(expected: Sequence[Expected]) -> tuple[Expected, ...]:
    """Expected accuracies that never fall: each is the best up to its budget."""
    best = np.maximum.accumulate([point[1:] for point in expected]).tolist()
    return tuple(Expected(point.budget_fraction, *figures) for point, figures in zip(expected, best, strict=True))


def _read(place: Path, mark: str, model: Model) -> LearnedPolicy | None:
    """The policy kept in a folder, if its mark is this one; None else."""
    try:
        card = json.loads((place / "policy.json").read_text())
        if card["of"] != mark:
            return None
        weights: Float32 = load_file(place / "policy.safetensors")["weights"]
        expected = tuple(Expected(*fields) for fields in card["expected"])
        schedule = tuple(Uses(*fields) for fields in card["uses"])
        policy = LinearPolicy(weights, extended=True)
        found = LearnedPolicy(card["method"], tuple(card["among"]), card["costs"], policy, expected, schedule)
        found.check(len(model.classifiers.names), model.classifiers.n_labels)
    except (OSError, ValueError, LookupError, TypeError, SafetensorError, UsageError):
        return None  # it is learned again in minutes
    return found


def _write(place: Path, mark: str, policy: LearnedPolicy, journal: Journal) -> None:
    card = {"of": mark, "method": policy.method, "among": policy.among, "costs": policy.costs, "uses": policy.uses}
    with atomic_folder(place) as part:
        save_file({"weights": policy.policy.weights}, part / "policy.safetensors")
        (part / "policy.json").write_text(json.dumps(card | {"expected": policy.expected}) + "\n")
        (part / "rounds.json").write_text(json.dumps(journal.rows, indent=2) + "\n")
        plot_rounds(journal.rows, part / "rounds.png")
