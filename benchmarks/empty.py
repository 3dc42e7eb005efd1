"""Labels that are never empty: frames of the prior, frames of one class, agreement with labels without a bound.

Usage: python -m benchmarks.empty DATA [--ctrl-c N] [CLIP ...], where DATA holds clips/ and film/, and CLIP is one of
their files, such as clips/bikes.mp4; all of them without. Runs at each budget alone and at all together, with and
without why maps, in this process; then N programs with a budget of a minute that get Ctrl-C at a random moment.

A frame is *flat* where its labels are one class from edge to edge, but the cheapest network's own answer is not.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import budgetseg
from budgetseg.app.model import LoadedModel
from budgetseg.app.spaces import FRAMES
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.types import Bool, Budget, UInt8
from budgetseg.video import open_video, read_label_pngs

BUDGETS_S = (0.5, 1.0, 3.0, 10.0)
MINUTE = "60s"


@dataclass(frozen=True, eq=False)
class Clip:
    """A video, and what its labels are held against.

    Attributes
    ----------
    path : of its file
    own_is_flat : (T,) whether the cheapest network's own answer is one class in nearly all cells
    unbounded : (T, H, W) labels without a bound on time
    """

    path: Path
    own_is_flat: Bool
    unbounded: UInt8


@dataclass(frozen=True)
class Row:
    """What was found of one run at one budget: shares of the frames, and of the pixels."""

    clip: str
    budget: str
    how: str
    prior: float
    flat: float
    copied: float
    agreement: float
    spent_s: float
    exit_status: str = "-"

    def line(self) -> str:
        """As a row of a table."""
        shares = (self.prior, self.flat, self.copied, self.agreement)
        figures = " | ".join(f"{100 * share:.1f} %" for share in shares)
        return f"| {self.clip} | {self.budget} | {self.how} | {figures} | {self.spent_s:.2f} | {self.exit_status} |"


def look_at(model: LoadedModel, path: Path, least: float = 0.01) -> Clip:
    """Ask the cheapest network about every frame, and label without a bound.

    `least` is the share of the cells that other classes must have in an answer that is not flat.
    """
    source = open_video(path)
    space = model.frames_for((source.width, source.height))
    assert space is not None
    flat = []
    for frame in source:
        top = space.predict(0, frame.pixels).argmax(axis=2)
        flat.append(np.bincount(top.ravel()).max() > (1 - least) * top.size)
    (result,) = model.run(path, Request((Budget(np.inf),)), FRAMES)
    return Clip(path, np.array(flat), result.labels)


def is_flat(labels: UInt8) -> Bool:
    """Whether each frame (T, H, W) is of one class, (T,)."""
    frames = labels.reshape(len(labels), -1)
    return np.asarray(frames.min(axis=1) == frames.max(axis=1))


def rows_of(clip: Clip, how: str, results: Sequence[Result], budgets_s: Sequence[float]) -> Iterator[Row]:
    """A row for each budget of a run."""
    for j, (result, budget_s) in enumerate(zip(results, budgets_s, strict=True)):
        own = [finish for window in result.windows for finish in [window.finishes[j].prior] * window.n_frames]
        copied = np.array(own)
        flat = is_flat(result.labels) & ~clip.own_is_flat
        agreement = float((result.labels == clip.unbounded).mean())
        prior = float(copied.all())
        yield Row(
            clip.path.stem,
            f"{budget_s:g}s",
            how,
            prior,
            float(flat.mean()),
            float(copied.mean()),
            agreement,
            result.ledger.spent_s,
        )


def in_time(model: LoadedModel, clip: Clip) -> Iterator[Row]:
    """Each budget alone, and all together, with and without why maps."""
    for explain in (False, True):
        for budgets_s in (*((budget_s,) for budget_s in BUDGETS_S), BUDGETS_S):
            how = ("alone" if len(budgets_s) == 1 else "together") + (", why" if explain else "")
            request = Request(tuple(map(Budget, budgets_s)), explain=explain)
            yield from rows_of(clip, how, model.run(clip.path, request, FRAMES), budgets_s)


def interrupted(clip: Clip, rng: Any, most_s: float, why: bool) -> Row:
    """A program with a budget of a minute that gets Ctrl-C a random time after it began to label."""
    after_s = float(rng.uniform(0, most_s))
    with TemporaryDirectory() as name:
        out = Path(name) / "out"
        command = [sys.executable, "-m", "budgetseg", "-v", "label", str(clip.path), "--budget", MINUTE, "-o", str(out)]
        command += ["--why"] if why else []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
            assert program.stderr is not None
            for line in program.stderr:
                if "labelling" in line:
                    break
            time.sleep(after_s)
            program.send_signal(signal.SIGINT)
            program.stderr.read()
        labels = read_label_pngs(out / "labels")
        prior = float(json.loads((out / "ledger.json").read_text())["prior_only"])
    flat = is_flat(labels) & ~clip.own_is_flat
    agreement = float((labels == clip.unbounded).mean())
    how = "Ctrl-C" + (", why" if why else "")
    status = str(program.returncode)
    return Row(clip.path.stem, MINUTE, how, prior, float(flat.mean()), np.nan, agreement, after_s, status)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("clips", nargs="*")
    parser.add_argument("--ctrl-c", type=int, default=0)
    parser.add_argument("--most-s", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    paths = [options.data / name for name in options.clips] or sorted(options.data.glob("*/*.mp4"))
    rng = np.random.default_rng(options.seed)
    model = budgetseg.load("camvid")
    print("| clip | budget | how | prior | flat | copied windows | as unbounded | seconds | exit status |")
    print("|---" * 9 + "|")
    for path in paths:
        clip = look_at(model, path)
        for row in in_time(model, clip):
            print(row.line(), flush=True)
        for k in range(options.ctrl_c):
            print(interrupted(clip, rng, options.most_s, k % 2 == 1).line(), flush=True)


if __name__ == "__main__":
    main()
