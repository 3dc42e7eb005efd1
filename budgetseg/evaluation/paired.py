"""Compare methods by the rows of results.json: means over seeds, and paired differences with confidence intervals.

Intervals are bootstrapped: videos and seeds are drawn again with replacement, thousands of times. Pixels of the drawn
videos are pooled for each drawn seed, and figures are averaged over seeds. If there is only one video, parts of it are
drawn, which underestimates how much another video would differ. All methods get the same draws, so that differences
between them are paired.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.errors import UsageError
from budgetseg.evaluation.summary import FIGURES, Mean
from budgetseg.types import Float64, Int64

__all__ = ["Comparison", "Estimate", "compare", "read_comparisons"]

Row = dict[str, Any]
Run = tuple[str, float | None]
"""A method, and its budget as a share of the full cost; None for no bound."""

KINDS = ("dataset", "split", "scope", "costs", "clock")
"""Fields of a row that all rows of a comparison share."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A figure with its bootstrap distribution.

    Attributes
    ----------
    value : as measured
    draws : (B,) figures of the draws, the same draws for all estimates of a comparison; differences and ratios are
        therefore paired
    n : number of videos, or of parts of one video, that were drawn from
    """

    value: float
    draws: Float64
    n: int

    def __sub__(self, other: "Estimate") -> "Estimate":
        return Estimate(self.value - other.value, self.draws - other.draws, self.n)

    def __truediv__(self, other: "Estimate") -> "Estimate":
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.float64(self.value) / other.value
            return Estimate(float(ratio), self.draws / other.draws, self.n)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval that holds 95 of 100 draws; None if there is only one video or part to draw from."""
        return self._holding(0.025)

    @property
    def wide(self) -> tuple[float, float] | None:
        """An interval that holds the truth in 95 of 100 cases even if n is small; None if n is 1.

        Draws from a few videos vary too little. Percentiles are taken so much further out that a mean of n figures has
        the interval that Student's t gives it (Hesterberg 2015, the expanded percentile interval).
        """
        if self.n < 2:
            return None
        from scipy.stats import norm, t

        return self._holding(float(norm.cdf(t.ppf(0.025, self.n - 1) * math.sqrt(self.n / (self.n - 1)))))

    def _holding(self, tail: float) -> tuple[float, float] | None:
        if self.n < 2:
            return None
        low, high = np.nanquantile(self.draws, [tail, 1 - tail]).tolist()
        return low, high


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs on the V videos of a split, or on V parts of its only video, with S seeds.

    Attributes
    ----------
    setup : dataset, split, scope, costs, clock
    classes : L names
    videos, seeds : of all runs
    counts : for each run, (S, V, L, 3) numbers of right, labelled and predicted pixels; S is 1 for a method without
        random choices
    pooled : for each run, rows of all videos together, one per seed
    n_draws : number of draws B of the bootstrap
    """

    setup: dict[str, str]
    classes: tuple[str, ...]
    videos: tuple[str, ...]
    seeds: tuple[int, ...]
    counts: dict[Run, Int64]
    pooled: dict[Run, list[Row]]
    n_draws: int = 10_000
    _known: dict[tuple[Run, str], Estimate] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order of the rows."""
        return list(dict.fromkeys(method for method, _ in self.counts))

    @property
    def budgets(self) -> list[float]:
        """Budgets of all runs, in rising order."""
        return sorted({budget for _, budget in self.counts if budget is not None})

    def __contains__(self, run: Run) -> bool:
        return run in self.counts

    def mean(self, run: Run, kind: str) -> Mean:
        """Mean over seeds of a figure on these videos: class_average, global, miou, or the accuracy of a class."""
        return Mean.of([None if math.isnan(figure) else figure for figure in self._by_seed(run, kind)])

    def estimate(self, run: Run, kind: str) -> Estimate:
        """The same mean with its bootstrap distribution."""
        if (run, kind) not in self._known:
            counts, which, shares = self._draws
            pooled = np.einsum("uv,svlk->uslk", counts, self.counts[run])
            by_seed = np.broadcast_to(self._figure(pooled, kind), (len(counts), len(self.seeds)))
            draws = (by_seed[which] * shares).sum(axis=1)
            self._known[run, kind] = Estimate(float(np.mean(self._by_seed(run, kind))), draws, counts.shape[1])
        return self._known[run, kind]

    def best(self, methods: Iterable[str], budget: float | None, kind: str) -> str | None:
        """The method with the highest mean; of equals, the first; None if none of them was run."""
        run_methods = [method for method in methods if (method, budget) in self]
        return max(run_methods, key=lambda method: self.mean((method, budget), kind).value or 0.0, default=None)

    def _by_seed(self, run: Run, kind: str) -> list[float]:
        found: list[float] = self._figure(self.counts[run].sum(axis=1), kind).tolist()
        return found

    def _figure(self, counts: Int64, kind: str) -> Float64:
        """A figure (…) from counts (…, L, 3); nan without labelled pixels."""
        right, labelled, predicted = np.moveaxis(counts.astype(np.float64), -1, 0)
        if kind == "global":
            return _share(right.sum(axis=-1), labelled.sum(axis=-1))
        if kind in FIGURES:
            whole = labelled if kind == "class_average" else labelled + predicted - right
            occurs = labelled > 0
            shares = np.where(occurs, _share(right, whole), 0.0)
            return _share(shares.sum(axis=-1), occurs.sum(axis=-1))
        k = self.classes.index(kind)
        return _share(right[..., k], labelled[..., k])

    @cached_property
    def _draws(self) -> tuple[Int64, Int64, Float64]:
        """The B draws of the bootstrap.

        Returns the U different draws of videos, (U, V), as the number of times that each video was drawn; the number of
        the one that each draw is, (B,); and the shares of seeds in each draw, (B, S).
        """
        rng = np.random.default_rng(0)
        v = next(iter(self.counts.values())).shape[1]
        s = len(self.seeds)
        drawn = rng.multinomial(v, np.full(v, 1 / v), self.n_draws)
        counts, which = np.unique(drawn, axis=0, return_inverse=True)
        return counts, which.reshape(-1), rng.multinomial(s, np.full(s, 1 / s), self.n_draws) / s


