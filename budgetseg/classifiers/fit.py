"""Learn H, and predict out of fold: probabilities of supervoxels by classifiers that have not seen them.

Regularisation is chosen, and the temperature of each classifier fitted, on held-out folds. The same predictions then
train the CRF and the policy, since H is over-confident on what it was fitted to.

A network's probabilities are useful without learning: classifiers that have them start from their logarithms and learn,
with regularisation, how other descriptors correct them.
"""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from threadpoolctl import threadpool_limits

from budgetseg.classifiers.calibration import expected_calibration_error
from budgetseg.classifiers.logistic import Linear, fit_logistic, second_moments, softmax
from budgetseg.classifiers.samples import Samples
from budgetseg.classifiers.subsets import SubsetClassifiers, check_finite, columns_of, entering
from budgetseg.errors import UsageError
from budgetseg.types import Bool, Float32, Float64, Int32, Int64

__all__ = ["ClassifierRecipe", "Fitted", "favour_of", "fit_subsets", "n_fits"]

# The strongest regularisation is chosen whose loss is at most this many times the least one.
NEARLY = 1.02
# Inputs of descriptors that are held back are this many times smaller. `python -m benchmarks.choose_classifiers`
HOLD = 4.0
# Share of the pixels; rarer classes are favoured as if they had this share.
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class ClassifierRecipe:
    """Settings of learning H.

    Attributes
    ----------
    decays : strengths of regularisation to choose from, the strongest first
    most_rows : supervoxels of a fit, at most, drawn at random
    n_steps : steps of a fit; more bring it closer to its minimum, but do not improve predictions on held-out folds
    seed : of that draw
    held_back : descriptors that are regularised more strongly: motion generalises less to other videos than looks do
    balance : how much rare classes are favoured afterwards, from 0, for most pixels right, to 1, for all classes
        equally right; an eighth of it for subsets with a network, whose training has favoured them already
    """

    decays: tuple[float, ...] = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    most_rows: int = 20_000
    n_steps: int = 25
    seed: int = 0
    held_back: tuple[str, ...] = ("hof", "mbh")
    balance: float = 0.5


@dataclass(frozen=True, eq=False)
class Fitted:
    """H, with its predictions out of fold.

    Attributes
    ----------
    classifiers : H, fitted to all samples
    out_of_fold : (N, 2^D, L) float32, probabilities by classifiers that have not seen the supervoxel's fold
    decays : strengths of regularisation that were chosen, for subsets without a network and for those with one
    calibration_error : expected calibration error out of fold, with all descriptors, favouring no class
    """

    classifiers: SubsetClassifiers
    out_of_fold: Float32
    decays: tuple[float, float]
    calibration_error: float


@dataclass(frozen=True, eq=False)
class _Part:
    """Supervoxels to fit to: inputs, labels, weights, and second moments, which fits of all subsets share."""

    x: Float32
    labels: Int64
    weight: Float32
    moments: Float64


def n_fits(n_descriptors: int, n_folds: int, recipe: ClassifierRecipe) -> int:
    """Number of times that `fit_subsets` calls `advance`."""
    return len(recipe.decays) * n_folds * (n_descriptors + 2) + ((n_folds + 1) << n_descriptors)


