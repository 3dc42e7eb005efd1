"""Whether plans are better with priors that were measured on other videos of the same kind, in simulation.

Usage: python -m benchmarks.adapted DATA [SEEDS [FIELD=VALUE …]]

DATA holds camvid/, suny/, clips/ and film/; nothing here is reported data. Runs are those of the engine over recorded
answers, by a clock that is charged with stated prices, so that they are always the same. Each video is labelled at
budgets of `MS` milliseconds a frame, with

  default    the priors of `Losses`
  adapted    what networks gain, as `budgetseg adapt` measures it on the other videos, by their dearest network
  labelled   what networks gain, as `budgetseg train` measures it on the other videos, by their labels
  own        as adapted, on the video itself
  at once    as adapted, where gains that are seen on the video replace it at once (`prior_frames` of 0)
  carrying   what carrying loses, fitted to the other videos, by their dearest network (`benchmarks/priors.py`)

With fields of `Losses`, the defaults are compared with these changes instead, one at a time.

With labels: SUNY's training halves and CamVid's training sequences, by a family of networks that have not seen them
(`benchmarks/families.py`), and SEEDS composites of each, for which the plain videos are the others. Without: film by
the bundled networks, where the dearest one is the truth in the end, too. Printed: mean IoU by the default for each
budget, and paired differences to it, with the mean over budgets and half of its 95 % interval over videos.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

import budgetseg
from benchmarks.families import PRICES as FAMILY
from benchmarks.families import family_tables
from benchmarks.key_frames import Table, answers_of, film_frames, miou, painted
from benchmarks.priors import Found, Sampling, Truth, fit_losses, mean_gains, measure
from benchmarks.takes import Recorded, Take
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import run
from budgetseg.evaluation.summary import Mean
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.spaces.frames.settings import FrameSettings, Losses
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import CostClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes, Float32
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

MS = (3, 8, 20)
"""Budgets, milliseconds a frame."""
NETWORK_S = 0.04
"""Price of `dcnn` of a family, as dear as networks usually are; that of the others is in proportion."""
FILM_S = {"dcnn": 0.01, "dcnn_large": 0.04}
RATES = {
    "frames looking": 1e-9,
    "frames flow": 1.5e-7,
    "frames fusing": 5e-8,
    "frames pixels": 1.5e-9,
    "frames edges": 2.3e-8,
    "frames copies": 2e-10,
    "decode .array": 3e-9,
}
"""Seconds for a pixel or a cell, as of one thread of an AMD EPYC."""
FILM_SIZE = (480, 272)
FILM_FRAMES = 120
Believed = Mapping[str, Mapping[str, Losses]]
"""By way and by name of the video."""
WAYS = ("default", "adapted", "labelled", "own", "at once", "carrying")


def space_of(table: Table, prices_s: Mapping[str, float], losses: Losses) -> Frames:
    """The space that labels a table."""
    prices = Prices({**RATES, **{f"frames {name}": seconds for name, seconds in prices_s.items()}}, frozen=True)
    networks = {name: Recorded(table.frames, table.answers[name]) for name in prices_s}
    shares: Float32 = np.full(table.n_labels, 1 / table.n_labels, np.float32)
    return Frames(networks, shares, prices, 1, settings=FrameSettings(losses=losses))


def labelled(space: Frames, table: Table, ms: float) -> Result:
    """A run at a budget of so many milliseconds a frame."""
    clip = ArrayClip(table.frames, table.rate)
    video = VideoSource(clip, Span(), clip.size)
    classes = Classes(tuple(map(str, range(table.n_labels))), np.zeros((table.n_labels, 3), np.uint8))
    request = Request((Budget(ms * len(table.frames) / 1000),), window=len(table.frames))
    (result,) = run(space, video, request, classes, CostClock())
    return result


def measured(table: Table, names: Sequence[str], has_labels: bool) -> Found:
    """What carrying loses and networks add on a table."""
    take = Take(table.frames, {name: table.answers[name] for name in names}, table.rate)
    losses = Losses()
    truth = Truth.of_network(take, losses)
    if has_labels:
        truth = Truth.of_labels(table.truth, table.answers[names[0]].shape[1:3], table.n_labels)
    return measure(take, truth, Sampling(), losses)


def film_tables(data: Path) -> list[Table]:
    """Film and SUNY's training halves by the bundled networks of CamVid, at one size; truth is the dearest network."""
    root = Path(budgetseg.__file__).parent / "models" / "camvid" / "networks"
    networks = {name: OnnxNetwork(read_card(root / f"{name}.onnx"), 1) for name in FILM_S}
    tables = []
    for name, plain in film_frames(data, FILM_FRAMES).items():
        frames = np.stack([cv2.resize(frame, FILM_SIZE, interpolation=cv2.INTER_AREA) for frame in plain])
        answers = {own: answers_of(network, frames) for own, network in networks.items()}
        truth = painted(answers["dcnn_large"], frames.shape[1:3])
        tables.append(Table(name, "film", frames, truth, answers, networks["dcnn"].shape[2]))
    return tables


