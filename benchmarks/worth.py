"""What plans of the frames space believe, against labels: the figures behind `Losses`.

Usage: python -m benchmarks.worth DATA

DATA holds camvid/, suny/, clips/ and film/. Videos with labels are SUNY's training halves and CamVid's training
sequences, with a family of networks that have not seen them (`benchmarks/families.py`); none is reported. Printed:

1. What the better answer's probabilities let expect (`Worth` with a trust of 1) against what is true by labels: points
   lost by the cheaper network and by carrying, on each video; slope through the origin, which is `trust`, and
   correlation. The same for other values of `rare`.
2. What fusing every frame with its neighbours gains (`alone`), and what edges gain (`edges`), by labels.
3. What is gained for each doubling of the price (`doubling`): by labels, and what film lets expect of the bundled
   networks, times `trust`.
4. `rate`, `copied`, `most` and `skipped` that fit what carrying loses, by labels and by the dearest network, when
   little is taken for granted.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.families import PRICES, family_tables
from benchmarks.key_frames import Table, film_tables, miou, painted
from benchmarks.priors import Found, Sampling, Truth, fit_losses, measure
from benchmarks.takes import Take, opened, predictions_of
from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.chains import chains_to
from budgetseg.propagate.fusion import Source, fuse
from budgetseg.propagate.settings import Propagation
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.settings import Losses
from budgetseg.spaces.frames.worth import Worth
from budgetseg.types import Float32, Float64, UInt8

GAPS = (1, 2, 4, 8, 16)
"""Frames from a key frame to the frame that its labels are carried to."""
RARES = (0.0, 0.002, 0.01, 0.03)
FREE = Sampling(spread=3.0)
"""A fit that hardly looks at the values to begin with."""
FILM_RATIO = 4.4
"""Times the price of `dcnn` that `dcnn_large` has: `python benchmarks/networks.py`."""


@dataclass(frozen=True)
class Pair:
    """Points lost on a video by one way of working.

    Attributes
    ----------
    what : the way, `networks` or how predictions are carried
    expected : by the probabilities of the better answers, for each value of `RARES`
    true : by labels
    doublings : times that the price doubles from the cheaper network to the dearer one
    """

    what: str
    expected: Sequence[float]
    true: float
    doublings: float = 0.0


def take_of(table: Table) -> Take:
    """The table as a take."""
    return Take(table.frames, table.answers, table.rate)


def of_networks(table: Table) -> Iterator[Pair]:
    """Points lost by each cheaper network of a family."""
    size = table.truth.shape[1:]
    true = {name: miou(table, painted(answers, size)) for name, answers in table.answers.items()}
    for cheap, dear in combinations(table.answers, 2):
        worse, better = (np.asarray(table.answers[name], np.float32) for name in (cheap, dear))
        doublings = float(np.log2(PRICES[dear] / PRICES[cheap]))
        labels = [top_classes(own) for own in worse]
        yield Pair("networks", expected(labels, better), true[dear] - true[cheap], doublings)


def of_carrying(table: Table) -> Iterator[Pair]:
    """Points lost by labels that come from another frame alone."""
    take = take_of(table)
    state, _ = opened(take)
    answers = np.asarray(table.answers[take.names[-1]], np.float32)
    size = table.truth.shape[1:]
    shots = state.timeline().shots
    own = painted(table.answers[take.names[-1]], size)
    steps = state.footage.steps()
    predictions = predictions_of(take, take.names[-1], range(len(answers)))
    for gap in GAPS:
        places = [t for t in range(gap, len(answers)) if shots[t] == shots[t - gap]]
        if not places:
            continue
        carried = answers.copy()
        copied = answers.copy()
        for t in places:
            key = t - gap
            chain = chains_to(key, key, t, steps, answers.shape[1:3])[t]
            there = predictions[key]
            source = Source(there.probabilities, there.top, state.footage.grey(key), chain, 1.0)
            carried[t] = one_hot(fuse(state.footage.grey(t), [source], Propagation()).top, table.n_labels)
            copied[t] = answers[key]
        part = replace(table, truth=table.truth[places])
        for what, found in ((FLOW, carried), (COPY, copied)):
            labels = painted(found[places].astype(np.float16), size)
            true = miou(part, own[places]) - miou(part, labels)
            tops = [top_classes(np.ascontiguousarray(found[t])) for t in places]
            yield Pair(what, expected(tops, answers[places]), true)


def one_hot(top: UInt8, n_labels: int) -> Float32:
    """Probabilities (h, w, L) that are sure of classes (h, w)."""
    return np.asarray(top[..., None] == np.arange(n_labels), np.float32)


def expected(labels: Sequence[UInt8], better: Float32) -> list[float]:
    """Points that labels (h, w) of frames lose, by better answers (T, h, w, L), for each value of `RARES`."""
    found = []
    for rare in RARES:
        worth = Worth(replace(Losses(), trust=1.0, rare=rare))
        for own, answer in zip(labels, better, strict=True):
            worth.compare(0, 1, own, np.ascontiguousarray(answer))
        found.append(worth.gains({"cheap": 1.0, "dear": 1.0})[1])
    return found


def trusted(pairs: Sequence[Pair]) -> str:
    """Slope through the origin and correlation of what is true on what is expected, for each value of `RARES`."""
    true: Float64 = np.array([pair.true for pair in pairs])
    cells = []
    for k in range(len(RARES)):
        expectations = np.array([pair.expected[k] for pair in pairs])
        slope = expectations @ true / (expectations @ expectations)
        cells.append(f"{slope:.2f} ({np.corrcoef(expectations, true)[0, 1]:.2f})")
    return " | ".join(cells)


def of_fusing(table: Table) -> tuple[float, float]:
    """Points gained by fusing every frame with its neighbours, and by edges on top, by labels."""
    take = take_of(table)
    state, _ = opened(take)
    last = len(take.names) - 1
    state.predictions[last] = predictions_of(take, take.names[last], range(len(take.frames)))
    out: UInt8 = np.empty(table.truth.shape, np.uint8)
    found = []
    for carry, edges in ((COPY, False), (FLOW, False), (FLOW, True)):
        state.plan = replace(state.plan, carry=carry, edges=edges)
        state.finish(np.inf, out)
        found.append(miou(table, out))
    return found[1] - found[0], found[2] - found[1]


def fitted(found: Sequence[Found], has_labels: bool) -> str:
    """Fields that fit what carrying loses."""
    losses = fit_losses(found, FREE, Losses(), has_labels)
    return f"{losses.rate:.2f} | {losses.copied:.1f} | {losses.most:.0f} | {losses.skipped:.2f}"


def doublings(data: Path) -> Iterator[tuple[str, float]]:
    """Points that film lets expect of `dcnn_large`, for each doubling of the price."""
    losses = Losses()
    for table in film_tables(data, ()):
        take = take_of(table)
        truth = Truth.of_network(take, losses)
        points = [truth.points(painted(own, own.shape[1:3]), losses.rare) for own in take.answers.values()]
        yield table.name, (points[-1] - points[0]) / float(np.log2(FILM_RATIO))


def main(data: Path) -> None:
    """Print the tables."""
    tables = {dataset: family_tables(data, dataset) for dataset in ("suny", "camvid")}
    pairs: dict[tuple[str, str], list[Pair]] = {}
    print("| video | what | expected | true |\n|---|---|---|---|")
    for dataset, own in tables.items():
        for table in own:
            for pair in (*of_networks(table), *of_carrying(table)):
                pairs.setdefault((dataset, pair.what), []).append(pair)
                pairs.setdefault(("all", pair.what), []).append(pair)
                print(f"| {table.name} | {pair.what} | {pair.expected[1]:.1f} | {pair.true:.1f} |", flush=True)
    print(
        "\nslope (correlation), by `rare`\n\n| videos | what |",
        " | ".join(map(str, RARES)),
        "|\n|---|---|---|---|---|---|",
    )
    for (dataset, what), rows in pairs.items():
        print(f"| {dataset} | {what} | {trusted(rows)} |")
    print("\n| video | fused | edges |\n|---|---|---|")
    gains = {table.name: of_fusing(table) for own in tables.values() for table in own}
    for name, (fused, edges) in (*gains.items(), ("mean", tuple(np.mean(list(gains.values()), axis=0)))):
        print(f"| {name} | {fused:.2f} | {edges:.2f} |")
    print("\n| videos | for each doubling |\n|---|---|")
    for dataset in (*tables, "all"):
        rows = pairs[dataset, "networks"]
        print(f"| {dataset} | {sum(row.true for row in rows) / sum(row.doublings for row in rows):.2f} |")
    for name, points in doublings(data):
        print(f"| {name} | {points:.2f} |", flush=True)
    print("\n| videos | truth | rate | copied | most | skipped |\n|---|---|---|---|---|---|")
    by_truth: dict[bool, list[Found]] = {True: [], False: []}
    for dataset, own in tables.items():
        for has_labels in (True, False):
            found = [_measured(table, has_labels) for table in own]
            by_truth[has_labels] += found
            truth = "labels" if has_labels else "network"
            print(f"| {dataset} | {truth} | {fitted(found, has_labels)} |", flush=True)
    for has_labels, found in by_truth.items():
        print(f"| all | {'labels' if has_labels else 'network'} | {fitted(found, has_labels)} |")


def _measured(table: Table, has_labels: bool) -> Found:
    take = take_of(table)
    losses = Losses()
    truth = Truth.of_network(take, losses)
    if has_labels:
        truth = Truth.of_labels(table.truth, next(iter(table.answers.values())).shape[1:3], table.n_labels)
    return measure(take, truth, Sampling(), losses)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
