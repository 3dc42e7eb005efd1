"""Fast multinomial logistic regression for many rows: L-BFGS in coordinates in which the problem is nearly round.

With G the weighted second moments of the inputs, the Hessian of the loss is at most ½ (I - 1/L) ⊗ G (Böhning 1992).
Steps are taken in the coordinates of its Cholesky factor, which takes tens of iterations instead of hundreds. G of a
subset of the columns is a part of G of all columns, so that many subsets share it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from budgetseg.types import Float32, Float64, Int64

__all__ = ["Linear", "fit_logistic", "second_moments", "softmax"]

NEVER = -1e3  # score of a class that was not seen in training: its probability is zero at any temperature


@dataclass(frozen=True, eq=False)
class Linear:
    """Scores of L classes, x @ weights + bias.

    Attributes
    ----------
    weights : (d, L) float32
    bias : (L,) float32
    """

    weights: Float32
    bias: Float32

    def scores(self, x: Float32) -> Float32:
        """Scores (n, L) of inputs x (n, d)."""
        scores: Float32 = x @ self.weights + self.bias
        return scores


def softmax(scores: Float32) -> Float32:
    """Probabilities of scores (n, L); rows sum to one."""
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Float32 = shifted / shifted.sum(axis=1, keepdims=True)
    return probabilities


def second_moments(x: Float32, weight: Float32) -> Float64:
    """Weighted mean of x xᵀ over rows, (d, d)."""
    moments: Float64 = ((x * (weight / weight.sum())[:, None]).T @ x).astype(np.float64)
    return moments


def fit_logistic(
    x: Float32,
    labels: Int64,
    weight: Float32,
    n_labels: int,
    decay: float,
    moments: Float64 | None = None,
    n_steps: int = 60,
    toward: Linear | None = None,
) -> Linear:
    """Minimise the weighted mean of -log p(label | x) plus decay / 2 · |weights - trust · toward.weights|².

    Parameters
    ----------
    x : (n, d), centred, so that the bias can move freely of the weights
    labels : (n,), 0..n_labels-1
    weight : (n,) of the rows
    n_labels : L; classes that do not occur get a probability of about zero
    decay : strength of regularisation
    moments : (d, d) `second_moments` of x, if they were computed already
    n_steps : steps of L-BFGS, at most
    toward : scores that regularisation pulls towards, up to a learned factor, the trust. They contain how frequent
        classes are, so that no bias is learned with them. None for 0.
    """
    present, target = np.unique(labels, return_inverse=True)
    n_columns = x.shape[1]
    n_present = len(present)
    share = (weight / weight.sum()).astype(np.float32)
    moments = second_moments(x, weight) if moments is None else moments
    factor = cholesky(moments / 2 + (decay + 1e-9) * np.eye(n_columns))  # upper: moments / 2 + decay = Rᵀ R
    rows = np.arange(len(x))
    has_bias = toward is None
    toward = toward or Linear(np.zeros((n_columns, n_labels), np.float32), np.zeros(n_labels, np.float32))
    known = toward.scores(x)[:, present]

    def loss(flat: Float64) -> tuple[float, Float64]:
        bias = flat[:n_present]
        trust = flat[n_present]
        round_weights = flat[n_present + 1 :]
        weights = solve_triangular(factor, round_weights.reshape(n_columns, n_present))
        p = softmax(x @ weights.astype(np.float32) + bias.astype(np.float32) + np.float32(trust) * known)
        value = -float(share @ np.log(np.maximum(p[rows, target], 1e-30))) + decay / 2 * float((weights**2).sum())
        p[rows, target] -= 1
        p *= share[:, None]
        gradient = (x.T @ p).astype(np.float64) + decay * weights
        steps = has_bias * p.sum(axis=0, dtype=np.float64), [float((p * known).sum())]
        return value, np.concatenate([*steps, solve_triangular(factor, gradient, trans="T").ravel()])

    start = np.zeros(n_present * (n_columns + 1) + 1)
    if has_bias:
        start[:n_present] = np.log(np.bincount(target, share, n_present))
    start[n_present] = 1
    options = {"maxiter": n_steps, "ftol": 1e-6, "gtol": 1e-5, "maxcor": 10}
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    weights = np.zeros((n_columns, n_labels), np.float32)
    bias = np.full(n_labels, NEVER, np.float32)
    learned = solve_triangular(factor, best[n_present + 1 :].reshape(n_columns, n_present))
    weights[:, present] = learned + best[n_present] * toward.weights[:, present]
    bias[present] = best[:n_present] + best[n_present] * toward.bias[present]
    return Linear(weights, bias)
