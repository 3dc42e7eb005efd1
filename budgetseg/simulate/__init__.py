"""Runs under a budget over descriptor tables, with simulated costs: no descriptor is computed."""

from budgetseg.simulate.arena import NOT_COUNTED, Arena
from budgetseg.simulate.reward import Reward, problem_of, reward, worth_of
from budgetseg.simulate.simulate import act, advance, play, simulate

__all__ = ["NOT_COUNTED", "Arena", "Reward", "act", "advance", "play", "problem_of", "reward", "simulate", "worth_of"]
