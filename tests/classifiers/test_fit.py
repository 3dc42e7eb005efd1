"""Learning of H: what it says of supervoxels is said without having seen them, and is what it seems."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.classifiers import Samples
from budgetseg.classifiers.calibration import expected_calibration_error
from budgetseg.classifiers.fit import ClassifierRecipe, Fitted, _loss, _sharpness, favour_of, fit_subsets, n_fits
from budgetseg.classifiers.logistic import softmax
from budgetseg.errors import UsageError
from budgetseg.types import Float32, Float64, Int64

N_LABELS = 3
PLAIN = ClassifierRecipe(balance=0)
ONE = ClassifierRecipe(decays=(1e-4,), balance=0)


def labelled(values: dict[str, Float32], labels: Int64, seed: int = 0, n_labels: int = N_LABELS) -> Samples:
    """Supervoxels of one class each and any size, in four folds, at no place in particular."""
    rng, n = np.random.default_rng(seed), len(labels)
    truth = np.eye(n_labels, dtype=np.int64)[labels] * rng.integers(1, 50, (n, 1))
    fold = rng.permutation(np.arange(n, dtype=np.int32) % 4)
    return Samples(values, np.zeros((n, 2), np.float32), truth, fold, fold)


def drawn(n: int, seed: int = 0) -> Samples:
    """Classes drawn from a logistic model of two descriptors, the same for all seeds."""
    rng = np.random.default_rng(seed)
    values = {name: rng.normal(size=(n, length)).astype(np.float32) for name, length in (("colour", 3), ("hog", 4))}
    model = np.random.default_rng(42).normal(size=(7, N_LABELS)).astype(np.float32)
    scores = np.concatenate(list(values.values()), axis=1) @ model
    labels = (softmax(scores).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return labelled(values, np.minimum(labels, N_LABELS - 1), seed)


def by_heart(n: int = 120) -> Samples:
    """An input that names the row, and classes that nothing predicts."""
    labels = np.random.default_rng(0).integers(0, N_LABELS, n)
    return labelled({"name": np.eye(n, dtype=np.float32)}, labels)


def directions(rows: Float32) -> Float64:
    """Logarithms of probabilities, free of the temperature."""
    logs = np.log(rows.astype(np.float64))
    logs -= logs.mean(axis=-1, keepdims=True)
    return np.asarray(logs / np.linalg.norm(logs, axis=-1, keepdims=True), np.float64)


@pytest.fixture(scope="module")
def samples() -> Samples:
    return drawn(4000)


@pytest.fixture(scope="module")
def fitted(samples: Samples) -> Fitted:
    return fit_subsets(samples, PLAIN)


def test_knowing_rows_by_heart_does_not_help_out_of_fold() -> None:
    samples = by_heart()
    fitted = fit_subsets(samples, ClassifierRecipe(decays=(1e-5,)))
    right = samples.truth.argmax(axis=1)
    seen = fitted.classifiers.predict_all(samples.values, samples.place)[:, 1]
    assert (seen.argmax(axis=1) == right).all()
    assert (fitted.out_of_fold[:, 1].argmax(axis=1) == right).mean() < 0.5


def test_labels_of_a_fold_change_nothing_that_is_said_about_it() -> None:
    samples = drawn(300)
    held = samples.fold == 2
    truth = samples.truth.copy()
    truth[held] = truth[held][:, ::-1]
    other = Samples(samples.values, samples.place, truth, samples.fold, samples.video)
    one, two = (directions(fit_subsets(case, ONE).out_of_fold) for case in (samples, other))
    assert np.allclose(one[held], two[held], atol=1e-3)
    assert not np.allclose(one[~held], two[~held], atol=1e-2)


def test_every_subset_speaks_of_every_supervoxel(samples: Samples, fitted: Fitted) -> None:
    assert fitted.out_of_fold.shape == (len(samples), 4, N_LABELS)
    assert fitted.out_of_fold.dtype == np.float32
    assert np.allclose(fitted.out_of_fold.sum(axis=2), 1, atol=1e-5)
    assert fitted.classifiers.names == ("colour", "hog")
    assert set(fitted.decays) <= set(ClassifierRecipe().decays)


def test_more_descriptors_say_more(samples: Samples, fitted: Fitted) -> None:
    nothing, colour, hog, both = (_loss(np.log(p), samples.truth, 1) for p in fitted.out_of_fold.transpose(1, 0, 2))
    assert both < min(colour, hog)
    assert max(colour, hog) < nothing


def test_out_of_fold_is_near_what_h_says_where_there_is_enough_to_learn_from(samples: Samples, fitted: Fitted) -> None:
    said = fitted.classifiers.predict_all(samples.values, samples.place)
    assert np.abs(said - fitted.out_of_fold).mean() < 0.01


def test_probabilities_are_calibrated_for_every_subset(samples: Samples, fitted: Fitted) -> None:
    unseen = drawn(4000, seed=1)
    for subset in range(4):
        assert expected_calibration_error(fitted.out_of_fold[:, subset], samples.truth) < 0.04
        said = fitted.classifiers.predict_all(unseen.values, unseen.place)[:, subset]
        assert expected_calibration_error(said, unseen.truth) < 0.04


@pytest.mark.parametrize("factor", [0.5, 1, 3, 20])
def test_the_temperature_never_makes_the_loss_worse(samples: Samples, fitted: Fitted, factor: float) -> None:
    scores = np.float32(factor) * np.log(fitted.out_of_fold[:, 3])
    assert _loss(scores, samples.truth, _sharpness(scores, samples.truth)) <= _loss(scores, samples.truth, 1) + 1e-6


def test_the_temperature_undoes_overconfidence(samples: Samples, fitted: Fitted) -> None:
    assert _sharpness(4 * np.log(fitted.out_of_fold[:, 3]), samples.truth) == pytest.approx(1 / 4, rel=0.02)


def test_one_core_and_two_learn_the_same() -> None:
    samples, recipe = drawn(300), ClassifierRecipe(most_rows=150)
    one, two = fit_subsets(samples, recipe, cores=1), fit_subsets(samples, recipe, cores=2)
    assert np.array_equal(one.out_of_fold, two.out_of_fold)
    assert np.array_equal(one.classifiers.weights, two.classifiers.weights)
    assert np.array_equal(one.classifiers.bias, two.classifiers.bias)
    assert one.decays == two.decays


def test_the_seed_draws_the_rows() -> None:
    samples = drawn(300)
    one, two, again = (
        fit_subsets(samples, ClassifierRecipe((1e-4,), 100, seed=seed)).out_of_fold for seed in (0, 1, 0)
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("recipe", [ClassifierRecipe(), ONE])
def test_progress_is_told_as_often_as_promised(recipe: ClassifierRecipe) -> None:
    told: list[int] = []
    fit_subsets(drawn(100), recipe, cores=2, advance=told.append)
    assert sum(told) == n_fits(2, 4, recipe)


def test_stronger_decay_is_chosen_where_there_is_nothing_to_learn() -> None:
    assert fit_subsets(by_heart(), ClassifierRecipe(decays=(1e-1, 1e-5))).decays[0] == 1e-1


def test_a_class_that_never_occurs_gets_no_probability_however_flat_the_rest() -> None:
    known = by_heart()
    truth = np.pad(known.truth, ((0, 0), (0, 1)))
    fitted = fit_subsets(
        Samples(known.values, known.place, truth, known.fold, known.video), ClassifierRecipe(decays=(1e-5,))
    )
    assert fitted.out_of_fold[:, 1, 3].max() < 1e-9
    assert fitted.classifiers.predict_all(known.values, known.place)[..., 3].max() < 1e-9
    assert fitted.classifiers.prior.tolist()[3] == 0


def test_a_class_of_one_fold_alone_does_not_flatten_the_others() -> None:
    known = drawn(1000)
    truth = np.pad(known.truth, ((0, 0), (0, 1)))
    rare = np.flatnonzero(known.fold == 0)[:100]
    truth[rare, 3] = truth[rare].sum(axis=1)
    truth[rare, :3] = 0
    one = fit_subsets(known, ONE).out_of_fold[:, 3].max(axis=1).mean()
    other = fit_subsets(Samples(known.values, known.place, truth, known.fold, known.video), ONE)
    assert other.out_of_fold[known.fold == 0, 3].max(axis=1).mean() > one - 0.02


def test_unlabelled_supervoxels_are_spoken_of_and_not_learned_from() -> None:
    known = drawn(300)
    truth = known.truth.copy()
    truth[:100] = 0
    fitted = fit_subsets(Samples(known.values, known.place, truth, known.fold, known.video), ONE)
    assert np.isfinite(fitted.out_of_fold).all()
    assert np.allclose(fitted.classifiers.prior, truth.sum(axis=0) / truth.sum())


def test_a_descriptor_that_is_not_finite_is_named() -> None:
    samples = drawn(40)
    samples.values["hog"][11, 1] = np.nan
    with pytest.raises(UsageError, match="'hog' of supervoxel 11 "):
        fit_subsets(samples, ONE)


def test_labels_of_one_fold_alone_are_refused_in_one_line() -> None:
    samples = drawn(40)
    truth = np.where(samples.fold[:, None] == 1, samples.truth, 0)
    with pytest.raises(UsageError, match="all in one fold") as caught:
        fit_subsets(Samples(samples.values, samples.place, truth, samples.fold, samples.video), ONE)
    assert "\n" not in str(caught.value)


def with_opinion(n: int) -> Samples:
    """A network's probabilities, right as they are, some classes being rare; and a descriptor that says nothing."""
    rng = np.random.default_rng(3)
    opinion = softmax((2 * rng.normal(size=(n, 8)) - np.arange(8) / 2).astype(np.float32))
    labels = (opinion.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return labelled({"hog": rng.normal(size=(n, 30)).astype(np.float32), "net": opinion}, np.minimum(labels, 7), 0, 8)


def test_a_networks_probabilities_are_taken_at_their_word_where_there_is_little_to_learn_from() -> None:
    samples = with_opinion(200)
    fitted = fit_subsets(samples, PLAIN)
    network = _loss(np.log(samples.values["net"]), samples.truth, 1)
    assert fitted.classifiers.opinions == ("net",)
    agreed = fitted.out_of_fold[:, 2].argmax(axis=1) == samples.values["net"].argmax(axis=1)
    assert agreed.mean() > 0.95
    assert _loss(np.log(fitted.out_of_fold[:, 2]), samples.truth, 1) < 1.05 * network
    assert _loss(np.log(fitted.out_of_fold[:, 3]), samples.truth, 1) < 1.1 * network


def test_only_probabilities_of_the_classes_are_an_opinion() -> None:
    samples = drawn(100)  # a descriptor as long as there are classes, but not of probabilities
    assert fit_subsets(samples, ONE).classifiers.opinions == ()


def test_rare_classes_are_favoured_absent_ones_are_not_and_less_where_a_network_has_spoken() -> None:
    favour = favour_of(np.array([0.9, 0.1, 0]), ("hog", "net"), ("net",), 1.0)
    assert favour[1, 1] > favour[1, 0] > 0
    assert (favour[:, 2] == 0).all()
    assert np.allclose(favour[2:], favour[:2] / 8)


def test_what_is_favoured_is_said_more_often_and_can_be_taken_back() -> None:
    samples = drawn(1000)
    plain, tilted = (fit_subsets(samples, ClassifierRecipe((1e-3,), balance=balance)) for balance in (0, 1))
    rare = plain.classifiers.prior.argmin()
    assert tilted.out_of_fold[..., rare].mean() > plain.out_of_fold[..., rare].mean()
    assert tilted.calibration_error == plain.calibration_error
    one, other = (fit.classifiers.calibrated().predict_all(samples.values, samples.place) for fit in (plain, tilted))
    assert np.array_equal(one, other)


def test_what_is_held_back_weighs_less() -> None:
    samples = drawn(2000)
    free, held = (fit_subsets(samples, replace(ONE, held_back=names)).classifiers for names in ((), ("hog",)))
    colour, hog = slice(2, 5), slice(5, 9)
    assert np.allclose(held.scale[hog], 4 * free.scale[hog])
    assert np.array_equal(held.scale[colour], free.scale[colour])
    weighs = [np.linalg.norm(own.weights[3, hog] / own.scale[hog, None]) for own in (free, held)]
    assert weighs[1] < 0.99 * weighs[0]