def _share(part: Float64, whole: Float64) -> Float64:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0))


def read_comparisons(paths: Sequence[Path]) -> list[Comparison]:
    """Read comparisons from files, or results.json in folders; of rows for the same run, the last one counts."""
    rows: list[Row] = []
    for path in paths:
        file = path / "results.json" if path.is_dir() else path
        try:
            rows += json.loads(file.read_text())["rows"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            reason = f"{type(error).__name__}: {error}"
            raise UsageError(f"'{file}' cannot be used ({reason}); 'budgetseg evaluate' makes one") from None
    return compare(rows)


def compare(rows: Iterable[Row]) -> list[Comparison]:
    """A comparison for each dataset, split, scope, kind of costs and clock, in the order of the rows."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if "pixels" not in row or "pieces" not in row:
            raise UsageError("rows lack pixels or pieces; run 'budgetseg evaluate' again")
        groups.setdefault(tuple(row[kind] for kind in KINDS), []).append(row)
    return [_comparison(dict(zip(KINDS, key, strict=True)), group) for key, group in groups.items()]


def _comparison(setup: dict[str, str], rows: Sequence[Row]) -> Comparison:
    by_run: dict[Run, dict[tuple[int, str], Row]] = {}
    for row in rows:
        share = row["budget_fraction"]
        run = row["method"], None if share is None else round(share, 6)
        by_run.setdefault(run, {})[row["seed"], row["video"]] = row
    classes = tuple(dict.fromkeys(name for row in rows for name in row["pixels"]))
    videos = tuple(dict.fromkeys(row["video"] for row in rows if row["video"] != "all"))
    seeds = tuple(sorted({row["seed"] for row in rows}))
    counts = {run: _counts(run, run_rows, (seeds, videos, classes)) for run, run_rows in by_run.items()}
    pooled = {run: [row for (_, video), row in run_rows.items() if video == "all"] for run, run_rows in by_run.items()}
    return Comparison(setup, classes, videos, seeds, counts, pooled)


def _is_labelled(pixels: Mapping[str, Sequence[int]]) -> bool:
    return any(labelled for _, labelled, _ in pixels.values())


def _counts(
    run: Run, rows: dict[tuple[int, str], Row], axes: tuple[Sequence[int], Sequence[str], Sequence[str]]
) -> Int64:
    """Counts (S, V, L, 3) from the rows of a run, by seed and video; UsageError if one is missing."""
    all_seeds, videos, classes = axes
    run_seeds = sorted({seed for seed, _ in rows})
    seeds = run_seeds if len(run_seeds) == 1 else all_seeds
    for seed in seeds:
        for video in videos:
            if (seed, video) not in rows:
                budget = "without a bound" if run[1] is None else f"at {run[1]:g} of the full cost"
                raise UsageError(
                    f"{run[0]} {budget} has no row of '{video}' with seed {seed}; "
                    "evaluate all methods with the same --seeds, and budgets as shares"
                )
    if len(videos) == 1:
        pixels = [[piece for piece in rows[seed, videos[0]]["pieces"] if _is_labelled(piece)] for seed in seeds]
    else:
        pixels = [[rows[seed, video]["pixels"] for video in videos] for seed in seeds]
    return np.array(
        [[[counts.get(name, (0, 0, 0)) for name in classes] for counts in by_video] for by_video in pixels], np.int64
    )
