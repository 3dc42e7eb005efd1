"""Rows of results.json: what they hold, and what they add up to."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from budgetseg.classifiers.calibration import expected_calibration_error
from budgetseg.classifiers.samples import place_of
from budgetseg.crf import INFERENCE
from budgetseg.crf.potentials import Evidence, make_potentials
from budgetseg.descriptors.table import VideoTable
from budgetseg.errors import UsageError
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of
from budgetseg.evaluation.experiment import METHODS, check_classes, descriptors_of, evaluate_unbounded
from budgetseg.types import Classes
from tests.models.made import CLASSES, HAND_MADE, random_model, random_table

FULL = {"dcnn": 3, **HAND_MADE}  # another order than that of the methods
EVERY = ("unary", "crf", "unary-full", "crf-full")
KEYS = "video method budget_fraction budget_s spent_s seed n_supervoxels accuracy calibration_error descriptor_counts"
KEYS += " choices_over_time scope costs clock descriptors"
MODEL = random_model(FULL)

Row = dict[str, Any]


@pytest.fixture(scope="module")
def tables() -> list[VideoTable]:
    return [random_table(FULL, f"street{seed}", n, seed) for seed, n in enumerate((40, 60, 1))]


@pytest.fixture(scope="module")
def rows(tables: list[VideoTable]) -> list[Row]:
    return evaluate_unbounded(MODEL, tables, EVERY)


def find(rows: list[Row], method: str, video: str) -> Row:
    (row,) = [row for row in rows if (row["method"], row["video"]) == (method, video)]
    return row


def test_there_is_a_row_for_each_method_and_video_and_one_for_all(rows: list[Row]) -> None:
    videos = ["street0", "street1", "street2", "all"]
    assert [(row["method"], row["video"]) for row in rows] == [(method, video) for method in EVERY for video in videos]


def test_rows_have_the_agreed_keys(rows: list[Row]) -> None:
    for row in rows:
        assert list(row) == KEYS.split()
        assert list(row["accuracy"]) == ["global", "class_average", "miou", "per_class"]
        assert set(row["accuracy"]["per_class"]) <= set(CLASSES.names)
        assert (row["budget_fraction"], row["budget_s"], row["choices_over_time"]) == (None, None, [])
        assert (row["scope"], row["costs"], row["clock"]) == ("descriptors", "shared", "cost")
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_methods_use_their_descriptors_on_every_supervoxel(rows: list[Row]) -> None:
    for method, names in METHODS.items():
        for name in (method, method.replace("crf", "unary")):
            row = find(rows, name, "street1")
            assert row["descriptors"] == list(names)
            assert row["descriptor_counts"] == dict.fromkeys(names, 60)


def test_what_a_method_spends_is_what_its_descriptors_cost(rows: list[Row], tables: list[VideoTable]) -> None:
    columns = {"crf": [1, 2, 3, 4], "crf-full": [0, 1, 2, 3, 4]}
    for method, own in columns.items():
        spent_s = [table.costs.private_s[:, own].sum() + table.costs.resource_s.sum() for table in tables]
        for table, seconds in zip(tables, spent_s, strict=True):
            assert find(rows, method, table.name)["spent_s"] == pytest.approx(seconds)
        assert find(rows, method, "all")["spent_s"] == pytest.approx(sum(spent_s))


def plain_evidence(table: VideoTable, method: str) -> Evidence:
    """What H makes of the method's descriptors; without dcnn its column must not matter."""
    names, h = METHODS[method.replace("unary", "crf")], MODEL.classifiers
    values = {name: own if name in names else own * 1e3 for name, own in table.values.items()}
    subsets = np.full(len(table.graph), sum(1 << list(FULL).index(name) for name in names), np.int32)
    return Evidence(h.predict(values, place_of(table.graph), subsets), h.scaled(values), subsets, h.starts)


