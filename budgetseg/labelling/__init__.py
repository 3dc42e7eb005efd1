"""A model at work: videos to labels within a budget, and the files that come of it."""

from budgetseg.labelling.labeller import Labeller

__all__ = ["Labeller"]
