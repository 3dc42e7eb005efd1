"""Rows of results.json: what they hold, and what they add up to."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.baselines.baseline3 import run_baseline3
from budgetseg.baselines.paper import run_baseline
from budgetseg.baselines.static import run_plan
from budgetseg.classifiers.calibration import expected_calibration_error
from budgetseg.classifiers.samples import place_of
from budgetseg.crf import INFERENCE
from budgetseg.crf.potentials import Nodes, make_potentials
from budgetseg.descriptors.table import VideoTable
from budgetseg.errors import UsageError
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of
from budgetseg.evaluation.environment import environment
from budgetseg.evaluation.experiment import (
    N_MOMENTS,
    N_PIECES,
    Experiment,
    check_classes,
    evaluate_tables,
    write_results,
)
from budgetseg.evaluation.methods import METHODS
from budgetseg.policy.baseline3 import N_LEVELS, Baseline3Policy
from budgetseg.policy.state import State
from budgetseg.policy.static import StaticPlan
from budgetseg.simulate import Arena, Reward, reward
from budgetseg.types import Budget, Classes
from tests.models.made import CLASSES, HAND_MADE, random_model, random_table

FULL = {"dcnn": 3, **HAND_MADE}  # another order than that of the methods
EVERY = ("unary", "crf", "unary-full", "crf-full")
KEYS = "video method budget_fraction budget_s spent_s seed n_supervoxels accuracy temporal_consistency pixels pieces"
KEYS += " calibration_error descriptor_counts choices_over_time scope costs clock descriptors"
NAMES = ("colour", "hog", "hof", "mbh", "dcnn")
PLANS = (
    StaticPlan(0.1, ("hof",), "random", NAMES[:4]),
    StaticPlan(0.5, ("hog", "mbh"), "doubt", NAMES[:4]),
    StaticPlan(0.2, ("dcnn",), "large", NAMES),
    StaticPlan(0.2, ("mbh",), "large", NAMES[:4], "unshared"),
)
VALUES = np.random.default_rng(0).random((16, N_LEVELS, 5)).astype(np.float32)
VALUES[..., -1] = -1  # it wants everything
WHOLES = (Baseline3Policy(NAMES[:4], "shared", VALUES),)
MODEL = replace(random_model(FULL), plans=PLANS, baseline3=WHOLES)

Row = dict[str, Any]


@pytest.fixture(scope="module")
def tables() -> list[VideoTable]:
    return [random_table(FULL, f"street{seed}", n, seed) for seed, n in enumerate((40, 60, 1))]


@pytest.fixture(scope="module")
def rows(tables: list[VideoTable]) -> list[Row]:
    return evaluate_tables(MODEL, tables, Experiment(EVERY))


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
    for name in EVERY:
        row, names = find(rows, name, "street1"), METHODS[name].descriptors
        assert row["descriptors"] == list(names)
        assert row["descriptor_counts"] == dict.fromkeys(names, 60)


def test_what_a_method_spends_is_what_its_descriptors_cost(rows: list[Row], tables: list[VideoTable]) -> None:
    columns = {"crf": [1, 2, 3, 4], "crf-full": [0, 1, 2, 3, 4]}
    for method, own in columns.items():
        spent_s = [table.costs.private_s[:, own].sum() + table.costs.resource_s.sum() for table in tables]
        for table, seconds in zip(tables, spent_s, strict=True):
            assert find(rows, method, table.name)["spent_s"] == pytest.approx(seconds)
        assert find(rows, method, "all")["spent_s"] == pytest.approx(sum(spent_s))


def plain_evidence(table: VideoTable, method: str) -> Nodes:
    """What H makes of the method's descriptors; without dcnn its column must not matter."""
    names, h = METHODS[method].descriptors, MODEL.classifiers
    values = {name: own if name in names else own * 1e3 for name, own in table.values.items()}
    subsets = np.full(len(table.graph), sum(1 << list(FULL).index(name) for name in names), np.int32)
    return Nodes(h.predict(values, place_of(table.graph), subsets), h.scaled(values), subsets, h.starts)


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
def test_pixels_are_right_labelled_and_said_for_each_class(
    rows: list[Row], tables: list[VideoTable], method: str
) -> None:
    for table in tables:
        labels, found = plain_labels(table, method), find(rows, method, table.name)["pixels"]
        for k, name in enumerate(CLASSES.names):
            expected = [table.truth[labels == k, k].sum(), table.truth[:, k].sum(), table.truth[labels == k].sum()]
            assert found.get(name, [0, 0, 0]) == expected
        assert all(any(own) for own in found.values())


