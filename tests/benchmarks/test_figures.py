"""Figures: which are written, and what they show."""

from pathlib import Path

import cv2
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.lines import Line2D

from benchmarks import figures
from benchmarks.figures import DEPTH, accuracy_plot, descriptor_plot, time_plot, wall_plot
from benchmarks.paper import LAYOUTS
from tests.benchmarks.made import NAMES, comparison_of, rows_of, write_rows

BUDGETS = (0.02, 0.2, 0.9)
RATES: dict[tuple[str, float | None], float] = {("crf", None): 0.8, ("crf-full", None): 0.9}
for k, budget in enumerate(BUDGETS):
    RATES |= {("baseline1", budget): 0.5 + 0.1 * k, ("baseline1-rest", budget): 0.7 - 0.05 * k}
    RATES |= {("baseline2", budget): 0.1, ("static", budget): 0.7, ("budget-nhbrnk", budget): 0.75 + 0.01 * k}
    RATES |= {("budget-full", budget): 0.8}


def curves(axes: Axes) -> dict[str, Line2D]:
    return {str(own.get_label()): own.lines[0] for own in axes.containers if isinstance(own, ErrorbarContainer)}


def legend(axes: Axes) -> list[str]:
    found = axes.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def heights(axes: Axes) -> list[list[float]]:
    return [[bar.get_height() for bar in own] for own in axes.containers if isinstance(own, BarContainer)]


def test_curves_are_means_and_baselines_the_stronger_form() -> None:
    hand_made, _ = accuracy_plot(comparison_of(RATES), LAYOUTS["camvid"]).axes
    found = curves(hand_made)
    assert list(found) == ["baseline1", "baseline2", "static", "budget-nhbrnk"]
    assert found["baseline1"].get_xdata() == pytest.approx([2, 20, 90])
    assert found["baseline1"].get_ydata() == pytest.approx([70, 65, 70], abs=0.1)
    assert found["budget-nhbrnk"].get_ydata() == pytest.approx([75, 76, 77], abs=0.1)


def test_a_method_that_knows_nothing_does_not_squeeze_the_others() -> None:
    low, high = accuracy_plot(comparison_of(RATES), LAYOUTS["camvid"]).axes[0].get_ylim()
    assert low == pytest.approx(90 - DEPTH - 1, abs=0.1)
    assert high == pytest.approx(92, abs=0.1)


def test_curves_differ_in_colour_and_in_shape() -> None:
    hand_made, _ = accuracy_plot(comparison_of(RATES), LAYOUTS["camvid"]).axes
    lines = curves(hand_made).values()
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == len(lines)


def test_descriptors_are_shown_as_shares_of_what_is_chosen_at_each_budget() -> None:
    (axes,) = descriptor_plot(comparison_of(RATES), LAYOUTS["camvid"]).axes
    total = sum(55 + 10 * k for k in range(5))
    assert heights(axes) == [pytest.approx([100 * (55 + 10 * k) / total] * 3) for k in range(5)]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["2 %", "20 %", "90 %"]
    assert legend(axes) == list(NAMES)
    assert [text.get_text() for text in axes.texts] == [str(total)] * 3


def test_choices_over_time_are_shown_in_tenths_of_the_budget() -> None:
    (axes,) = time_plot(comparison_of(RATES), LAYOUTS["camvid"]).axes
    for moment in range(10):
        counts = [10 - moment + k for k in range(4)]
        assert [own[moment] for own in heights(axes)] == pytest.approx([100 * n / sum(counts) for n in counts])
    assert [tick.get_text() for tick in axes.get_xticklabels()][:2] == ["0-10", "10-20"]


def test_against_the_wall_clock_all_methods_are_shown() -> None:
    (axes,) = wall_plot(
        comparison_of({("learned", 0.1): 0.8, ("keyframes", 0.1): 0.7}, clock="wall"), LAYOUTS["camvid"]
    ).axes
    assert legend(axes) == ["learned", "keyframes"]


def test_the_command_writes_what_the_rows_allow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wall: dict[tuple[str, float | None], float] = {("learned", 0.1): 0.8, ("keyframes", 0.1): 0.7}
    rows = [*rows_of(RATES), *rows_of({("crf", None): 0.5, ("static", 0.2): 0.4}, "suny"), *rows_of(wall, clock="wall")]
    figures.main(tmp_path / "out" / "figures", [write_rows(rows, tmp_path / "results")])
    names = ["camvid-shared-accuracy", "camvid-shared-descriptors", "camvid-shared-over-time", "camvid-wall-accuracy"]
    written = sorted((tmp_path / "out" / "figures").iterdir())
    assert [path.stem for path in written] == [*names, "suny-shared-accuracy"]
    assert sorted(capsys.readouterr().out.split()) == [str(path) for path in written]
    for path in written:
        image = cv2.imread(str(path))
        assert image is not None
        assert min(image.shape[:2]) > 400
        assert image.std() > 1
