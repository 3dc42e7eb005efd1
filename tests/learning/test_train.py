"""From a small dataset to a model: the same each time, and never learned twice."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.classifiers.fit import ClassifierRecipe
from budgetseg.classifiers.samples import place_of
from budgetseg.crf.learning import CrfRecipe
from budgetseg.descriptors.describe import Description, describe_dataset
from budgetseg.descriptors.table import read_table
from budgetseg.errors import BudgetsegError
from budgetseg.learning import train
from budgetseg.learning.capi import CapiRecipe
from budgetseg.learning.policies import PolicyRecipe
from budgetseg.learning.rollouts import RolloutRecipe
from budgetseg.learning.train import Report, TrainRecipe, train_model
from budgetseg.models.bundle import CRF_ARRAYS, H_ARRAYS, Model, load_model
from budgetseg.types import Int32
from tests.learning.scenes import N_FRAMES, NAMES, NEVER, write_scenes

POLICIES = PolicyRecipe(
    capi=CapiRecipe((0.2, 0.5), n_rounds=1, rollouts=RolloutRecipe(2, 1)),
    methods=("budget-wanted", "budget-rndrnk"),
)
RECIPE = TrainRecipe(ClassifierRecipe((1e-3,)), CrfRecipe(n_rounds=3), policies=POLICIES)
DESCRIPTORS = ("hog", "hof")


class Stages:
    """What a training told of."""

    def __init__(self) -> None:
        self.promised: dict[str, int | None] = {}
        self.done: dict[str, int] = {}

    def __call__(self, what: str, total: int | None, _: str) -> Callable[[int], None]:
        self.promised[what], self.done[what] = total, 0

        def advance(n: int) -> None:
            self.done[what] += n

        return advance


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Description:
    root = write_scenes(tmp_path_factory.mktemp("scenes"))
    return Description("folder", root, ("train",), DESCRIPTORS, per_frame=12)


@pytest.fixture(scope="module")
def tables(plan: Description, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all training videos and the blank one; not to be changed."""
    folder = tmp_path_factory.mktemp("tables")
    describe_dataset(replace(plan, splits=("train", "selection", "blank")), folder, 2)
    return folder


@pytest.fixture(scope="module")
def trained(plan: Description, tables: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report, Stages]:
    """The folder with `model` and `work`, not to be changed; what training found out, and what it told."""
    folder, stages = tmp_path_factory.mktemp("trained"), Stages()
    shutil.copytree(tables, folder / "work" / "table")
    return folder, train_model(plan, folder / "model", folder / "work", RECIPE, 1, stages), stages


@pytest.fixture
def work(tables: Path, tmp_path: Path) -> Path:
    """A work folder in which the videos are described."""
    shutil.copytree(tables, tmp_path / "work" / "table")
    return tmp_path / "work"


def assert_same(one: Model, other: Model) -> None:
    for mine, yours, names in ((one.classifiers, other.classifiers, H_ARRAYS), (one.crf, other.crf, CRF_ARRAYS)):
        for name in names:
            assert np.array_equal(getattr(mine, name), getattr(yours, name)), name
    assert one.settings == other.settings
    assert one.plans == other.plans
    for whole, again in zip(one.baseline3, other.baseline3, strict=True):
        assert (whole.among, whole.costs) == (again.among, again.costs)
        assert np.array_equal(whole.values, again.values)
    for policy, other_policy in zip(one.policies, other.policies, strict=True):
        assert policy.expected == other_policy.expected
        assert np.array_equal(policy.policy.weights, other_policy.policy.weights)


def times(folder: Path) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_model_knows_its_classes_descriptors_and_settings(
    plan: Description, trained: tuple[Path, Report, Stages]
) -> None:
    model = load_model(trained[0] / "model")
    assert model.name == "model"
    assert model.classes.names == NAMES
    assert model.classifiers.names == DESCRIPTORS
    assert model.networks is None
    assert {(one.among, one.costs) for one in model.plans} == {(DESCRIPTORS, "shared"), (DESCRIPTORS, "unshared")}
    assert [(one.among, one.costs) for one in model.baseline3] == [(DESCRIPTORS, "shared"), (DESCRIPTORS, "unshared")]
    assert [(one.among, one.costs, one.method) for one in model.policies] == [
        (DESCRIPTORS, costs, method) for costs in ("shared", "unshared") for method in POLICIES.methods
    ]
    assert model.settings == {"dataset": "folder", "splits": ["train"], "tier": plan.tier, "per_frame": 12}


def test_stages_are_told_of_in_order_and_done_to_the_end(trained: tuple[Path, Report, Stages]) -> None:
    _, _, stages = trained
    expected = ["describe", "classifiers", "crf", "static plans", "whole descriptors", "policies"]
    assert list(stages.promised) == expected
    assert stages.done == stages.promised
    assert stages.promised["describe"] == sum(N_FRAMES[name] for name in "abcd")


def test_the_report_says_what_was_chosen_and_how_sure_h_may_be(trained: tuple[Path, Report, Stages]) -> None:
    _, report, _ = trained
    assert report.decays == (1e-3, 1e-3)
    assert 0 < report.calibration_error < 0.3


def predicted(model: Model, folder: Path) -> tuple[Int32, Int32]:
    """What H says of the labelled supervoxels of a video, and what is right."""
    table = read_table(folder)
    place = place_of(table.graph)
    probabilities = model.classifiers.predict_all(table.values, place)[:, -1]
    labelled = table.truth.any(axis=1)
    right = table.truth.argmax(axis=1)
    return probabilities.argmax(axis=1)[labelled].astype(np.int32), right[labelled].astype(np.int32)