def priors(tables: Sequence[Table], names: Sequence[str]) -> dict[str, dict[str, Losses]]:
    """For each way, what is believed of each table: measured on the plain ones but itself."""
    plain = [table for table in tables if "composite" not in table.kind]
    sampling, start = Sampling(), Losses()
    by_network = {table.name: measured(table, names, False) for table in plain}
    by_labels = {table.name: measured(table, names, True) for table in plain}
    found: dict[str, dict[str, Losses]] = {way: {} for way in WAYS}
    for table in tables:
        others = [own.name for own in plain if own.name != table.name]
        gains = mean_gains([by_network[own] for own in others])
        found["default"][table.name] = start
        found["adapted"][table.name] = replace(start, gains=gains)
        found["labelled"][table.name] = replace(start, gains=mean_gains([by_labels[own] for own in others]))
        found["at once"][table.name] = replace(start, gains=gains, prior_frames=0.0)
        found["carrying"][table.name] = fit_losses([by_network[own] for own in others], sampling, start, False)
        own_gains = mean_gains([by_network[table.name]]) if table.name in by_network else gains
        found["own"][table.name] = replace(start, gains=own_gains)
    return found


def changed(tables: Sequence[Table], changes: Sequence[str]) -> dict[str, dict[str, Losses]]:
    """The defaults, and changes of one field each, for every table."""
    found = {"default": dict.fromkeys((table.name for table in tables), Losses())}
    for change in changes:
        name, value = change.split("=")
        losses = Losses(**{name: float(value)})  # type: ignore[arg-type]  # all such fields are numbers
        found[change] = dict.fromkeys(found["default"], losses)
    return found


def compare(
    tables: Sequence[Table], prices_s: Mapping[str, float], believed: Mapping[str, Mapping[str, Losses]]
) -> None:
    """Print a line for each video and way, and a table of means."""
    ways = tuple(believed)
    rows: dict[tuple[str, str], list[list[float]]] = {}
    for table in tables:
        for way in ways:
            space = space_of(table, prices_s, believed[way][table.name])
            row = [miou(table, labelled(space, table, ms).labels) for ms in MS]
            rows.setdefault((table.kind, way), []).append(row)
            print(f"{table.name:22s} {way:10s}", " ".join(f"{value:6.1f}" for value in row), flush=True)
    print("\n| videos | way |", " | ".join(f"{ms} ms" for ms in MS), "| mean |\n|" + "---|" * (3 + len(MS)))
    for kind in dict.fromkeys(table.kind for table in tables):
        base = np.array(rows[kind, ways[0]])
        print(f"| {kind} | {ways[0]} |", " | ".join(f"{value:.1f}" for value in base.mean(axis=0)), "| |")
        for way in ways[1:]:
            gains = np.array(rows[kind, way]) - base
            mean = Mean.of(gains.mean(axis=1).tolist())
            within = "" if mean.within is None else f" ± {mean.within:.1f}"
            print(
                f"| {kind} | {way} |",
                " | ".join(f"{value:+.1f}" for value in gains.mean(axis=0)),
                f"| {mean.value:+.2f}{within} |",
            )
    print(flush=True)


def main(data: Path, n_seeds: int, changes: Sequence[str]) -> None:
    """Print the comparisons."""
    family_s = {name: NETWORK_S * times for name, times in FAMILY.items()}
    for group in ("suny", "camvid", "film"):
        tables = film_tables(data) if group == "film" else family_tables(data, group, range(n_seeds))
        prices_s = FILM_S if group == "film" else family_s
        believed = changed(tables, changes) if changes else priors(tables, tuple(prices_s))
        if group == "film":
            believed.pop("labelled", None)
        compare(tables, prices_s, believed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3, sys.argv[3:])
