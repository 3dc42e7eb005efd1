"""Budgeted runs over descriptor tables, under the clock that their costs tell: nothing is computed."""

from budgetseg.simulation.arena import Arena
from budgetseg.simulation.reward import Reward, reward, worth_of
from budgetseg.simulation.simulate import play, simulate

__all__ = ["Arena", "Reward", "play", "reward", "simulate", "worth_of"]
