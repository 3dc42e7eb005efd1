"""`budgetseg evaluate`, as a user meets it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.descriptors.registry import HAND_MADE, open_descriptors
from budgetseg.evaluation.environment import environment
from budgetseg.models.bundle import load_model, save_model
from budgetseg.policy.static import StaticPlan
from budgetseg.types import Classes
from tests.learning.scenes import NAMES, NEVER, write_scenes
from tests.models.made import random_model

KEYS = "dataset split video method budget_fraction budget_s spent_s seed n_supervoxels accuracy temporal_consistency"
KEYS += " pixels pieces calibration_error descriptor_counts choices_over_time scope costs clock descriptors"
HEADER = ["budget", "spent", "method", "class", "average", "global", "mean", "IoU"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset in `scenes`, a model of its classes in `model` and one of others in `other`."""
    folder = tmp_path_factory.mktemp("place")
    write_scenes(folder / "scenes")
    lengths = {descriptor.name: descriptor.length for descriptor in open_descriptors(HAND_MADE)}
    colours = np.zeros((len(NAMES), 3), np.uint8)
    save_model(random_model(lengths, Classes(NAMES, colours)), folder / "model")
    save_model(random_model(lengths), folder / "other")
    return folder


def words_for(place: Path, *more: str) -> list[str]:
    words = ["evaluate", "folder", "--root", str(place / "scenes"), "--model", str(place / "model")]
    return [*words, "--per-frame", "12", "--threads", "1", *more]


@pytest.fixture(scope="module")
def output(place: Path) -> tuple[Path, str]:
    """The folder of an evaluation, and what it printed."""
    folder = place / "results"
    result = CliRunner().invoke(app, words_for(place, "--methods", "unary, crf", "-o", str(folder)))
    assert result.exit_code == 0, result.output
    return folder, result.stdout


