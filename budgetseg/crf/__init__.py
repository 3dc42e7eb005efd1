"""The CRF: find labels of least energy on a graph. Arrays in, labels out."""

import budgetseg.compiling  # noqa: F401 - before anything is compiled
from budgetseg.crf.belief import propagate
from budgetseg.crf.expansion import expand
from budgetseg.crf.memory import Memory
from budgetseg.crf.problem import Problem, energy, make_problem

__all__ = ["INFERENCE", "Memory", "Problem", "energy", "expand", "make_problem", "propagate"]

INFERENCE = {"expansion": expand, "belief-propagation": propagate}
"""Algorithms that minimise the energy, by name: (problem, start, memory, enough) -> labels."""