def plain_labels(table: VideoTable, method: str) -> Any:
    """The method, step by step."""
    problem = make_potentials(MODEL.crf, plain_evidence(table, method), table.graph)
    return INFERENCE["expansion"](problem) if "crf" in method else problem.unary.argmin(axis=1)


@pytest.mark.parametrize("method", EVERY)
def test_the_row_of_all_pools_the_pixels_of_the_videos(rows: list[Row], tables: list[VideoTable], method: str) -> None:
    confusions = [confusion_of(table.truth, plain_labels(table, method)) for table in tables]
    for name, confusion in zip([*(table.name for table in tables), "all"], [*confusions, sum(confusions)], strict=True):
        expected, found = accuracy_of(np.asarray(confusion)), find(rows, method, name)["accuracy"]
        assert found["global"] == pytest.approx(expected.overall)
        assert found["class_average"] == pytest.approx(expected.class_average)
        assert found["miou"] == pytest.approx(expected.miou)
    assert find(rows, method, "all")["n_supervoxels"] == 101


@pytest.mark.parametrize("method", EVERY)
def test_the_calibration_error_is_that_of_h_whatever_the_crf_does(
    rows: list[Row], tables: list[VideoTable], method: str
) -> None:
    said = [plain_evidence(table, method).probabilities for table in tables]
    truth = [table.truth for table in tables]
    names = [*(table.name for table in tables), "all"]
    for name, p, own in zip(names, [*said, np.concatenate(said)], [*truth, np.concatenate(truth)], strict=True):
        expected = expected_calibration_error(p, own)
        assert find(rows, method, name)["calibration_error"] == pytest.approx(expected, rel=1e-6)


def test_with_the_crf_labels_are_others_than_without(rows: list[Row]) -> None:
    for with_crf, without in (("crf", "unary"), ("crf-full", "unary-full")):
        assert find(rows, with_crf, "all")["accuracy"] != find(rows, without, "all")["accuracy"]


def test_without_prices_the_crf_changes_nothing(tables: list[VideoTable]) -> None:
    free = replace(MODEL, crf=replace(MODEL.crf, pair=np.zeros_like(MODEL.crf.pair)))
    rows = evaluate_unbounded(free, tables, ("unary", "crf"))
    assert [row["accuracy"] for row in rows[:4]] == [row["accuracy"] for row in rows[4:]]


def test_a_video_without_labels_has_no_figures_and_changes_none(tables: list[VideoTable]) -> None:
    table = tables[0]
    blank = replace(table, name="blank", truth=np.zeros_like(table.truth))
    alone, nothing, both = evaluate_unbounded(MODEL, [table, blank], ["crf"])
    assert nothing["accuracy"] == {"global": None, "class_average": None, "miou": None, "per_class": {}}
    assert nothing["calibration_error"] is None
    assert both["accuracy"] == alone["accuracy"]
    assert both["calibration_error"] == alone["calibration_error"]


@pytest.mark.parametrize("name", ["potts", "", "unary-fully", "all", "CRF"])
def test_an_unknown_method_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UsageError) as error:
        descriptors_of(name, MODEL)
    assert str(error.value) == f"no method '{name}'; choose from crf, crf-full, unary, unary-full"


def test_a_method_without_its_descriptors_is_refused() -> None:
    small = random_model({"colour": 5, "hog": 3})
    with pytest.raises(UsageError, match=r"^unary-full needs hof, mbh, dcnn, which the model was trained without$"):
        evaluate_unbounded(small, [], ["unary-full"])


def test_other_classes_than_the_models_are_refused() -> None:
    check_classes(MODEL, CLASSES)
    for names in (("road", "sky"), ("sky", "road", "tree"), ("road", "sky", "sea")):
        with pytest.raises(UsageError, match="tells apart road, sky, tree; the dataset has") as error:
            check_classes(MODEL, Classes(names, CLASSES.colours[: len(names)]))
        assert "\n" not in str(error.value)
