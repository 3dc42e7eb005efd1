"""What the paper's tables show."""

import pytest

from benchmarks.paper import FAMILIES, LAYOUTS
from budgetseg.datasets.camvid_classes import CLASSES
from budgetseg.evaluation.methods import METHODS
from tests.benchmarks.made import comparison_of


def test_every_method_that_is_shown_is_one_and_has_the_descriptors_of_its_family() -> None:
    for family, descriptors in zip(
        FAMILIES, (METHODS["crf"].descriptors, METHODS["crf-full"].descriptors), strict=True
    ):
        forms = [form for forms in family.baselines for form in forms]
        for method in (family.unbounded, *forms, *family.plans, *family.learned):
            assert METHODS[method].descriptors == descriptors


def test_every_budgeted_method_is_shown() -> None:
    shown = {method for family in FAMILIES for method in (*family.plans, *family.learned)}
    shown |= {form for family in FAMILIES for forms in family.baselines for form in forms}
    assert shown == {name for name, method in METHODS.items() if method.run is not None}


def test_the_classes_of_the_paper_are_those_of_camvid() -> None:
    assert set(LAYOUTS["camvid"].classes) == set(CLASSES.names)


@pytest.mark.parametrize(
    ("dataset", "best", "ours"), [("camvid", "baseline2", "budget-full"), ("suny", "baseline3", "budget-nhbrnk")]
)
def test_the_share_of_the_gap_is_what_the_papers_own_figures_give(dataset: str, best: str, ours: str) -> None:
    layout = LAYOUTS[dataset]
    low, whole = layout.budgets[0], "crf-full" if ours == "budget-full" else "crf"
    baseline, learned, unbounded = layout.figures[best, low], layout.figures[ours, low], layout.figures[whole, None]
    assert (learned - baseline) / (unbounded - baseline) == pytest.approx(layout.gap, abs=0.005)
    assert baseline == max(layout.figures.get((f"baseline{k}", low), 0.0) for k in (1, 2, 3))


def test_the_papers_figure_of_a_baseline_is_shown_beside_either_form() -> None:
    layout = LAYOUTS["camvid"]
    assert layout.paper("baseline1", 0.2) == layout.paper("baseline1-rest", 0.2) == 35.9
    assert layout.paper("baseline1-full", 0.2) is None
    assert layout.paper("budget-full", 0.9) == 60.4


def test_of_each_baseline_the_stronger_form_is_shown() -> None:
    found = comparison_of(
        {("baseline1", 0.2): 0.5, ("baseline1-rest", 0.2): 0.6, ("baseline2", 0.2): 0.4, ("static", 0.2): 0.7}
    )
    assert list(FAMILIES[0].rows(found, 0.2, "global")) == ["baseline1-rest", "baseline2", "static"]
    assert FAMILIES[0].best_baseline(found, 0.2, "global") == "baseline1-rest"
    assert FAMILIES[1].best_baseline(found, 0.2, "global") is None