def test_pixels_of_the_videos_add_up_to_every_figure_of_all(rows: list[Row], bounded: list[Row]) -> None:
    for *videos, pooled in (some[k : k + 4] for some in (rows, bounded) for k in range(0, len(some), 4)):
        counts = np.array([[row["pixels"].get(name, [0, 0, 0]) for name in CLASSES.names] for row in videos]).sum(
            axis=0
        )
        assert {name: own for name, own in zip(CLASSES.names, counts.tolist(), strict=True) if any(own)} == pooled[
            "pixels"
        ]
        right, labelled, probabilities = counts.T
        assert pooled["accuracy"]["global"] == pytest.approx(right.sum() / labelled.sum())
        assert pooled["accuracy"]["class_average"] == pytest.approx(np.mean(right / labelled))
        assert pooled["accuracy"]["miou"] == pytest.approx(np.mean(right / (labelled + probabilities - right)))


def test_of_several_videos_there_are_no_pieces(rows: list[Row], bounded: list[Row]) -> None:
    assert all(row["pieces"] == [] for row in (*rows, *bounded))


def test_pieces_of_the_only_video_are_its_stretches(tables: list[VideoTable]) -> None:
    table = tables[1]
    for row in evaluate_tables(MODEL, [table], Experiment(("crf", "static-rest"), (Budget(0.3, is_share=True),), 2)):
        counts = np.array([[own.get(name, [0, 0, 0]) for name in CLASSES.names] for own in row["pieces"]])
        for k, own in enumerate(counts):
            share = table.graph.centroids[:, 0] / table.n_frames
            inside = (k / N_PIECES <= share) & (share < (k + 1) / N_PIECES)
            assert np.array_equal(own[:, 1], table.truth[inside].sum(axis=0))
        assert len(counts) == N_PIECES
        total = [row["pixels"].get(name, [0, 0, 0]) for name in CLASSES.names]
        assert np.array_equal(counts.sum(axis=0), total)


@pytest.mark.parametrize("method", EVERY)
def test_the_calibration_error_is_that_of_h_whatever_the_crf_does(
    rows: list[Row], tables: list[VideoTable], method: str
) -> None:
    probabilities = [plain_evidence(table, method).probabilities for table in tables]
    truth = [table.truth for table in tables]
    names = [*(table.name for table in tables), "all"]
    for name, p, own in zip(
        names, [*probabilities, np.concatenate(probabilities)], [*truth, np.concatenate(truth)], strict=True
    ):
        expected = expected_calibration_error(p, own)
        assert find(rows, method, name)["calibration_error"] == pytest.approx(expected, rel=1e-6)


def test_with_the_crf_labels_are_others_than_without(rows: list[Row]) -> None:
    for with_crf, without in (("crf", "unary"), ("crf-full", "unary-full")):
        assert find(rows, with_crf, "all")["accuracy"] != find(rows, without, "all")["accuracy"]


def test_without_prices_the_crf_changes_nothing(tables: list[VideoTable]) -> None:
    free = replace(MODEL, crf=replace(MODEL.crf, pair=np.zeros_like(MODEL.crf.pair)))
    rows = evaluate_tables(free, tables, Experiment(("unary", "crf")))
    assert [row["accuracy"] for row in rows[:4]] == [row["accuracy"] for row in rows[4:]]


def test_a_video_without_labels_has_no_figures_and_changes_none(tables: list[VideoTable]) -> None:
    table = tables[0]
    blank = replace(table, name="blank", truth=np.zeros_like(table.truth))
    alone, nothing, both = evaluate_tables(MODEL, [table, blank], Experiment(("crf",)))
    assert nothing["accuracy"] == {"global": None, "class_average": None, "miou": None, "per_class": {}}
    assert nothing["calibration_error"] is None
    assert both["accuracy"] == alone["accuracy"]
    assert both["calibration_error"] == alone["calibration_error"]


