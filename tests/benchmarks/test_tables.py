"""The paper's tables: what stands where."""

from pathlib import Path

import pytest

from benchmarks import tables
from benchmarks.paper import LAYOUTS
from benchmarks.tables import budget_table, paper_table
from tests.benchmarks.made import CLASSES, comparison_of, rows_of, write_rows

RATES = {
    ("crf", None): 0.80,
    ("crf-full", None): 0.90,
    ("baseline1", 0.2): 0.60,
    ("baseline2", 0.2): 0.50,
    ("budget-nhbrnk", 0.2): 0.70,
    ("budget-full", 0.2): 0.85,
    ("static-full", 0.2): 0.75,
    ("budget-nhbrnk", 0.05): 0.40,
}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_paper_table_has_all_classes_both_averages_and_the_papers_own_figure() -> None:
    header, _, *lines = paper_table(comparison_of(RATES), LAYOUTS["camvid"])
    assert cells(header)[:3] == ["B", "method", "Road"]
    assert cells(header)[-3:] == ["Avg", "global", "paper's Avg"]
    assert len(cells(header)) == 2 + len(CLASSES) + 3
    runs = [tuple(cells(line)[:2]) for line in lines]
    assert runs == [
        ("∞", "crf"),
        ("∞", "crf-full"),
        *(("20 %", method) for method in ("baseline1", "baseline2", "budget-nhbrnk", "static-full", "budget-full")),
    ]
    assert [cells(line)[-1] for line in lines] == ["60.9", "61.5", "35.9", "42.9", "48.0", "", "51.5"]


def test_figures_are_means_over_seeds_with_intervals_and_classes_without() -> None:
    found = comparison_of(RATES)
    line = next(line for line in paper_table(found, LAYOUTS["camvid"]) if "baseline1" in line)
    mean = found.mean(("baseline1", 0.2), "class_average")
    assert cells(line)[2:13] == ["60.0"] * 11
    assert cells(line)[13] == f"60.0 ± {100 * (mean.within or 0):.1f}"


def test_the_best_with_the_same_descriptors_is_bold() -> None:
    lines = list(paper_table(comparison_of(RATES), LAYOUTS["camvid"]))
    bold = {cells(line)[1] for line in lines if "**" in line}
    assert bold == {"budget-nhbrnk", "budget-full"}


def test_the_table_of_budgets_has_a_line_for_each_method_and_leaves_out_what_was_not_run() -> None:
    header, _, *lines = budget_table(comparison_of(RATES), "global")
    assert cells(header) == ["method", "5 %", "20 %", "∞"]
    by_method = {cells(line)[0]: [cell.split(" ")[0] for cell in cells(line)[1:]] for line in lines}
    assert by_method == {
        "crf": ["", "", "80.0"],
        "baseline1": ["", "60.0", ""],
        "baseline2": ["", "50.0", ""],
        "budget-nhbrnk": ["40.0", "**70.0**", ""],
        "crf-full": ["", "", "90.0"],
        "static-full": ["", "75.0", ""],
        "budget-full": ["", "**85.0**", ""],
    }


def test_the_command_prints_each_dataset_and_leaves_out_the_wall_clock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [*rows_of(RATES), *rows_of(RATES, "suny"), *rows_of(RATES, clock="wall"), *rows_of(RATES, "folder")]
    tables.main([write_rows(rows, tmp_path / "results")])
    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "### CamVid val, shared costs",
        "### SUNY val, shared costs",
    ]
    assert "6 videos, 5 seeds. Full cost: 30 s hand-made descriptors, 30 s with the network." in text