def test_h_has_learned_something(tables: Path, trained: tuple[Path, Report, Stages]) -> None:
    model = load_model(trained[0] / "model")
    for name in "abcd":
        probabilities, right = predicted(model, tables / "train" / name)
        assert (probabilities == right).mean() > 0.6


def test_a_class_that_never_occurs_in_training_is_never_said(
    tables: Path, trained: tuple[Path, Report, Stages]
) -> None:
    model = load_model(trained[0] / "model")
    never = NAMES.index(NEVER)
    assert model.classifiers.prior[never] == 0
    table = read_table(tables / "blank" / "blank")
    probabilities = model.classifiers.predict_all(table.values, place_of(table.graph))
    assert probabilities[..., never].max() < 1e-9
    assert (probabilities.argmax(axis=2) != never).all()
    assert all(np.isfinite(getattr(model.crf, name)).all() for name in CRF_ARRAYS)


@pytest.mark.parametrize("cores", [1, 2])
def test_training_again_gives_the_same_model(
    plan: Description, work: Path, trained: tuple[Path, Report, Stages], cores: int
) -> None:
    report = train_model(plan, work.parent / "model", work, RECIPE, cores)
    assert_same(load_model(work.parent / "model"), load_model(trained[0] / "model"))
    assert report == trained[1]


def test_a_second_run_skips_what_is_finished(
    plan: Description, trained: tuple[Path, Report, Stages], tmp_path: Path
) -> None:
    shutil.copytree(trained[0] / "work", tmp_path / "work")
    before, stages = times(tmp_path / "work"), Stages()
    report = train_model(plan, tmp_path / "model", tmp_path / "work", RECIPE, 1, stages)
    assert list(stages.promised) == ["describe", "crf", "static plans", "whole descriptors", "policies"]
    assert times(tmp_path / "work") == before
    assert report == trained[1]
    assert_same(load_model(tmp_path / "model"), load_model(trained[0] / "model"))


def test_after_an_interruption_there_is_no_model_and_the_next_run_goes_on(
    plan: Description, work: Path, trained: tuple[Path, Report, Stages], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(train, "learn_crf", interrupt)
        with pytest.raises(KeyboardInterrupt):
            train_model(plan, work.parent / "model", work, RECIPE)
    assert [path.name for path in work.parent.iterdir()] == ["work"]
    with monkeypatch.context() as patch:
        patch.setattr(train, "fit_subsets", interrupt)  # it must not be called again
        train_model(plan, work.parent / "model", work, RECIPE)
    assert_same(load_model(work.parent / "model"), load_model(trained[0] / "model"))


def test_how_policies_come_along_is_told_and_they_may_be_left_out(
    plan: Description, trained: tuple[Path, Report, Stages], tmp_path: Path
) -> None:
    shutil.copytree(trained[0] / "work", tmp_path / "work")
    for seed, n_lines in ((0, 0), (1, 4)):  # four policies, a round of CAPI each
        lines = list[str]()
        recipe = replace(RECIPE, policies=replace(POLICIES, seed=seed))
        train_model(plan, tmp_path / "model", tmp_path / "work", recipe, tell=lines.append)
        assert len(lines) == n_lines
    train_model(plan, tmp_path / "model", tmp_path / "work", replace(RECIPE, policies=None, plans=None))
    model = load_model(tmp_path / "model")
    assert (model.plans, model.baseline3, model.policies) == ((), (), ())


def refits(plan: Description, work: Path, recipe: TrainRecipe) -> bool:
    """Whether training learns H anew."""
    stages = Stages()
    train_model(plan, work.parent / "model", work, replace(recipe, policies=None), 1, stages)
    return "classifiers" in stages.promised


def test_another_recipe_or_other_labels_are_learned_anew(
    plan: Description, trained: tuple[Path, Report, Stages], tmp_path: Path
) -> None:
    work = shutil.copytree(trained[0] / "work", tmp_path / "work")
    assert not refits(plan, work, replace(RECIPE, crf=CrfRecipe(n_rounds=1)))
    assert refits(plan, work, replace(RECIPE, classifiers=ClassifierRecipe((1e-2,))))
    path = work / "table" / "train" / "a" / "truth.npy"
    np.save(path, np.roll(np.load(path), 1, axis=1))  # as many labelled pixels as before
    assert refits(plan, work, replace(RECIPE, classifiers=ClassifierRecipe((1e-2,))))


def test_one_video_is_enough_if_things_change_in_it(plan: Description, work: Path) -> None:
    table = work / "table" / "selection" / "d"
    with np.load(table / "graph.npz") as stored:
        graph = dict(stored)
    n = len(graph["centroids"])
    graph["centroids"][:, 0] = np.arange(n) * 3 / n  # folds are blocks of time
    np.savez(table / "graph.npz", **graph)
    train_model(replace(plan, splits=("selection",)), work.parent / "model", work, replace(RECIPE, policies=None))
    probabilities, right = predicted(load_model(work.parent / "model"), table)
    assert (probabilities == right).mean() > 0.6


def test_a_split_without_labels_is_refused_in_one_line_and_leaves_no_model(plan: Description, work: Path) -> None:
    with pytest.raises(BudgetsegError, match="label") as error:
        train_model(replace(plan, splits=("blank",)), work.parent / "model", work, RECIPE)
    assert "\n" not in str(error.value)
    assert [path.name for path in work.parent.iterdir()] == ["work"]
