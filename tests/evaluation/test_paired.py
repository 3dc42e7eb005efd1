"""Paired differences: what is drawn together, and how wide intervals are."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from budgetseg.errors import UsageError
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.evaluation.experiment import figures_of, pixels_of
from budgetseg.evaluation.paired import Comparison, Estimate, compare, read_comparisons
from budgetseg.types import Classes, Int64

CLASSES = Classes(("road", "sky", "dog"), np.zeros((3, 3), np.uint8))
KINDS = ("class_average", "global", "miou")

Row = dict[str, Any]


def row(
    method: str, budget: float | None, seed: int, video: str, confusion: Int64, pieces: Sequence[Int64] = ()
) -> Row:
    return {
        "dataset": "suny",
        "split": "test",
        "video": video,
        "method": method,
        "budget_fraction": budget,
        "seed": seed,
        "accuracy": figures_of(accuracy_of(confusion), CLASSES),
        "pixels": pixels_of(confusion, CLASSES),
        "pieces": [pixels_of(piece, CLASSES) for piece in pieces],
        "scope": "descriptors",
        "costs": "shared",
        "clock": "cost",
    }


def rows_of(method: str, budget: float | None, confusions: Int64) -> list[Row]:
    """From (S, V, L, L)."""
    found = []
    for seed, own in enumerate(confusions):
        found += [row(method, budget, seed, f"v{k}", one) for k, one in enumerate(own)]
        found.append(row(method, budget, seed, "all", own.sum(axis=0)))
    return found


def rows_of_one_video(method: str, budget: float | None, confusions: Int64) -> list[Row]:
    """From (S, P, L, L), of P stretches."""
    return [
        row(method, budget, seed, video, own.sum(axis=0), own)
        for seed, own in enumerate(confusions)
        for video in ("v0", "all")
    ]


def random_confusions(n_seeds: int, n_videos: int, seed: int) -> Int64:
    """Videos of different sizes and classes; the third class is in the first video only."""
    rng = np.random.default_rng(seed)
    found = rng.integers(1, 100, (n_seeds, n_videos, 3, 3)) * rng.integers(1, 20, (1, n_videos, 1, 1))
    found[:, 1:, 2] = 0
    return found


def only(rows: list[Row]) -> Comparison:
    (found,) = compare(rows)
    return found


def test_means_are_those_of_the_rows_of_all_videos() -> None:
    rows = rows_of("a", 0.2, random_confusions(4, 3, 0))
    found, pooled = only(rows), [row["accuracy"] for row in rows if row["video"] == "all"]
    for kind in KINDS:
        expected = [accuracy[kind] for accuracy in pooled]
        assert found.mean(("a", 0.2), kind).value == pytest.approx(np.mean(expected))
        assert found.mean(("a", 0.2), kind).within == pytest.approx(stats.sem(expected) * stats.t.ppf(0.975, 3))
        assert found.estimate(("a", 0.2), kind).value == pytest.approx(np.mean(expected))
    dog = [accuracy["per_class"]["dog"] for accuracy in pooled]
    assert found.mean(("a", 0.2), "dog").value == pytest.approx(np.mean(dog))


def test_a_draw_is_what_its_videos_and_seeds_give_pooled() -> None:
    confusions = random_confusions(3, 3, 1)
    found = only(rows_of("a", 0.2, confusions))
    some, which, shares = found._draws
    for draw in range(20):
        pooled = np.einsum("v,svij->sij", some[which[draw]], confusions)
        for kind, name in (("class_average", "class_average"), ("global", "overall"), ("miou", "miou")):
            by_seed = [getattr(accuracy_of(one), name) for one in pooled]
            assert found.estimate(("a", 0.2), kind).draws[draw] == pytest.approx(shares[draw] @ by_seed)


def test_videos_and_seeds_are_drawn_with_replacement_as_many_as_there_are() -> None:
    some, which, shares = only(rows_of("a", 0.2, random_confusions(4, 3, 2)))._draws
    assert (some.sum(axis=1) == 3).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(Comparison.n_draws))
    assert some[which].mean(axis=0) == pytest.approx(np.ones(3), abs=0.05)
    assert shares.mean(axis=0) == pytest.approx(np.full(4, 0.25), abs=0.01)


def hit_rates(rates: Any) -> Int64:
    """Two classes, of 1000 pixels each, that are right as often as given, (S, V)."""
    right = np.round(1000 * np.asarray(rates)).astype(np.int64)
    found = np.zeros((*right.shape, 3, 3), np.int64)
    for k in range(2):
        found[..., k, k], found[..., k, 1 - k] = right, 1000 - right
    return found


def test_what_is_hard_for_both_does_not_widen_their_difference() -> None:
    rng = np.random.default_rng(3)
    hard = rng.uniform(0.2, 0.9, (1, 6)) + rng.normal(0, 0.01, (5, 6))
    found = only([*rows_of("a", 0.2, hit_rates(hard + 0.05)), *rows_of("b", 0.2, hit_rates(hard))])
    a, b = (found.estimate((method, 0.2), "global") for method in "ab")
    low, high = (a - b).interval or (0, 0)
    assert a.interval is not None
    assert a.interval[1] - a.interval[0] > 0.2
    assert low == pytest.approx(0.05, abs=1e-3)
    assert high == pytest.approx(0.05, abs=1e-3)
    assert (a / b).value == pytest.approx(a.value / b.value)
    assert (a / b).draws == pytest.approx(a.draws / b.draws)


def test_the_wide_interval_of_few_videos_is_about_as_wide_as_students() -> None:
    rates = np.random.default_rng(4).normal(0.6, 0.05, (1, 5))
    found = only(rows_of("a", 0.2, hit_rates(rates))).estimate(("a", 0.2), "global")
    (low, high), (narrow_low, narrow_high) = found.wide or (0, 0), found.interval or (0, 0)
    expected = 2 * stats.sem(rates[0]) * stats.t.ppf(0.975, 4)
    assert 0.75 * expected < high - low < 1.25 * expected
    assert low < narrow_low < narrow_high < high


def test_wide_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng, n_held = np.random.default_rng(5), 0
    for _ in range(200):
        draws = rng.normal(0, 1, 5)
        means = rng.choice(draws, (1000, 5)).mean(axis=1)
        low, high = Estimate(float(draws.mean()), means, 5).wide or (0, 0)
        n_held += low <= 0 <= high
    assert 180 <= n_held <= 199


def test_of_one_video_its_stretches_are_drawn() -> None:
    confusions = random_confusions(3, 5, 6)
    one, many = only(rows_of_one_video("a", 0.2, confusions)), only(rows_of("a", 0.2, confusions))
    for kind in KINDS:
        own, other = (found.estimate(("a", 0.2), kind) for found in (one, many))
        assert own.value == other.value
        assert np.array_equal(own.draws, other.draws)
        assert own.n == 5


def test_of_a_single_stretch_there_is_no_interval() -> None:
    alone = only(rows_of_one_video("a", 0.2, random_confusions(3, 1, 6))).estimate(("a", 0.2), "global")
    assert (alone.interval, alone.wide) == (None, None)


def test_what_is_not_random_is_the_same_with_every_seed() -> None:
    found = only([*rows_of("crf", None, random_confusions(1, 2, 7)), *rows_of("a", 0.2, random_confusions(3, 2, 8))])
    crf, a = found.estimate(("crf", None), "global"), found.estimate(("a", 0.2), "global")
    assert found.mean(("crf", None), "global").within is None
    assert (a - crf).value == pytest.approx(a.value - crf.value)
    assert len((a - crf).draws) == Comparison.n_draws


def test_the_best_is_that_of_the_highest_mean_among_those_that_ran() -> None:
    rates = {"a": 0.5, "b": 0.7, "c": 0.7}
    found = only([one for name, rate in rates.items() for one in rows_of(name, 0.2, hit_rates([[rate, rate]]))])
    assert found.best("abc", 0.2, "global") == "b"
    assert found.best(("a", "x"), 0.2, "global") == "a"
    assert found.best("abc", 0.5, "global") is None
    assert (found.methods, found.budgets) == (["a", "b", "c"], [0.2])


def test_cost_models_are_compared_apart() -> None:
    rows = rows_of("a", 0.2, random_confusions(2, 2, 9))
    shared, unshared = compare([*rows, *({**row, "costs": "unshared"} for row in rows)])
    assert (shared.setup["costs"], unshared.setup["costs"]) == ("shared", "unshared")
    assert shared.setup["dataset"] == "suny"


def test_seeds_that_one_method_lacks_are_refused() -> None:
    rows = [*rows_of("a", 0.2, random_confusions(3, 2, 10)), *rows_of("b", 0.2, random_confusions(2, 2, 11))]
    with pytest.raises(UsageError, match=r"^b at 0.2 of the full cost has no row of 'v0' with seed 2; evaluate all"):
        compare(rows)


def test_files_and_folders_are_read_and_the_last_row_counts(tmp_path: Path) -> None:
    first, second = (rows_of("a", 0.2, random_confusions(2, 2, seed)) for seed in (12, 13))
    (tmp_path / "results.json").write_text(json.dumps({"rows": first}))
    (tmp_path / "more.json").write_text(json.dumps({"rows": second}))
    (found,) = read_comparisons([tmp_path, tmp_path / "more.json"])
    assert np.array_equal(found.counts["a", 0.2], only(second).counts["a", 0.2])
    assert found.pooled["a", 0.2] == [row for row in second if row["video"] == "all"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"rows": 1}'])
def test_what_is_no_result_is_refused_in_a_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(UsageError, match=r"results\.json' cannot be used") as error:
        read_comparisons([tmp_path])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["pixels", "pieces"])
def test_rows_of_older_versions_are_refused(key: str) -> None:
    rows = rows_of("a", 0.2, random_confusions(2, 2, 14))
    del rows[0][key]
    with pytest.raises(UsageError, match=r"^rows lack pixels or pieces; run"):
        compare(rows)
