"""What the paper's tables show, and the figures that it has; read by `tables`, `bars` and `figures`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from budgetseg.evaluation.paired import Comparison

LEARNED = ("budget-rndrnk", "budget-nhbrnk", "budget-wanted")
BASELINES = (("baseline1", "baseline1-rest"), ("baseline2",), ("baseline3", "baseline3-rest"))
"""Each in its forms, of which the stronger one is shown."""
PLANS = ("static", "static-rest")
"""The best static plan, plain, and in its stronger form, which has an order and spends what is left; both are shown."""


def with_network(method: str) -> str:
    """The twin of a method that has the network among its descriptors."""
    return "budget-full" if method == "budget-nhbrnk" else f"{method}-full"


@dataclass(frozen=True)
class Family:
    """Methods that choose among the same descriptors.

    Attributes
    ----------
    title : what they choose among
    unbounded : the method that computes everything
    baselines : in their forms
    plans : the best static plan, plain and in its stronger form
    learned : the paper's variants, and at the end ours
    """

    title: str
    unbounded: str
    baselines: tuple[tuple[str, ...], ...]
    plans: tuple[str, str]
    learned: tuple[str, ...]

    def rows(self, found: Comparison, budget: float, kind: str) -> Iterator[str]:
        """Methods to show at a budget, the stronger form of each baseline, as far as they were run."""
        for forms in (*self.baselines, *((method,) for method in (*self.plans, *self.learned))):
            if best := found.best(forms, budget, kind):
                yield best

    def best_baseline(self, found: Comparison, budget: float, kind: str) -> str | None:
        """The strongest form of the strongest."""
        return found.best([form for forms in self.baselines for form in forms], budget, kind)


FAMILIES = (
    Family("hand-made descriptors", "crf", BASELINES, PLANS, LEARNED),
    Family(
        "with the network",
        "crf-full",
        tuple(tuple(with_network(form) for form in forms) for forms in BASELINES),
        (with_network(PLANS[0]), with_network(PLANS[1])),
        tuple(with_network(method) for method in LEARNED),
    ),
)


@dataclass(frozen=True)
class Layout:
    """How the paper shows a dataset.

    Attributes
    ----------
    title : of the dataset
    kind, other : the figure that it has, and the other one
    budgets : as shares of the full cost: low, middle, top
    classes : shown one by one, ours by the paper's names
    gap : share of the gap between the best baseline and no bound that the paper closes at the low budget
    figures : of the paper, by method and budget, in percent
    """

    title: str
    kind: str
    other: str
    budgets: tuple[float, float, float]
    classes: dict[str, str]
    gap: float
    figures: dict[tuple[str, float | None], float]

    def paper(self, method: str, budget: float | None) -> float | None:
        """The paper's own figure, if it has one; it knows one form of each baseline, without the network."""
        return self.figures.get((method.removesuffix("-rest"), budget))


def _figures(
    unbounded: dict[str, float], budgets: Sequence[float], rows: dict[str, Sequence[float]]
) -> dict[tuple[str, float | None], float]:
    found: dict[tuple[str, float | None], float] = {(method, None): own for method, own in unbounded.items()}
    found |= {(method, budget): one for method, own in rows.items() for budget, one in zip(budgets, own, strict=True)}
    return found


LAYOUTS = {
    "camvid": Layout(
        "CamVid",
        "class_average",
        "global",
        (0.2, 0.5, 0.9),
        {
            "road": "Road",
            "building": "Bldg",
            "sky": "Sky",
            "tree": "Tree",
            "sidewalk": "SWlk",
            "car": "Car",
            "pole": "Pole",
            "fence": "Fence",
            "pedestrian": "Pdstr",
            "bicyclist": "Bcyl",
            "sign": "Sign",
        },
        0.46,
        _figures(
            {"crf": 60.9, "crf-full": 61.5},
            (0.2, 0.5, 0.9),  # 10, 25 and 45 of 43 to 53 minutes
            {
                "baseline1": (35.9, 44.7, 59.4),
                "baseline2": (42.9, 49.0, 57.5),
                "baseline3": (41.5, 46.6, 58.9),
                "budget-rndrnk": (47.3, 50.8, 57.3),
                "budget-nhbrnk": (48.0, 52.8, 58.8),
                "budget-full": (51.5, 56.6, 60.4),
            },
        ),
    ),
    "suny": Layout(
        "SUNY",
        "global",
        "class_average",
        (0.49, 0.73, 0.98),
        {},
        0.35,
        _figures(
            {"crf": 52.1},
            (0.49, 0.73, 0.98),  # 10, 15 and 20 of 19 to 22 seconds
            {
                "baseline1": (32.2, 37.4, 49.3),
                "baseline3": (32.8, 37.9, 49.8),
                "budget-rndrnk": (38.7, 44.7, 48.7),
                "budget-nhbrnk": (39.6, 46.6, 49.5),
            },
        ),
    ),
}

KIND_TITLES = {"class_average": "Avg", "global": "global"}
