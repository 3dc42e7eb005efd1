"""Methods side by side, from the rows of results.json: means over seeds, and paired differences with their intervals.

What would have come of other videos and seeds is seen by drawing them again, with replacement, thousands of times:
pixels of the drawn videos are pooled for each drawn seed, and figures are averaged over seeds. Of a single video its
stretches are drawn, which tells less: another video differs more. All methods see the same draws, so what two of them
are apart is never the luck of one.
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
"""A method, and its budget as a share of the full cost, None where there is no bound."""

KINDS = ("dataset", "split", "scope", "costs", "clock")
"""What tells comparisons apart."""
N_DRAWS = 10_000


@dataclass(frozen=True, eq=False)
class Estimate:
    """A figure, and what it is with other draws of videos and seeds.

    Attributes
    ----------
    value : as measured
    draws : (B,) the same draws for all estimates of a comparison; differences and ratios are therefore paired
    n : how many were drawn from: videos, or stretches of one
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
        """Holds 95 of 100 draws; None where nothing could be drawn."""
        return self._holding(0.025)

    @property
    def wide(self) -> tuple[float, float] | None:
        """Holds the truth in 95 of 100 cases even where n is small; None where nothing could be drawn.

        Draws from a few lie too near to each other. Percentiles are taken so much further out that a mean of n figures
        has the interval that Student's t gives it (Hesterberg 2015, the expanded percentile interval).
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
    """Runs on the V videos of a split, or V stretches of its only one, with S seeds.

    Attributes
    ----------
    setup : dataset, split, scope, costs, clock
    classes : L names
    videos, seeds : of all runs
    counts : (S, V, L, 3) pixels right, labelled and predicted, by run; one seed instead of S where nothing is random
    pooled : rows of all videos together, one per seed, by run
    """

    setup: dict[str, str]
    classes: tuple[str, ...]
    videos: tuple[str, ...]
    seeds: tuple[int, ...]
    counts: dict[Run, Int64]
    pooled: dict[Run, list[Row]]
    _known: dict[tuple[Run, str], Estimate] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        """Names, in the order of the rows."""
        return list(dict.fromkeys(method for method, _ in self.counts))

    @property
    def budgets(self) -> list[float]:
        """Those that there are, rising."""
        return sorted({budget for _, budget in self.counts if budget is not None})

    def __contains__(self, run: Run) -> bool:
        return run in self.counts

    def mean(self, run: Run, kind: str) -> Mean:
        """Over seeds, on these videos; kinds are class_average, global, miou and the names of classes."""
        return Mean.of([None if math.isnan(one) else one for one in self._by_seed(run, kind)])

    def estimate(self, run: Run, kind: str) -> Estimate:
        """The same mean, and what it is on other videos with other seeds."""
        if (run, kind) not in self._known:
            some, which, shares = self._draws
            pooled = np.einsum("uv,svlk->uslk", some, self.counts[run])
            by_seed = np.broadcast_to(self._figure(pooled, kind), (len(some), len(self.seeds)))
            draws = (by_seed[which] * shares).sum(axis=1)
            self._known[run, kind] = Estimate(float(np.mean(self._by_seed(run, kind))), draws, some.shape[1])
        return self._known[run, kind]

    def best(self, methods: Iterable[str], budget: float | None, kind: str) -> str | None:
        """The method of the highest mean, the first of equals; None if none of them was run."""
        there = [method for method in methods if (method, budget) in self]
        return max(there, key=lambda method: self.mean((method, budget), kind).value or 0.0, default=None)

    def _by_seed(self, run: Run, kind: str) -> list[float]:
        found: list[float] = self._figure(self.counts[run].sum(axis=1), kind).tolist()
        return found

    def _figure(self, counts: Int64, kind: str) -> Float64:
        """Of counts (…, L, 3); nan where there is nothing to judge by."""
        right, labelled, predicted = np.moveaxis(counts.astype(np.float64), -1, 0)
        if kind == "global":
            return _share(right.sum(axis=-1), labelled.sum(axis=-1))
        if kind in FIGURES:
            of = labelled if kind == "class_average" else labelled + predicted - right
            there = labelled > 0
            shares = np.where(there, _share(right, of), 0.0)
            return _share(shares.sum(axis=-1), there.sum(axis=-1))
        k = self.classes.index(kind)
        return _share(right[..., k], labelled[..., k])

    @cached_property
    def _draws(self) -> tuple[Int64, Int64, Float64]:
        """Ways to draw videos, (U, V) times each; which of them a draw is, (B,); and its shares of seeds, (B, S)."""
        rng, v, s = np.random.default_rng(0), next(iter(self.counts.values())).shape[1], len(self.seeds)
        some, which = np.unique(rng.multinomial(v, np.full(v, 1 / v), N_DRAWS), axis=0, return_inverse=True)
        return some, which.reshape(-1), rng.multinomial(s, np.full(s, 1 / s), N_DRAWS) / s


def _share(part: Float64, whole: Float64) -> Float64:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(part), np.nan), where=whole > 0))


def read_comparisons(paths: Sequence[Path]) -> list[Comparison]:
    """What lies in these files, or in results.json of these folders; a row that is there twice counts as read last."""
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
    """One comparison for each dataset, split, scope, cost model and clock, in the order of the rows."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if "pixels" not in row or "pieces" not in row:
            raise UsageError("rows lack pixels or pieces; run 'budgetseg evaluate' again")
        groups.setdefault(tuple(row[kind] for kind in KINDS), []).append(row)
    return [_comparison(dict(zip(KINDS, key, strict=True)), own) for key, own in groups.items()]


def _comparison(setup: dict[str, str], rows: Sequence[Row]) -> Comparison:
    by_run: dict[Run, dict[tuple[int, str], Row]] = {}
    for row in rows:
        share = row["budget_fraction"]
        run = row["method"], None if share is None else round(share, 6)
        by_run.setdefault(run, {})[row["seed"], row["video"]] = row
    classes = tuple(dict.fromkeys(name for row in rows for name in row["pixels"]))
    videos = tuple(dict.fromkeys(row["video"] for row in rows if row["video"] != "all"))
    seeds = tuple(sorted({row["seed"] for row in rows}))
    counts = {run: _counts(run, own, (seeds, videos, classes)) for run, own in by_run.items()}
    pooled = {run: [row for (_, video), row in own.items() if video == "all"] for run, own in by_run.items()}
    return Comparison(setup, classes, videos, seeds, counts, pooled)


def _is_labelled(pixels: Mapping[str, Sequence[int]]) -> bool:
    return any(labelled for _, labelled, _ in pixels.values())


def _counts(
    run: Run, rows: dict[tuple[int, str], Row], axes: tuple[Sequence[int], Sequence[str], Sequence[str]]
) -> Int64:
    seeds, videos, classes = axes
    own = sorted({seed for seed, _ in rows})
    for seed in own if len(own) == 1 else seeds:
        for video in videos:
            if (seed, video) not in rows:
                budget = "without a bound" if run[1] is None else f"at {run[1]:g} of the full cost"
                raise UsageError(
                    f"{run[0]} {budget} has no row of '{video}' with seed {seed}; "
                    "evaluate all methods with the same --seeds, and budgets as shares"
                )
    there = own if len(own) == 1 else seeds
    if len(videos) == 1:
        pixels = [[one for one in rows[seed, videos[0]]["pieces"] if _is_labelled(one)] for seed in there]
    else:
        pixels = [[rows[seed, video]["pixels"] for video in videos] for seed in there]
    return np.array(
        [[[own.get(name, (0, 0, 0)) for name in classes] for own in by_video] for by_video in pixels], np.int64
    )