def test_other_classes_than_the_models_are_refused() -> None:
    check_classes(MODEL, CLASSES)
    for names in (("road", "sky"), ("sky", "road", "tree"), ("road", "sky", "sea")):
        with pytest.raises(UsageError, match="has the classes road, sky, tree, the dataset has") as error:
            check_classes(MODEL, Classes(names, CLASSES.colours[: len(names)]))
        assert "\n" not in str(error.value)


BOUNDED = (
    *("static-rest", "static-rest-full", "baseline1", "baseline1-rest"),
    *("baseline2", "baseline2-full", "baseline3", "baseline3-rest"),
)
SHARES = (Budget(0.1, True), Budget(0.4, True), Budget(np.inf))


@pytest.fixture(scope="module")
def bounded(tables: list[VideoTable]) -> list[Row]:
    return evaluate_tables(MODEL, tables, Experiment((*BOUNDED, "crf"), SHARES, n_seeds=2), cores=2)


def test_methods_with_a_budget_have_a_row_for_each_budget_and_seed(bounded: list[Row]) -> None:
    videos = ["street0", "street1", "street2", "all"]
    runs = [(method, share, seed) for method in BOUNDED for share in (0.1, 0.4, None) for seed in (0, 1)]
    expected = [(*run, video) for run in (*runs, ("crf", None, 0)) for video in videos]
    assert [(row["method"], row["budget_fraction"], row["seed"], row["video"]) for row in bounded] == expected
    assert all(list(row) == KEYS.split() for row in bounded)
    assert json.loads(json.dumps(bounded, allow_nan=False)) == bounded


def test_budgets_are_shares_of_the_full_cost_of_each_video(bounded: list[Row], tables: list[VideoTable]) -> None:
    for row in bounded:
        if row["budget_fraction"] is None:
            assert row["budget_s"] is None
            continue
        columns = [list(FULL).index(name) for name in row["descriptors"]]
        own = tables if row["video"] == "all" else [table for table in tables if table.name == row["video"]]
        full_s = sum(table.costs.full_s(columns) for table in own)
        assert row["budget_s"] == pytest.approx(row["budget_fraction"] * full_s)
        assert row["spent_s"] <= row["budget_s"]


def test_choices_add_up_to_the_descriptors_that_were_computed(bounded: list[Row]) -> None:
    for row in bounded:
        if row["method"] == "crf":
            continue
        assert len(row["choices_over_time"]) == N_MOMENTS
        for name in row["descriptors"]:
            assert sum(moment[name] for moment in row["choices_over_time"]) == row["descriptor_counts"][name]
        if row["video"] == "all" and row["budget_fraction"] is None:
            assert row["descriptor_counts"] == dict.fromkeys(row["descriptors"], 101)


def test_choices_are_counted_in_tenths_of_the_budget() -> None:
    table = random_table(FULL, n=50)
    model = replace(MODEL, plans=(StaticPlan(0.1, ("colour", "mbh"), "random", NAMES[:4]),))
    budget_s = 0.5 * table.costs.full_s([1, 2, 3, 4])
    (row, _) = evaluate_tables(model, [table], Experiment(("static-rest",), (Budget(budget_s),)))
    plan, arena = model.plans[0], Arena.of(model, table)
    times_s = np.full((50, 5), np.nan)
    run_plan(arena, plan, budget_s, 0, times_s)
    for tenth, moment in enumerate(row["choices_over_time"]):
        within = (times_s >= budget_s * tenth / 10) & (times_s < budget_s * (tenth + 1) / 10 + (tenth == 9))
        assert moment == {name: int(within[:, list(FULL).index(name)].sum()) for name in NAMES[:4]}
    assert row["budget_fraction"] == pytest.approx(0.5)


