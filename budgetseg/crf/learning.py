"""Learn the CRF by max-margin: the energy of the true labelling must be lower than that of any other by its loss.

The loss counts wrongly labelled pixels, rare classes more. In every round α-expansion finds the labelling that violates
this most in each video, and the parameters move against the difference (projected subgradient steps on the structured
hinge loss, averaged). They are pulled towards the hand-set Potts model that they start from, so that pairs of labels
that never meet in training keep a sensible price.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from budgetseg.crf.expansion import expand
from budgetseg.crf.potentials import LEAST, Crf, Nodes, importance, make_potentials
from budgetseg.crf.problem import Problem, edge_energies
from budgetseg.types import Float32, Float64, Graph, Int32, Int64

__all__ = ["CrfRecipe", "Example", "learn_crf", "potts"]

NEVER = np.float32(1e3)  # energy of a label that is known to be wrong, for a supervoxel of mean size or less


@dataclass(frozen=True, eq=False)
class Example:
    """A labelled video.

    Attributes
    ----------
    evidence : H's probabilities out of fold, and descriptors
    graph : of its supervoxels
    truth : (N, L) number of labelled pixels of each class
    """

    evidence: Nodes
    graph: Graph
    truth: Int64


@dataclass(frozen=True)
class CrfRecipe:
    """Settings of learning the CRF.

    Attributes
    ----------
    balance : power of a class's rarity in the loss; 0 counts pixels, 1 counts classes
    pull : strength of the pull towards the Potts model
    rate : size of the first step
    n_rounds : number of steps; with 0, the model stays the hand-set one
    """

    balance: float = 0.5
    pull: float = 0.1
    rate: float = 0.5
    n_rounds: int = 20


def potts(expected: Float32, price: float = 0.1, contrast: float = 3.0) -> Crf:
    """The hand-set model: one price for all pairs of different labels.

    Parameters
    ----------
    expected : (d, L) inputs expected given the label
    price : of a pair
    contrast : how fast the price falls with the distance of descriptors
    """
    n_labels = expected.shape[1]
    pair = np.float32(price) * (1 - np.eye(n_labels, dtype=np.float32))
    return Crf(np.ones(n_labels, np.float32), np.zeros(n_labels, np.float32), pair, contrast, expected)


def learn_crf(
    start: Crf, examples: Sequence[Example], recipe: CrfRecipe, advance: Callable[[int], None] = lambda _: None
) -> Crf:
    """Learn from examples. Returns the model averaged over the second half of the rounds.

    Parameters
    ----------
    start : the hand-set model
    examples : labelled videos
    recipe : settings
    advance : called with 1 for each round
    """
    prior = sum(example.truth.sum(axis=0) for example in examples)
    rarity = (prior.max() / np.maximum(prior, 1)) ** recipe.balance
    rarity = rarity / (rarity * prior).sum() * prior.sum()
    origin = figures = _figures(start)
    kept = []
    for step in range(recipe.n_rounds):
        crf = _with_figures(start, figures)
        slope = np.mean([_subgradient(crf, example, rarity) for example in examples], axis=0)
        slope += recipe.pull * (figures - origin)
        figures = _allowed(figures - recipe.rate / (1 + step / 10) * slope, len(prior))
        if 2 * (step + 1) > recipe.n_rounds:
            kept.append(figures)
        advance(1)
    return _with_figures(start, np.mean(kept, axis=0)) if kept else start


def _subgradient(crf: Crf, example: Example, rarity: Float64) -> Float64:
    """Subgradient of the hinge loss of one video, per supervoxel."""
    problem = make_potentials(crf, example.evidence, example.graph)
    truth = example.truth
    sizes = importance(example.graph.sizes)
    labelled = truth.sum(axis=1, keepdims=True)
    # The most violating labelling minimises energy less loss: right labels are charged with the loss they avoid.
    charge = (truth * rarity / np.maximum(labelled, 1) * sizes[:, None]).astype(np.float32)
    violating = expand(replace(problem, unary=problem.unary + charge))
    wrong = (truth < truth.max(axis=1, keepdims=True)) & (labelled > 0)
    never = NEVER * np.maximum(sizes, 1)[:, None].astype(np.float32)
    right = expand(replace(problem, unary=problem.unary + never * wrong))
    return (_features(crf, problem, example, right) - _features(crf, problem, example, violating)) / len(truth)


def _features(crf: Crf, problem: Problem, example: Example, labels: Int32) -> Float64:
    """Derivatives of the energy of a labelling by the parameters: unary weights, biases, pairs."""
    n_labels = problem.n_labels
    sizes = importance(example.graph.sizes)
    log_p = -np.log(np.maximum(example.evidence.probabilities[np.arange(len(labels)), labels], LEAST))
    weights = np.bincount(labels, sizes * log_p, n_labels)
    biases = np.bincount(labels, sizes, n_labels)
    first = labels[problem.edges[:, 0]]
    second = labels[problem.edges[:, 1]]
    prices = crf.pair[first, second]
    paid = np.divide(edge_energies(problem, labels), prices, out=np.zeros(len(prices)), where=prices > 0)
    pairs = np.bincount(first * n_labels + second, paid, n_labels**2).reshape(n_labels, n_labels)
    return np.concatenate([weights, biases, (pairs + pairs.T)[np.triu_indices(n_labels, 1)]])


def _figures(crf: Crf) -> Float64:
    pairs = crf.pair[np.triu_indices(len(crf.pair), 1)]
    return np.concatenate([crf.unary_weight, crf.unary_bias, pairs]).astype(np.float64)


def _with_figures(crf: Crf, figures: Float64) -> Crf:
    n_labels = len(crf.pair)
    pair = np.zeros((n_labels, n_labels), np.float32)
    pair[np.triu_indices(n_labels, 1)] = figures[2 * n_labels :]
    weight = figures[:n_labels].astype(np.float32)
    bias = figures[n_labels : 2 * n_labels].astype(np.float32)
    return replace(crf, unary_weight=weight, unary_bias=bias, pair=pair + pair.T)


def _allowed(figures: Float64, n_labels: int) -> Float64:
    """Parameters projected to what is allowed: positive unary weights, and prices that are not rewards."""
    least = np.full(len(figures), 1e-3)
    least[:n_labels] = 0.1
    least[n_labels : 2 * n_labels] = -np.inf
    allowed: Float64 = np.maximum(figures, least)
    return allowed
