"""The reward of a run: interpolation, potentials and α-expansion give its labels, whose right pixels are counted."""

from dataclasses import dataclass

import numpy as np

from budgetseg.crf import Memory, expand
from budgetseg.crf.potentials import Nodes, make_potentials
from budgetseg.crf.problem import Problem
from budgetseg.policy.state import State
from budgetseg.simulate.arena import Arena
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.types import Float64, Int32, Int64

__all__ = ["Reward", "problem_of", "reward", "worth_of"]


@dataclass(frozen=True, eq=False)
class Reward:
    """Labels at the end of a run.

    Attributes
    ----------
    labels : (N,) int32
    right : (L,) int64, number of labelled pixels of each class that got the right label
    """

    labels: Int32
    right: Int64

    def score(self, worth: Float64) -> float:
        """Sum of the weights of the right pixels; `worth` (L,) is the weight of a pixel of each class."""
        return float(self.right @ worth)


def reward(arena: Arena, state: State, start: Int32 | None = None, memory: Memory | None = None) -> Reward:
    """The labels of a state if nothing more is computed, and how many pixels they get right.

    Parameters
    ----------
    arena : the video
    state : of a run in it
    start : labels (N,) that the expansion begins with; they should be the same for runs that are compared
    memory : of an earlier expansion in this arena, in a similar state
    """
    labels = expand(problem_of(arena, state), start, memory)
    right = np.bincount(labels, arena.truth[np.arange(len(labels)), labels], arena.truth.shape[1])
    return Reward(labels, right.astype(np.int64))


def problem_of(arena: Arena, state: State) -> Problem:
    """The CRF problem of a state if nothing more is computed."""
    h = arena.model.classifiers
    probabilities = interpolate(state.probabilities, state.subsets > 0, arena.neighbours, h.prior)
    return make_potentials(arena.model.crf, Nodes(probabilities, arena.inputs, state.subsets, h.starts), arena.graph)


def worth_of(truth: Int64, balance: float = 0.0) -> Float64:
    """Weight of a right pixel of each class, (L,); the weights of all labelled pixels sum to 1.

    With balance 0 the score is the share of right pixels, with 1 the average over the classes that occur.

    Parameters
    ----------
    truth : (N, L) number of labelled pixels of each class, or (L,)
    balance : from 0 to 1, between the two
    """
    pixels = truth.reshape(-1, truth.shape[-1]).sum(axis=0)
    there = pixels > 0
    worth = np.full(len(pixels), (1 - balance) / max(pixels.sum(), 1))
    worth[there] += balance / (there.sum() * pixels[there])
    return np.asarray(worth * there)