def fit_subsets(
    samples: Samples, recipe: ClassifierRecipe, cores: int = 1, advance: Callable[[int], None] = lambda _: None
) -> Fitted:
    """Fit a classifier for every subset of the descriptors of the samples.

    Parameters
    ----------
    samples : to learn from
    recipe : settings
    cores : number of fits at a time
    advance : called with 1 for each fit, `n_fits` in all
    """
    names = tuple(samples.values)
    opinions = _opinions_of(samples)
    blocks = [samples.place, *(entering(samples.values, name, opinions) for name in names)]
    sums = np.concatenate([block.sum(axis=1, keepdims=True) for block in blocks], axis=1)
    check_finite(sums, samples.values, np.arange(len(sums)))
    lengths = tuple(block.shape[1] for block in blocks)
    centre = np.concatenate([block.mean(axis=0) for block in blocks])
    spreads = np.array([max(float(np.sqrt(block.var(axis=0).sum())), 1e-6) for block in blocks])
    spreads[1:] *= [HOLD if name in recipe.held_back else 1 for name in names]
    scale = np.repeat(spreads, lengths)
    x = ((np.concatenate(blocks, axis=1) - centre) / scale).astype(np.float32)
    folds = _folds_of(samples)
    takes = np.repeat([0, *(name in opinions for name in names)], lengths)
    learner = _Learner(lengths, samples.truth.shape[1], recipe.n_steps, (scale * takes, centre * takes), advance)
    with threadpool_limits(1), ThreadPoolExecutor(cores) as pool:  # a fit for each core beats two cores for each fit
        parts = list(pool.map(lambda fold: _part(x, samples, samples.fold != fold, recipe), folds))
        held = [np.flatnonzero(samples.fold == fold) for fold in folds]

        def unseen(subset: int, decay: float) -> Float32:
            """Scores (N, L) out of fold."""
            scores = np.empty((len(x), samples.truth.shape[1]), np.float32)
            for part, rows in zip(parts, held, strict=True):
                scores[rows] = learner.fit(part, subset, decay).scores(x[np.ix_(rows, columns_of(subset, lengths))])
            return scores

        networks = sum(1 << d for d, name in enumerate(names) if name in opinions)
        decays = _best_decays(pool, unseen, samples.truth, (len(names), networks), recipe.decays)
        subsets = range(2 ** len(names))
        unseen_scores = list(pool.map(lambda subset: unseen(subset, decays[bool(subset & networks)]), subsets))
        whole = _part(x, samples, np.ones(len(x), np.bool_), recipe)
        models = list(pool.map(lambda subset: learner.fit(whole, subset, decays[bool(subset & networks)]), subsets))
    sharpness = [_sharpness(scores, samples.truth) for scores in unseen_scores]
    weights = np.zeros((len(models), x.shape[1], samples.truth.shape[1]), np.float32)
    for subset, model in enumerate(models):
        weights[subset, columns_of(subset, lengths)] = model.weights * sharpness[subset]
    bias = np.stack([model.bias * sharp for model, sharp in zip(models, sharpness, strict=True)])
    prior = samples.truth.sum(axis=0) / samples.truth.sum()
    classifiers = SubsetClassifiers(
        names,
        lengths,
        centre.astype(np.float32),
        scale.astype(np.float32),
        weights,
        bias.astype(np.float32),
        prior,
        favour_of(prior, names, opinions, recipe.balance),
        opinions,
    )
    pairs = zip(unseen_scores, sharpness, classifiers.favour, strict=True)
    out_of_fold = np.stack([softmax(scores * sharp + favour) for scores, sharp, favour in pairs], axis=1)
    error = expected_calibration_error(softmax(unseen_scores[-1] * sharpness[-1]), samples.truth)
    return Fitted(classifiers, out_of_fold, decays, error)


def favour_of(prior: Float64, names: Sequence[str], opinions: Collection[str], balance: float) -> Float32:
    """What is added to the scores of each subset to favour rare classes, (2^D, L).

    It is 0 for classes that never occur, and no larger than for a class of LEAST_SHARE: otherwise the rarest classes
    would be predicted everywhere.

    Parameters
    ----------
    prior : (L,) share of each class among the labelled pixels
    names : of the D descriptors
    opinions : names of descriptors that are class probabilities
    balance : from 0, for most pixels right, to 1, for all classes equally right
    """
    rarity = -np.log(np.where(prior > 0, np.maximum(prior, LEAST_SHARE), 1))
    networks = sum(1 << d for d, name in enumerate(names) if name in opinions)
    share = [0.125 if subset & networks else 1.0 for subset in range(2 ** len(names))]
    return np.asarray(np.multiply.outer(share, balance * rarity), np.float32)


def _opinions_of(samples: Samples) -> tuple[str, ...]:
    """Names of the descriptors that are class probabilities: as many figures as classes, which sum to one."""
    n_labels = samples.truth.shape[1]
    candidates = {name: values for name, values in samples.values.items() if values.shape[1] == n_labels}
    return tuple(
        name for name, values in candidates.items() if values.min() >= 0 and np.abs(values.sum(axis=1) - 1).max() < 1e-3
    )


def _folds_of(samples: Samples) -> Int32:
    """All folds. UsageError if one fold holds every label, since nothing would be left to learn from."""
    if len(np.unique(samples.fold[samples.truth.any(axis=1)])) < 2:
        raise UsageError("labelled supervoxels are all in one fold; learning needs more videos, or longer ones")
    return np.unique(samples.fold)