def test_static_takes_the_plan_for_its_budget_and_baselines_their_own_way(
    bounded: list[Row], tables: list[VideoTable]
) -> None:
    arena = Arena.of(MODEL, tables[1])
    budget_s = {"hand": 0.4 * arena.full_s(NAMES[:4]), "full": 0.4 * arena.full_s(NAMES)}
    ends = {
        "static-rest": run_plan(arena, PLANS[0], budget_s["hand"], 1),
        "static-rest-full": run_plan(arena, PLANS[2], budget_s["full"], 1),
        "baseline1-rest": run_baseline(arena, "baseline1-rest", NAMES[:4], budget_s["hand"], 1),
        "baseline2-full": run_baseline(arena, "baseline2", NAMES, budget_s["full"], 1),
        "baseline3": run_baseline3(arena, WHOLES[0], budget_s["hand"], 1),
        "baseline3-rest": run_baseline3(arena, WHOLES[0], budget_s["hand"], 1, rest=True),
    }
    for method, state in ends.items():
        (row,) = [
            row
            for row in bounded
            if (row["method"], row["budget_fraction"], row["seed"], row["video"]) == (method, 0.4, 1, "street1")
        ]
        expected = accuracy_of(confusion_of(arena.truth, reward(arena, state).labels))
        assert row["accuracy"]["global"] == pytest.approx(expected.overall)
        assert row["accuracy"]["class_average"] == pytest.approx(expected.class_average)


def test_a_plain_plan_leaves_what_it_does_not_need(tables: list[VideoTable]) -> None:
    plain = StaticPlan(0.5, ("hof",), "random", NAMES[:4], rest=False)
    model = replace(MODEL, plans=(*PLANS, plain))
    rows = evaluate_tables(model, tables, Experiment(("static", "static-rest"), (Budget(0.5, True), Budget(np.inf))))
    for row in (row for row in rows if row["method"] == "static"):
        others = [row["descriptor_counts"][name] for name in row["descriptors"] if name != "hof"]
        assert others == [0, 0, 0]
        assert 0 < row["descriptor_counts"]["hof"] <= row["n_supervoxels"]
        assert row["budget_s"] is not None or row["descriptor_counts"]["hof"] == row["n_supervoxels"]
    stronger = [row for row in rows if row["method"] == "static-rest" and row["budget_fraction"] == 0.5]
    assert all(row["descriptor_counts"]["mbh"] > 0 for row in stronger)


def test_without_a_bound_everything_is_computed_and_labels_are_those_of_the_crf(bounded: list[Row]) -> None:
    accuracy = [row["accuracy"] for row in bounded if row["budget_fraction"] is None and len(row["descriptors"]) == 4]
    for k in range(4):
        assert all(one == accuracy[k] for one in accuracy[k::4])


def test_unshared_costs_are_those_of_all_that_each_needs(tables: list[VideoTable]) -> None:
    experiment = Experiment(("static-rest", "crf"), (Budget(0.4, True),), costs="unshared")
    rows = evaluate_tables(MODEL, tables[:1], experiment)
    costs, n = tables[0].costs, 40
    full_s = costs.private_s[:, 1:].sum() + 4 * n * costs.resource_s[0]
    assert find(rows, "crf", "street0")["spent_s"] == pytest.approx(full_s)
    row = find(rows, "static-rest", "street0")
    assert row["budget_s"] == pytest.approx(0.4 * full_s)
    assert row["costs"] == "unshared"
    assert max(row["descriptor_counts"], key=lambda name: row["descriptor_counts"][name]) == "mbh"


def test_what_was_labelled_before_is_not_labelled_again(
    tables: list[VideoTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bytes]()

    def counting(arena: Arena, state: State) -> Reward:
        asked.append(state.subsets.tobytes())
        return reward(arena, state)

    experiment = Experiment(("baseline3", "baseline2"), (Budget(0.4, True), Budget(np.inf)), n_seeds=3)
    before = evaluate_tables(MODEL, tables[:1], experiment)
    monkeypatch.setattr("budgetseg.evaluation.experiment.reward", counting)
    assert evaluate_tables(MODEL, tables[:1], experiment) == before
    assert len(set(asked)) == len(asked) <= 5  # Baseline3 draws nothing, and whoever has no bound computes everything


def test_results_are_read_as_they_were_written_a_row_a_line(rows: list[Row], tmp_path: Path) -> None:
    results = write_results(rows, tmp_path / "results.json")
    text = (tmp_path / "results.json").read_text()
    assert json.loads(text) == results == {"environment": environment(), "rows": rows}
    assert len(text.splitlines()) == len(rows) + 3


def test_unknown_costs_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^no costs 'free'; choose from shared, unshared$"):
        Experiment(("crf",), costs="free")
