"""Who should decide at which budget; in training videos, out of fold.

Usage: python -m benchmarks.choose_policies first|who MODEL WORK [COSTS], a model of 'budgetseg train' with
policies for both kinds of costs, or one of them, and its work folder.

`first`: scores at each budget in whole videos of the static plans, of what learning begins with, and of that with one
thing changed each. `who`: points that a choice of who decides gains on the best static plans, over all budgets, judged
video by video, the choice being made on the others. A score is what is maximised in training: global accuracy, class
average, or between them.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.training_seeds import balance_of, learned_in, plan_player
from budgetseg.learning.gains import find_gains
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS
from budgetseg.learning.policies import PolicyRecipe, first_player
from budgetseg.learning.start import Start
from budgetseg.models.bundle import Model, load_model
from budgetseg.policy.learned import METHOD, SELECTIONS
from budgetseg.policy.static import COSTS
from budgetseg.simulate import Arena
from budgetseg.types import Float64

STATIC = "static"
CHOICES = {
    "the policy": (METHOD,),
    "it or the plan": (METHOD, STATIC),
    "any policy or the plan": (*SELECTIONS, STATIC),
}
N_SEEDS = 2
FIRSTS = {
    "gain per cost": PolicyRecipe(),
    "all descriptors add as much": PolicyRecipe(start=Start(gain=0.0)),
    "sizes count in full": PolicyRecipe(start=Start(size=1.0)),
    "disagreement does not count": PolicyRecipe(start=Start(disagreement=0.0)),
    "no descriptor is done without": PolicyRecipe(n_subsets=0),
}


def main(what: str, model_folder: Path, work: Path, every_costs: Sequence[str] = COSTS) -> None:
    """Print a line for each kind of costs and set of descriptors."""
    model = load_model(model_folder)
    learned = learned_in(work, model)
    for costs in every_costs:
        arenas = learned.arenas(costs)
        for among in dict.fromkeys(own.among for own in model.policies):
            print(f"{costs} costs, {'+'.join(among)}: ", end="", flush=True)
            print(TABLES[what](model, arenas, among, costs), flush=True)


def _first(model: Model, arenas: Sequence[Arena], among: tuple[str, ...], costs: str) -> str:
    whole = Judge(arenas, among, balance_of(model), os.cpu_count() or 1)
    plans = [_score(whole, plan_player(model, fraction, among, costs), fraction) for fraction in BUDGETS]
    lines, gains = [_line("static plan", plans)], find_gains(whole)
    for name, recipe in FIRSTS.items():
        player = first_player(whole, METHOD, gains, recipe)
        lines.append(_line(name, [_score(whole, player, fraction) for fraction in BUDGETS]))
    return "".join(lines)


def _who(model: Model, arenas: Sequence[Arena], among: tuple[str, ...], costs: str) -> str:
    judge = Judge(arenas, among, balance_of(model), os.cpu_count() or 1)
    gained = dict.fromkeys(CHOICES, 0.0)
    for fraction in BUDGETS:
        scores = {name: _by_video(judge, player, fraction) for name, player in _players(model, among, costs, fraction)}
        for choice, names in CHOICES.items():
            there = np.array([scores[name] for name in names if name in scores])
            for video in range(len(arenas)):
                best = np.delete(there, video, axis=1).sum(axis=1).argmax()
                gained[choice] += there[best, video] - scores[STATIC][video]
    return ", ".join(f"{choice} {100 * points:+.1f}" for choice, points in gained.items())


def _players(model: Model, among: tuple[str, ...], costs: str, fraction: float) -> Iterator[tuple[str, Player]]:
    for own in model.policies:
        if (own.among, own.costs) == (among, costs):
            yield own.method, Player(*own.at(fraction))
    yield STATIC, plan_player(model, fraction, among, costs)


def _by_video(judge: Judge, player: Player, fraction: float) -> Float64:
    """What the right pixels of each video are worth, if those of all are worth 1."""
    return judge.by_video(player, judge.trials((fraction,), N_SEEDS)) / N_SEEDS


def _score(judge: Judge, player: Player, fraction: float) -> float:
    return float(judge.scores([player], judge.trials((fraction,), 1))[0])


def _line(name: str, scores: Sequence[float]) -> str:
    return f"\n  {name}: {', '.join(f'{100 * score:.1f}' for score in scores)}"


TABLES = {"first": _first, "who": _who}


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in TABLES or not set(sys.argv[4:]) <= set(COSTS):
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:] or COSTS)