@dataclass(frozen=True)
class _Learner:
    """Fits the classifier of a subset.

    `network_scaling` are two arrays (d,): an input that is a network's logarithm of probability is restored by
    multiplying and adding them; both are 0 for other inputs.
    """

    lengths: tuple[int, ...]
    n_labels: int
    n_steps: int
    network_scaling: tuple[Float64, Float64]
    advance: Callable[[int], None]

    def fit(self, part: _Part, subset: int, decay: float) -> Linear:
        columns = columns_of(subset, self.lengths)
        x = np.ascontiguousarray(part.x[:, columns])
        moments = part.moments[np.ix_(columns, columns)]
        toward = self._network_scores(*(array[columns] for array in self.network_scaling))
        model = fit_logistic(x, part.labels, part.weight, self.n_labels, decay, moments, self.n_steps, toward)
        self.advance(1)
        return model

    def _network_scores(self, scale: Float64, centre: Float64) -> Linear | None:
        """Scores that are the mean logarithm of the networks' probabilities; None without networks."""
        (rows,) = np.nonzero(scale)
        if not len(rows):
            return None
        n_networks = len(rows) // self.n_labels
        labels = np.arange(len(rows)) % self.n_labels
        weights = np.zeros((len(scale), self.n_labels), np.float32)
        weights[rows, labels] = scale[rows] / n_networks
        bias = np.bincount(labels, centre[rows], self.n_labels) / n_networks
        return Linear(weights, bias.astype(np.float32))


def _part(x: Float32, samples: Samples, kept: Bool, recipe: ClassifierRecipe) -> _Part:
    """Labelled supervoxels among those kept, at most `most_rows`, weighted by the square root of their size."""
    pixels = samples.truth.sum(axis=1)
    rows = np.flatnonzero(kept & (pixels > 0))
    rows = np.sort(np.random.default_rng(recipe.seed).permutation(rows)[: recipe.most_rows])
    weight = np.sqrt(pixels[rows]).astype(np.float32)
    inputs = np.ascontiguousarray(x[rows])
    return _Part(inputs, samples.truth[rows].argmax(axis=1), weight, second_moments(inputs, weight))


def _best_decays(
    pool: ThreadPoolExecutor,
    unseen: Callable[[int, float], Float32],
    truth: Int64,
    bits: tuple[int, int],
    decays: Sequence[float],
) -> tuple[float, float]:
    """The strongest decays whose loss out of fold is nearly the least, without a network and with one.

    The strongest are chosen since what is learned must also hold in videos of another kind. The loss is that of each
    descriptor alone, of all without networks, and of all.

    Parameters
    ----------
    pool : runs the fits
    unseen : gives scores (N, L) out of fold for a subset and a decay
    truth : (N, L) number of labelled pixels of each class
    bits : D, and the descriptors that are networks, as bits
    decays : to choose from, the strongest first
    """
    n_descriptors, networks = bits
    every = (1 << n_descriptors) - 1
    probes = [*(1 << d for d in range(n_descriptors)), every & ~networks, every]
    jobs = [(decay, probe) for decay in decays for probe in probes]
    losses = list(pool.map(lambda job: _loss(unseen(job[1], job[0]), truth, 1.0), jobs))
    table = np.reshape(losses, (len(decays), -1))
    has_network = np.array([bool(probe & networks) for probe in probes])

    def strongest(group: Bool) -> float:
        means = table[:, group].mean(axis=1) if group.any() else np.zeros(len(decays))
        return decays[int(np.flatnonzero(means <= NEARLY * means.min())[0])]

    return strongest(~has_network), strongest(has_network)


def _loss(scores: Float32, truth: Int64, sharp: float) -> float:
    """Mean of -log p(class) over labelled pixels."""
    p = softmax(scores * np.float32(sharp))
    return float(-(truth * np.log(np.maximum(p, 1e-7))).sum() / truth.sum())


def _sharpness(scores: Float32, truth: Int64) -> float:
    """The factor on scores out of fold, the inverse of the temperature, that calibrates their probabilities."""
    best = minimize_scalar(lambda log: _loss(scores, truth, np.exp(log)), bounds=(-2, 1), method="bounded")
    return float(np.exp(best.x))
