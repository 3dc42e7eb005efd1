"""Budgeted runs over descriptor tables, under the clock that their costs tell: nothing is computed."""

from budgetseg.simulate.arena import NOT_COUNTED, Arena
from budgetseg.simulate.reward import Reward, problem_of, reward, worth_of
from budgetseg.simulate.simulate import act, advance, play, simulate

__all__ = ["NOT_COUNTED", "Arena", "Reward", "act", "advance", "play", "problem_of", "reward", "simulate", "worth_of"]