def read_strictly(text: str) -> dict[str, Any]:
    """JSON as the standard has it, without NaN."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    read: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return read


def test_the_help_teaches_the_command() -> None:
    result = CliRunner().invoke(app, ["evaluate", "--help"], env={"COLUMNS": "200"})
    text = " ".join(result.stdout.split())
    assert result.exit_code == 0
    options = (
        "--model --split --methods --budgets --seeds --costs --scope --clock --per-frame --output --threads --json"
    )
    assert all(option in text for option in options.split())
    assert "global, class average, mean IoU, per class" in text


def test_results_have_the_agreed_form(output: tuple[Path, str]) -> None:
    results = read_strictly((output[0] / "results.json").read_text())
    assert list(results) == ["environment", "rows"]
    assert results["environment"] == environment()
    rows = results["rows"]
    assert [(row["method"], row["video"]) for row in rows] == [
        ("unary", "test"),
        ("unary", "all"),
        ("crf", "test"),
        ("crf", "all"),
    ]
    for row in rows:
        assert list(row) == KEYS.split()
        assert (row["dataset"], row["split"], row["n_supervoxels"]) == ("folder", "test", 12)
        assert row["descriptors"] == list(HAND_MADE)
        assert row["spent_s"] > 0
        assert all(0 <= row["accuracy"][kind] <= 1 for kind in ("global", "class_average", "miou"))
        assert NEVER not in row["accuracy"]["per_class"]
        assert 0 < row["calibration_error"] < 1
    assert sorted(path.name for path in output[0].iterdir()) == ["results.json", "table"]


def test_the_table_shows_the_figures_of_all_videos(output: tuple[Path, str]) -> None:
    folder, text = output
    unary, crf = [row for row in read_strictly((folder / "results.json").read_text())["rows"] if row["video"] == "all"]
    header, *lines, empty, last = text.splitlines()
    assert header.split() == ["class", "unary", "crf"]
    shown = {" ".join(line.split()[:-2]): line.split()[-2:] for line in lines}
    figures = {"class average": "class_average", "global": "global", "mean IoU": "miou"}
    assert list(shown) == [*figures, "calibration error", *unary["accuracy"]["per_class"]]
    for name, kind in figures.items():
        assert shown[name] == [f"{100 * row['accuracy'][kind]:.1f}" for row in (unary, crf)]
    assert shown["calibration error"] == 2 * [f"{100 * unary['calibration_error']:.1f}"]  # of H, not of the CRF
    assert (empty, last) == ("", f"All rows are in {folder / 'results.json'}")


def test_a_second_evaluation_describes_nothing_and_prints_json_for_programs(
    place: Path, output: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_work(_: object, jobs: list[object], *__: object) -> None:
        assert not jobs

    monkeypatch.setattr("budgetseg.descriptors.describe.in_processes", no_work)
    before = read_strictly((output[0] / "results.json").read_text())
    result = CliRunner().invoke(app, words_for(place, "--methods", "unary,crf", "-o", str(output[0]), "--json"))
    assert result.exit_code == 0
    assert read_strictly(result.stdout) == before == read_strictly((output[0] / "results.json").read_text())


def test_videos_without_labels_have_no_figures(place: Path, tmp_path: Path) -> None:
    more = ("--split", "blank", "--methods", "unary", "-o", str(tmp_path))
    result = CliRunner().invoke(app, words_for(place, *more))
    assert result.exit_code == 0, result.output
    assert [line.split()[-1] for line in result.stdout.splitlines()[1:5]] == ["-", "-", "-", "-"]
    for row in read_strictly((tmp_path / "results.json").read_text())["rows"]:
        assert row["accuracy"] == {"global": None, "class_average": None, "miou": None, "per_class": {}}
        assert row["calibration_error"] is None


def test_with_budgets_there_is_a_line_for_each_budget_and_method(place: Path, tmp_path: Path) -> None:
    model = load_model(place / "model")
    plans = tuple(StaticPlan(fraction, ("colour",), "random", HAND_MADE) for fraction in (0.1, 0.5))
    save_model(replace(model, plans=plans), tmp_path / "model")
    words = words_for(
        place, "--methods", "all", "--budgets", "20%,inf,0.5", "--seeds", "2", "-o", str(tmp_path / "out")
    )
    result = CliRunner().invoke(app, [*words, "--model", str(tmp_path / "model")])
    assert result.exit_code == 0, result.output
    header, *lines, _, _ = result.stdout.splitlines()
    assert header.split() == HEADER
    names = ["static-rest", "baseline1", "baseline1-rest", "baseline2"]
    budgets = [line.split()[0] for line in lines]
    assert budgets == [*["20"] * 4, *["50"] * 4, *["inf"] * 6]
    assert [line.split()[7] for line in lines[:4]] == names
    assert [line.split()[3] for line in lines[8:]] == ["unary", "crf", *names]
    rows = read_strictly((tmp_path / "out" / "results.json").read_text())["rows"]
    assert len(rows) == 2 * (2 + 4 * 3 * 2)
    assert all(list(row) == KEYS.split() for row in rows)


def test_against_the_wall_clock_there_is_a_line_for_each_budget_and_method(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))
    more = ("--scope", "total", "--clock", "wall", "--methods", "all", "--budgets", "2s,inf", "--seeds", "1")
    result = CliRunner().invoke(app, words_for(place, *more, "-o", str(tmp_path / "out")))
    assert result.exit_code == 0, result.output
    header, *lines, _, _ = result.stdout.splitlines()
    assert header.split() == [*HEADER, "temporal", "consistency"]
    assert [line.split()[7 if " % " in line else 3] for line in lines] == ["static", "static"]
    rows = read_strictly((tmp_path / "out" / "results.json").read_text())["rows"]
    assert [(row["video"], row["budget_s"]) for row in rows] == [("test", 2), ("all", 2), ("test", None), ("all", None)]
    assert all(list(row) == KEYS.split() for row in rows)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["results.json"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--methods", "crf,potts"], "no method 'potts'; choose from all, unary, unary-full, crf, crf-full, static"),
        (["--methods", "crf-full"], "crf-full needs dcnn, which the model was trained without"),
        (["--methods", ""], "no method ''; choose from"),
        (["--methods", "static"], "static needs a plan or policy for shared costs"),
        (["--budgets", "0.2,0"], "budget must be a time, a share or 'inf', and more than 0. Got '0'"),
        (["--costs", "free"], "no costs 'free'; choose from shared, unshared"),
        (["--clock", "wall"], "no scope 'descriptors' with clock 'wall'; choose descriptors with cost, or total with"),
        (["--scope", "total", "--clock", "wall"], "no method 'crf' for the wall clock; choose from all, static"),
        (
            ["--scope", "total", "--clock", "wall", "--costs", "unshared"],
            "--clock wall measures shared costs; leave out --costs",
        ),
        (
            ["--scope", "total", "--clock", "wall", "--networks", "x"],
            "--networks cannot be used with --clock wall; leave it out",
        ),
        (["--seeds", "0"], "see budgetseg evaluate --help"),
        (["--split", "holidays"], "no split 'holidays'"),
        (["--root", "nowhere"], "nowhere"),
        (["--model", "nowhere"], "no model 'nowhere'; choose from camvid, synthetic, or give the folder of one that"),
        (["--per-frame", "0"], "see budgetseg evaluate --help"),
        (["--threads", "0"], "see budgetseg evaluate --help"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_leaves_nothing(
    place: Path, tmp_path: Path, refused: Callable[..., str], words: list[str], line: str
) -> None:
    assert line in refused(*words_for(place, "--methods", "crf", "-o", str(tmp_path / "out"), *words))
    assert not list(tmp_path.iterdir())


def test_a_dataset_of_other_classes_is_told_before_the_work(
    place: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    words = words_for(place, "--methods", "crf", "-o", str(tmp_path / "out"), "--model", str(place / "other"))
    assert "the model has the classes road, sky, tree, the dataset has" in refused(*words)
    assert not list(tmp_path.iterdir())


def test_dataset_and_model_must_be_named(place: Path, refused: Callable[..., str]) -> None:
    assert "missing argument 'dataset'" in refused("evaluate", "--model", place / "model").lower()
    assert "missing option '--model'" in refused("evaluate", "folder").lower()
    assert "no dataset 'kitti'; choose from" in refused("evaluate", "kitti", "--model", place / "model")
