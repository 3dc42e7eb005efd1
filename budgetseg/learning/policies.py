"""Policies for a model: every learned method, among hand-made descriptors and with a network, for each kind of costs.

    training videos, as classifiers see them that have not seen them
        ─► what descriptors add to each other ─► gain per cost ─► which of them to do without
        ─► CAPI, judged in clips held out
        ─► better than what it began with, in whole videos? ─► how it is used at each budget

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
from budgetseg.learning.gains import LEAST_GAIN, Gains, find_gains
from budgetseg.learning.journal import Journal, plot_rounds
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS, Learned, mark_of, variants_of
from budgetseg.learning.rollouts import RolloutRecipe
from budgetseg.learning.start import Start, first_policy
from budgetseg.learning.uses import ahead_of_first, uses_by_budget, with_fewer
from budgetseg.models.bundle import Model
from budgetseg.policy.features import EXTRAS, LEAST_LEFT
from budgetseg.policy.learned import SELECTIONS, Expected, LearnedPolicy, Uses
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.static import COSTS
from budgetseg.simulate import Arena
from budgetseg.simulate.cut import clips_of
from budgetseg.types import Float32

__all__ = ["Clips", "PolicyRecipe", "first_player", "judge_of", "judges_of", "learn_policies", "n_policies"]

_CAPI = CapiRecipe(BUDGETS, n_rounds=4, rollouts=RolloutRecipe(24, 2))

FORMAT = 5  # of policies that are kept while a model is trained; those of another are learned again

Tell = Callable[[str], None]
"""Hears a line about every round."""


@dataclass(frozen=True)
class Clips:
    """How training videos are cut into clips, in supervoxels.

    To the end of a long video, runs would show the same at a higher price; but a twentieth of a short clip does not pay
    for a frame of a network, and of a long one it does.

    Attributes
    ----------
    short : about how many supervoxels a clip has
    long : those of clips for small budgets
    few : of fewer long clips than this, none is held out
    """

    short: int = 1500
    long: int = 6000
    few: int = 6


@dataclass(frozen=True)
class PolicyRecipe:
    """How to learn policies.

    Attributes
    ----------
    balance : what is maximised, from 0 for the share of pixels that are right to 1 for the average over classes
    capi : the learner
    methods : names in `SELECTIONS`
    costs : names in `COSTS`
    seed : of all that is random
    start : weights that learning begins with
    clips : how training videos are cut
    least_gain : of the score: whatever adds less counts as adding so much; what a video may lose at a budget, and all
        must gain, where descriptors are done without
    n_subsets : the best subsets of descriptors, which a policy may do with instead of all where no video loses
    """

    balance: float = 0.5
    capi: CapiRecipe = _CAPI
    methods: tuple[str, ...] = tuple(SELECTIONS)
    costs: tuple[str, ...] = COSTS
    seed: int = 0
    start: Start = field(default_factory=Start)
    clips: Clips = field(default_factory=Clips)
    least_gain: float = LEAST_GAIN
    n_subsets: int = 4

    def __post_init__(self) -> None:
        for wanted, known in ((self.methods, tuple(SELECTIONS)), (self.costs, COSTS)):
            for name in set(wanted) - set(known):
                raise UsageError(f"no policies for '{name}'; choose from {', '.join(known)}")

    def within(self, limit_s: float) -> "PolicyRecipe":
        """The same with so many seconds of computing for a policy."""
        return replace(self, capi=replace(self.capi, limit_s=limit_s))


def n_policies(names: Sequence[str], recipe: PolicyRecipe) -> int:
    """How many policies a model with these descriptors gets."""
    return len(recipe.costs) * len(_wanted(names, recipe))


def _wanted(names: Sequence[str], recipe: PolicyRecipe) -> list[tuple[str, tuple[str, ...]]]:
    """Methods and the descriptors of each; the random order, as in the paper, is for hand-made ones alone."""
    pairs = [(method, among) for method in recipe.methods for among in variants_of(names)]
    return [pair for pair in pairs if pair[0] != "budget-rndrnk" or pair[1] == variants_of(names)[0]]


def learn_policies(
    learned: Learned,
    recipe: PolicyRecipe,
    folder: Path,
    cores: int,
    advance: Callable[[int], None] = lambda _: None,
    tell: Tell = lambda _: None,
) -> tuple[LearnedPolicy, ...]:
    """Policies of every method; each is kept in the folder when it is there, and so is how it was found.

    `advance` is told of each of them, `n_policies`; `tell` hears of every round.
    """
    what = replace(recipe, methods=(), costs=()), EXTRAS, LEAST_LEFT, FORMAT  # not which
    mark, policies, gains = mark_of(learned, what), [], dict[tuple[str, ...], Gains]()
    for costs in recipe.costs:
        arenas: list[Arena] = []
        for method, among in _wanted(learned.model.classifiers.names, recipe):
            place = folder / f"{method}-{'+'.join(among)}-{costs}"
            policy = _read(place, mark, learned.model)
            if policy is None:
                arenas = arenas or learned.arenas(costs)
                journal, whole = Journal(place.name, tell), Judge(arenas, among, recipe.balance, cores)
                gains[among] = gains.get(among) or find_gains(whole, recipe.least_gain)  # whatever it costs
                policy = _learn(whole, gains[among], method, recipe, journal)
                _write(place, mark, policy, journal)
            policies.append(policy)
            advance(1)
    return tuple(policies)


def judges_of(
    arenas: Sequence[Arena], among: Sequence[str], balance: float, cores: int = 1, clips: Clips | None = None
) -> tuple[Judge, Judge]:
    """Of clips to learn from, and of those of every fourth stretch, held out; all are both where there are few.

    A classifier of single decisions learns what is not so, and must be judged by what it has not seen.
    """
    clips = clips or Clips()
    long = [clip for arena in arenas for clip in clips_of(arena, clips.long)]
    if len(long) < clips.few:
        every = judge_of(long, among, balance, cores, clips)
        return every, every
    train, held_out = ([clip for k, clip in enumerate(long) if (k % 4 == 3) == out] for out in (False, True))
    return judge_of(train, among, balance, cores, clips), judge_of(held_out, among, balance, cores, clips)


def judge_of(
    long: Sequence[Arena], among: Sequence[str], balance: float, cores: int, clips: Clips | None = None
) -> Judge:
    """Of long clips for small budgets, and of short ones of the same for others."""
    clips = clips or Clips()
    short = [clip for stretch in long for clip in clips_of(stretch, clips.short)]
    return Judge(short, among, balance, cores, long)


def first_player(judge: Judge, method: str, gains: Gains | None = None, recipe: PolicyRecipe | None = None) -> Player:
    """Gain per cost, among the descriptors that a judge allows, or fewer of them, where that loses in no video.

    Over all budgets: what a few videos gain by something, and others lose, is chance. Gains are those of the judge's
    videos, which are found where they are not at hand.
    """
    recipe, selection = recipe or PolicyRecipe(), SELECTIONS[method]
    gains = gains or find_gains(judge, recipe.least_gain)
    first = first_policy(judge.arenas[0].model, gains, selection.order, recipe.start)
    spare = (1 << len(gains.names)) - 1 & ~gains.bits  # for whoever has time to spare
    player = Player(first, replace(selection, enabled=gains.bits | spare))
    return _fairest(judge, with_fewer(player, gains, recipe.n_subsets))


def _fairest(judge: Judge, players: Sequence[Player]) -> Player:
    """Who is ahead of the first by most, over all budgets, of those who are behind in no video."""
    ahead = ahead_of_first(judge, players)
    fair = (ahead.sum(axis=1) >= 0).all(axis=1)
    return players[int(np.argmax(np.where(fair, ahead.sum(axis=(1, 2)), -np.inf)))]


def _learn(whole: Judge, gains: Gains, method: str, recipe: PolicyRecipe, journal: Journal) -> LearnedPolicy:
    """From gain per cost in the videos of a judge."""
    first = first_player(whole, method, gains, recipe)
    train, held_out = judges_of(whole.arenas, whole.names, whole.balance, whole.cores, recipe.clips)
    player = _better(whole, first, iterate(train, held_out, first, recipe.capi, recipe.seed, journal.round))
    weights = first.policy.weights.copy()
    learned = [whole.arenas[0].model.classifiers.names.index(name) for name in whole.names]
    weights[[*learned, -1]] = player.policy.weights[[*learned, -1]]
    player = replace(player, policy=LinearPolicy(weights, extended=True))
    uses = uses_by_budget(whole, player, gains, recipe.n_subsets, recipe.least_gain)
    policy = LearnedPolicy(method, whole.names, whole.arenas[0].pricing, player.policy, uses=uses)
    expected = [_accuracy(whole, Player(*policy.at(fraction)), fraction) for fraction in BUDGETS]
    return replace(policy, expected=_rising(expected))


def _better(judge: Judge, first: Player, found: Player) -> Player:
    """What was found, if it scores more than the first over all budgets in whole videos, and the first else.

    What helps in the clips that were held out may cost more than it gains in all videos together.
    """
    scores = judge.scores([first, found], judge.trials(BUDGETS, 1))
    return found if scores[1] > scores[0] else first


def _accuracy(judge: Judge, player: Player, fraction: float) -> Expected:
    """In all videos, as classifiers see them that have not seen them."""
    pixels = sum(arena.truth.sum(axis=0) for arena in judge.arenas)
    right = judge.right(player, judge.trials((fraction,), 1))
    average = float(np.mean(right[pixels > 0] / pixels[pixels > 0]))
    return Expected(fraction, average, float(right.sum() / pixels.sum()))


def _rising(expected: Sequence[Expected]) -> tuple[Expected, ...]:
    """More time is never expected to hurt."""
    best = np.maximum.accumulate([one[1:] for one in expected]).tolist()
    return tuple(Expected(one.budget_fraction, *own) for one, own in zip(expected, best, strict=True))


def _read(place: Path, mark: str, model: Model) -> LearnedPolicy | None:
    """A policy that was learned from the same; None if there is none."""
    try:
        card = json.loads((place / "policy.json").read_text())
        if card["of"] != mark:
            return None
        weights: Float32 = load_file(place / "policy.safetensors")["weights"]
        expected = tuple(Expected(*one) for one in card["expected"])
        policy = LinearPolicy(weights, extended=True)
        how = policy, expected, tuple(Uses(*one) for one in card["uses"])
        found = LearnedPolicy(card["method"], tuple(card["among"]), card["costs"], *how)
        found.check(len(model.classifiers.names), model.classifiers.n_labels)
    except (OSError, ValueError, LookupError, TypeError, SafetensorError, UsageError):
        return None  # learned again in minutes
    return found


def _write(place: Path, mark: str, policy: LearnedPolicy, journal: Journal) -> None:
    card = {"of": mark, "method": policy.method, "among": policy.among, "costs": policy.costs, "uses": policy.uses}
    with atomic_folder(place) as part:
        save_file({"weights": policy.policy.weights}, part / "policy.safetensors")
        (part / "policy.json").write_text(json.dumps(card | {"expected": policy.expected}) + "\n")
        (part / "rounds.json").write_text(json.dumps(journal.rows, indent=2) + "\n")
        plot_rounds(journal.rows, part / "rounds.png")
