"""What dividing one budget among videos by predicted curves buys, against a division by size, in simulation.

Usage: python -m benchmarks.division DATA WORK [SEEDS | reported]

DATA holds camvid/ and suny/. The videos are SUNY's training halves and CamVid's training sequences, by networks that
have not seen them, and SEEDS composites of each with cuts and changes of speed: easy and hard videos. None is reported.
With `reported`, the videos are SUNY's test halves, by the bundled network. Each is labelled by the engine at `GRID`
budgets, by a clock that is charged with stated prices. The true mean IoU is kept in WORK. Printed: its mean over
videos, at totals that are shares of what everything costs.

  by size    in proportion to pixels
  predicted  by the curves that `budgetseg label` predicts, with a share that goes by size (the hedge)
  true       by the true curves: the ceiling
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.adapted import labelled, space_of
from benchmarks.cases import plain_cases
from benchmarks.key_frames import Table, answers_of, labelled_tables, miou
from budgetseg.app.division import by_size, divide
from budgetseg.app.outlook import Glimpses, Outlook, outlook_of
from budgetseg.app.output import Wanted
from budgetseg.networks.card import card_for
from budgetseg.networks.run import OnnxNetwork
from budgetseg.spaces.frames.settings import Losses
from budgetseg.types import Float64
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

PRICES_S = {"dcnn": 0.01}
GRID = 14
SHARES = (0.015, 0.02, 0.03, 0.045, 0.06, 0.09, 0.12, 0.18)
HEDGES = (0.0, 0.1, 0.25, 0.5)


@dataclass(frozen=True, eq=False)
class Curves:
    """What is predicted of N videos, and what is true.

    Attributes
    ----------
    names : of the videos
    works : (N,) pixels
    seconds, points : (N, K) as predicted
    true : (N, K) mean IoU at these seconds
    """

    names: Sequence[str]
    works: Float64
    seconds: Float64
    points: Float64
    true: Float64

    def miou(self, given_s: Float64) -> float:
        """Mean over the videos of the true mean IoU, if each has so many seconds."""
        found = [
            float(np.interp(np.log(max(own_s, 1e-9)), np.log(row), true))
            for own_s, row, true in zip(given_s, self.seconds, self.true, strict=True)
        ]
        return float(np.mean(found))


def curves_of(tables: Sequence[Table], work: Path) -> Curves:
    """Predicted and true curves of some videos; the true ones are kept in a folder."""
    outlooks: list[Outlook] = []
    true: list[Float64] = []
    for table in tables:
        space = space_of(table, PRICES_S, Losses())
        clip = ArrayClip(table.frames, table.rate)
        video = VideoSource(clip, Span(), clip.size)
        outlook = outlook_of(space, video, Wanted(), Glimpses(points=GRID))
        path = work / f"{table.name}.npy"
        if not path.exists():
            per_frame = 1000 / len(table.frames)
            np.save(path, [miou(table, labelled(space, table, s * per_frame).labels) for s in outlook.seconds])
        outlooks.append(outlook)
        true.append(np.load(path))
        print(f"{table.name:24s}", " ".join(f"{value:6.1f}" for value in true[-1]), flush=True)
        print(f"{'':24s}", " ".join(f"{value:6.1f}" for value in outlook.points), flush=True)
    works = np.array([outlook.work for outlook in outlooks])
    seconds = np.array([outlook.seconds for outlook in outlooks])
    points = np.array([outlook.points for outlook in outlooks])
    return Curves([table.name for table in tables], works, seconds, points, np.array(true))


def divided(curves: Curves, total_s: float) -> Mapping[str, Float64]:
    """Seconds of each video, by way of dividing."""
    weights = np.ones(len(curves.works))
    sized = by_size(curves.works, total_s)
    found = {"by size": sized}
    for hedge in HEDGES:
        best = divide(curves.seconds, curves.points, weights, (1 - hedge) * total_s)
        found[f"predicted, hedge {hedge:g}"] = best + hedge * sized
    rising = np.maximum.accumulate(curves.true, axis=1)
    found["true"] = divide(curves.seconds, rising, weights, total_s)
    return found


def reported_tables(data: Path) -> list[Table]:
    """SUNY's test halves by the bundled network."""
    tables = []
    for case in plain_cases(data, "suny", reported=True):
        network = OnnxNetwork(card_for(case.networks["dcnn"][0]), 1)
        answers = {"dcnn": answers_of(network, case.frames)}
        tables.append(Table(case.name, case.kind, case.frames, case.truth, answers, len(case.shares), case.rate))
    return tables


def main(data: Path, work: Path, n_seeds: int | None) -> None:
    """Print the comparisons: on selection data with so many composites, or on reported data."""
    work.mkdir(parents=True, exist_ok=True)
    for dataset in ("suny", "camvid") if n_seeds is not None else ("suny, reported",):
        tables = reported_tables(data) if n_seeds is None else labelled_tables(data, dataset, range(n_seeds))
        curves = curves_of(tables, work)
        print(f"\n| {dataset}, {len(curves.names)} videos |", " | ".join(f"{100 * own:g} %" for own in SHARES), "|")
        print("|" + "---|" * (1 + len(SHARES)))
        rows = [divided(curves, share * float(curves.seconds[:, -1].sum())) for share in SHARES]
        for way in rows[0]:
            print(f"| {way} |", " | ".join(f"{curves.miou(row[way]):.1f}" for row in rows), "|")
        print(flush=True)


if __name__ == "__main__":
    seeds = sys.argv[3] if len(sys.argv) > 3 else "3"
    main(Path(sys.argv[1]), Path(sys.argv[2]), None if seeds == "reported" else int(seeds))
