"""Decisions about frames against honest baselines: accuracy and temporal consistency at equal time, in alternation.

Usage: python -m benchmarks.decisions DATA OUT.jsonl [options]
       python -m benchmarks.decisions --table OUT.jsonl

DATA holds camvid/ and suny/. Videos are selection data: SUNY's training halves and CamVid's training sequences by fold
networks, and composites of each with the seeds 0 to 5. With --reported: SUNY's test halves, CamVid's dense run and the
seeds 100 to 105, by the bundled networks. Budgets are key frames for each 100 frames, turned to seconds once by prices
measured here, or milliseconds a frame.

Every repeat labels each video at each budget by every method, one after the other, in an order that turns. Each run is
a line of OUT.jsonl, and runs that are there are not done again. With several checkouts, their `frames` are compared;
the baselines are those of the first. Printed, and written beside OUT.jsonl as .json: means, and paired differences of
`frames` to each baseline with the half-width of their 95 % interval over repeats.

The networks of SUNY and CamVid are small: flow costs about as much as they do. With --dearer 20 each runs 20 times for
an answer, and key frames have to be chosen as for a network of that price.

With --simulated no clock is read: prices that were measured once are charged, and one thread works. Runs are then
always the same, however busy the machine, and one repeat is enough. What prices leave out is left out: waiting, and
surprises.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import composite_cases, plain_cases, stored
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.evaluation.consistency import agreement, temporal_consistency
from budgetseg.evaluation.environment import environment
from budgetseg.evaluation.summary import Mean

Row = dict[str, Any]

HERE = Path(__file__).resolve().parent.parent
BASELINES = ("frames-even", "every-frame", "every-frame-large", "keyframes", "keyframes-large")
OURS = "frames"
SEEDS = range(6)
REPORTED_SEEDS = range(100, 106)
FIGURES = ("miou", "consistency")


class Worker:
    """A process that labels with the code of one checkout."""

    def __init__(self, checkout: Path, times: int) -> None:
        cache = {"BUDGETSEG_CACHE": os.environ.get("BUDGETSEG_CACHE", str(checkout / ".alternate"))}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "benchmarks" / "labeller.py"), str(times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
            env={**os.environ, **cache, "PYTHONPATH": str(checkout)},
        )

    def ask(self, **words: Any) -> Row:
        """Its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"the process that labels has ended with {self._process.wait()}")
        answer: Row = json.loads(line)
        return answer

    def end(self) -> None:
        """Let it end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@dataclass(frozen=True)
class Asked:
    """What is to be run: `methods` are those of the first checkout; all others run `frames`."""

    folders: Sequence[Path]
    checkouts: Sequence[Path]
    methods: Sequence[str]
    keys: Sequence[int]
    ms: Sequence[float]
    n_repeats: int
    is_simulated: bool
    times: int


def prepared(data: Path, work: Path, reported: bool, wanted: Callable[[str], bool]) -> list[Path]:
    """Folders of the wanted videos, written where they are not there yet."""
    seeds = REPORTED_SEEDS if reported else SEEDS
    folders = []
    for dataset in ("suny", "camvid"):
        cases = plain_cases(data, dataset, reported)
        names = [*(case.name for case in cases), *(f"{dataset}-composite-{seed}" for seed in seeds)]
        left = [name for name in names if wanted(name)]
        folders += [work / name for name in left]
        missing = {name for name in left if not (work / name / "case.json").exists()}
        new_seeds = [seed for seed in seeds if f"{dataset}-composite-{seed}" in missing]
        plain = [case for case in cases if case.name in missing]
        for case in (*plain, *composite_cases(cases, new_seeds)):
            stored(case, work / case.name, os.cpu_count() or 1)
    return folders


def measure(asked: Asked, out: Path) -> None:
    """Do the runs that are missing."""
    rows = read(out)
    known = {row["case"]: row for row in rows if "budgets_s" in row}
    rates = {row["dataset"]: row["rates"] for row in known.values()}
    done = {_name_of(row) for row in rows if "method" in row}
    workers = [Worker(checkout, asked.times) for checkout in asked.checkouts]
    with out.open("a") as file:

        def keep(row: Row) -> None:
            file.write(json.dumps(row) + "\n")
            file.flush()

        for folder in asked.folders:
            if folder.name not in known:
                dataset = json.loads((folder / "case.json").read_text())["dataset"]
                words = {"keys": list(asked.keys), "rates": rates.get(dataset)}
                words["threads"] = 1 if asked.is_simulated else os.cpu_count() or 1
                row = {"case": folder.name, "dataset": dataset, **workers[0].ask(case=str(folder), **words)}
                rates[dataset] = row["rates"]
                known[folder.name] = row
                keep(row)
        for repeat in range(asked.n_repeats):
            for folder in asked.folders:
                for row in _turn(asked, workers, folder, known[folder.name], repeat, done):
                    keep(row)
    for worker in workers:
        worker.end()


def _turn(
    asked: Asked, workers: Sequence[Worker], folder: Path, known: Row, repeat: int, done: set[tuple[Any, ...]]
) -> Iterator[Row]:
    """One run of each method at each budget on a video."""
    card = json.loads((folder / "case.json").read_text())
    n_frames = len(card["files"])
    own = [method for method in asked.methods if len(card["networks"]) > 1 or not method.endswith("-large")]
    jobs = [(0, method) for method in own] + [(k, OURS) for k in range(1, len(workers))]
    budgets = {f"{keys}/100": known["budgets_s"][str(keys)] for keys in asked.keys}
    budgets |= {f"{ms:g} ms": ms * n_frames / 1000 for ms in asked.ms}
    for number, (budget, budget_s) in enumerate(budgets.items()):
        shift = (repeat + number) % len(jobs)
        for k, method in jobs[shift:] + jobs[:shift]:
            row = {"case": folder.name, "kind": card["kind"], "dataset": card["dataset"], "method": method}
            row |= {"checkout": k, "budget": budget, "budget_s": budget_s, "repeat": repeat}
            if _name_of(row) in done:
                continue
            labels = folder / "labels.npy"
            words = {"method": method, "budget_s": budget_s, "labels": str(labels)}
            if asked.is_simulated:
                words["rates"] = known["rates"]
            found = workers[k].ask(case=str(folder), **words)
            row |= found | judged(folder, len(card["shares"]))
            labels.unlink()
            print(f"{repeat} {folder.name} {budget} {method} {100 * row['miou']:.1f}", flush=True)
            yield row


def _name_of(row: Row) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("case", "method", "checkout", "budget", "repeat"))


def judged(folder: Path, n_labels: int) -> Row:
    """Figures of the labels in a folder."""
    labels = np.load(folder / "labels.npy")
    accuracy = accuracy_of(confusion_of_pixels(np.load(folder / "truth.npy"), labels, n_labels))
    consistency = temporal_consistency(*agreement(labels, np.load(folder / "origins.npy")))
    return {"miou": accuracy.miou, "global": accuracy.overall, "consistency": consistency}


def read(out: Path) -> list[Row]:
    """Lines of a file, as far as they are whole."""
    if not out.exists():
        return []
    return [json.loads(line) for line in out.read_text().splitlines() if line.endswith("}")]


def summary(rows: Sequence[Row]) -> list[Row]:
    """A row for each video and budget, and for the mean of each kind of video: `frames` and how far it is from others.

    Differences are paired by repeat. Those of several videos are averaged in each repeat first.
    """
    runs = [row for row in rows if "method" in row]
    found: list[Row] = []
    for budget in dict.fromkeys(row["budget"] for row in runs):
        own = [row for row in runs if row["budget"] == budget]
        for kind in dict.fromkeys((row["kind"], row["dataset"]) for row in own):
            group = [row for row in own if (row["kind"], row["dataset"]) == kind]
            by_case = {case: [row for row in group if row["case"] == case] for case in _cases(group)}
            found += [_compared(" ".join(kind), case, budget, case_rows) for case, case_rows in by_case.items()]
            found.append(_compared(" ".join(kind), "mean", budget, group))
    return found


def _cases(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["case"] for row in rows))


def _compared(kind: str, case: str, budget: str, rows: Sequence[Row]) -> Row:
    methods = dict.fromkeys((row["method"], row["checkout"]) for row in rows)
    ms = [1000 * row["budget_s"] for row in rows]
    found: Row = {"kind": kind, "case": case, "budget": budget, "budget_ms": statistics.mean(ms), "methods": {}}
    for method, checkout in methods:
        name = method if not checkout else f"{method} of checkout {checkout}"
        used = [row["spent_s"] / row["budget_s"] for row in rows if _is(row, method, checkout)]
        cell: Row = {"used_most": max(used), "n_asked": statistics.mean(_asked(rows, method, checkout))}
        for figure in FIGURES:
            ours, theirs = _by_repeat(rows, OURS, 0, figure), _by_repeat(rows, method, checkout, figure)
            gains = [ours[key] - theirs[key] for key in ours if key in theirs]
            cell[figure] = Mean.of(list(theirs.values())).value
            cell[f"{figure}_gain"] = Mean.of(gains).value
            cell[f"{figure}_within"] = Mean.of(gains).within
        found["methods"][name] = cell
    return found


def _asked(rows: Sequence[Row], method: str, checkout: int) -> list[int]:
    return [row["n_asked"] for row in rows if _is(row, method, checkout)]


def _is(row: Row, method: str, checkout: int) -> bool:
    return bool(row["method"] == method and row["checkout"] == checkout)


def _by_repeat(rows: Sequence[Row], method: str, checkout: int, figure: str) -> dict[int, float]:
    """A figure in points, averaged over the videos of each repeat that has them all."""
    cases = {row["case"] for row in rows}
    own = [row for row in rows if _is(row, method, checkout)]
    found = {}
    for repeat in sorted({row["repeat"] for row in own}):
        values = [row[figure] for row in own if row["repeat"] == repeat and row[figure] is not None]
        if len(values) == len(cases):
            found[repeat] = 100 * statistics.mean(values)
    return found


def table(rows: Sequence[Row], figure: str) -> Iterator[str]:
    """Lines of a table: `frames`, and by how much it is better than each other."""
    names = list(dict.fromkeys(name for row in rows for name in row["methods"] if name != OURS))
    yield f"| video | budget | ms | {OURS} | " + " | ".join(f"against {name}" for name in names) + " |"
    yield "|---" * (4 + len(names)) + "|"
    for row in rows:
        cells = [_cell(row["methods"].get(name), figure) for name in names]
        ours = row["methods"].get(OURS, {}).get(figure)
        head = f"{row['kind']}: {row['case']} | {row['budget']} | {row['budget_ms']:.0f}"
        yield f"| {head} | {'-' if ours is None else f'{ours:.1f}'} | {' | '.join(cells)} |"


def _cell(found: Row | None, figure: str) -> str:
    if found is None or found[f"{figure}_gain"] is None:
        return "-"
    within = found[f"{figure}_within"]
    late = f", used {found['used_most']:.2f}" if found["used_most"] > 1.03 else ""
    return f"{found[f'{figure}_gain']:+.1f}" + ("" if within is None else f" ± {within:.1f}") + late


def show(out: Path) -> None:
    """Print the tables, and write them as JSON beside the runs."""
    rows = read(out)
    found = summary(rows)
    out.with_suffix(".json").write_text(
        json.dumps({"environment": environment(), "summary": found, "runs": rows}, indent=1) + "\n"
    )
    for figure, title in zip(FIGURES, ("mean IoU", "temporal consistency, %"), strict=True):
        print(f"\n{title}; other columns: `frames` minus the other, paired, ± half of the 95 % interval\n")
        print(*table(found, figure), sep="\n")


def _numbers(text: str) -> list[float]:
    return [float(word) for word in text.split(",") if word]


def main() -> None:
    """Parse, run and show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("out", type=Path)
    parser.add_argument("--table", action="store_true", help="only print what there is")
    parser.add_argument("--reported", action="store_true", help="reported data instead of selection data")
    parser.add_argument("--videos", default="", help="parts of names, separated by commas; all without")
    parser.add_argument("--methods", default=",".join((OURS, *BASELINES)))
    parser.add_argument("--keys", type=_numbers, default=[4.0, 8.0, 16.0], help="key frames for each 100 frames")
    parser.add_argument("--ms", type=_numbers, default=[], help="milliseconds a frame")
    parser.add_argument("--repeats", type=int, help="5, or 1 if simulated")
    parser.add_argument("--dearer", type=int, default=1, help="times that a network runs for each answer")
    parser.add_argument("--simulated", action="store_true", help="charge prices instead of time")
    parser.add_argument("--checkouts", default=str(HERE), help="folders, separated by commas")
    words = parser.parse_args()
    if not words.table:
        parts = [part for part in words.videos.split(",") if part]
        work = words.out.with_suffix(".work")
        folders = prepared(
            words.data, work, words.reported, lambda name: not parts or any(part in name for part in parts)
        )
        checkouts = [Path(checkout).resolve() for checkout in words.checkouts.split(",")]
        keys = [math.floor(number) for number in words.keys]
        repeats = words.repeats or (1 if words.simulated else 5)
        methods = words.methods.split(",")
        asked = Asked(folders, checkouts, methods, keys, words.ms, repeats, words.simulated, words.dearer)
        measure(asked, words.out)
    show(words.out)


if __name__ == "__main__":
    main()
