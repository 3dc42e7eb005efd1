"""A process that tries cases one after the other; whoever started it kills it if one of them does not end.

It reads a case a line, as JSON, and answers with its outcome. Models are loaded once.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.core import Case, Outcome
from benchmarks.faults.damage import damaged, odd_arrays, odd_json
from benchmarks.faults.seeds import N_FRAMES, write_clips, write_images
from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.model import LoadedModel, load
from budgetseg.app.output import Wanted
from budgetseg.engine.request import Request
from budgetseg.errors import BudgetsegError
from budgetseg.models.bundle import load_any
from budgetseg.models.find import find_model
from budgetseg.report import write_report
from budgetseg.types import Budget
from budgetseg.video.images import list_images

__all__ = ["KINDS", "attempt", "main"]

Try = Callable[[Path, np.random.Generator], str]


def _label(work: Path, video: Path, space: str = "frames", overlay: bool = False, **options: Any) -> str:
    """Label a video, and check that what is written is whole."""
    out = work / "out"
    wanted = Wanted(overlay=overlay)
    request = None if "replay" in options else Request((Budget(0.3),))
    order = Order([video], request, output=out, wanted=wanted, space=space, **options)
    written = Labeller(_model(space)).run(order, order.task())
    n_labels = len(list_images(out / "labels"))
    ledger = written.ledgers[0]
    if n_labels != ledger["video"]["n_frames"] or n_labels == 0:
        raise AssertionError(f"{n_labels} labels of {ledger['video']['n_frames']} frames")
    return f"{n_labels} labels"


@cache
def _model(space: str) -> LoadedModel:
    return load("camvid" if space == "frames" else "synthetic", threads=1, space=space)


@cache
def _sound(space: str) -> Path:
    """A sound run of a space, made once."""
    folder = Path(os.environ["FAULTS_WORK"]) / f"sound-{space}-{os.getpid()}"
    _label(folder, _clips()[0], space, overlay=True)
    return folder / "out"


@cache
def _clips() -> list[Path]:
    return write_clips(Path(os.environ["FAULTS_WORK"]) / f"clips-{os.getpid()}")


def _container(work: Path, rng: np.random.Generator) -> str:
    clip = _clips()[int(rng.integers(len(_clips())))]
    path = work / clip.name
    path.write_bytes(damaged(clip.read_bytes(), rng))
    return _label(work, path)


def _image(work: Path, rng: np.random.Generator) -> str:
    folder = write_images(work / "images", str(rng.choice([".png", ".jpg"])))
    path = list_images(folder)[int(rng.integers(N_FRAMES))]
    path.write_bytes(damaged(path.read_bytes(), rng))
    return _label(work, folder)


def _special(work: Path, rng: np.random.Generator) -> str:
    """Special files where videos, images, cards, models, runs and pages are expected."""
    suffix = str(rng.choice([".mp4", ".png", ".json", ".toml", ".onnx", ".m3u8"]))
    path = work / "place" / f"a{suffix}"
    path.parent.mkdir()
    make = int(rng.integers(4))
    if make == 0:
        os.mkfifo(path)
    elif make == 1:
        path.symlink_to("/dev/zero")
    elif make == 2:
        path.mkdir()
    else:
        path.write_text(f"#EXTM3U\n#EXTINF:1,\n{_clips()[0]}\n#EXT-X-ENDLIST\n")
    if suffix == ".json":
        for name in ("manifest.json", "trace.json", "results.json"):
            (path.parent / name).symlink_to(path)
        if rng.random() < 0.5:
            write_report(path.parent, work / "page.html")
        else:
            load_any(path.parent)
    elif suffix in (".toml", ".onnx"):
        load(networks=[path], threads=1)
    else:
        return _label(work, path if rng.random() < 0.5 or suffix == ".mp4" else path.parent)
    return "read"


def _bundle(work: Path, rng: np.random.Generator) -> str:
    """A model with a damaged manifest, damaged arrays, or a card and files that do not belong to it."""
    folder = work / "model"
    shutil.copytree(find_model(str(rng.choice(["synthetic", "camvid"]))), folder)
    fault = rng.integers(4)
    if fault == 0:
        odd_json(folder / "manifest.json", rng)
    elif fault == 1:
        path = folder / "arrays.safetensors"
        path.write_bytes(damaged(path.read_bytes(), rng))
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"][path.name] = sha256(path.read_bytes()).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))
    elif fault == 2:
        (folder / "networks").mkdir(exist_ok=True)
        (folder / "networks" / "dcnn.toml").write_text(
            f'file = "{rng.choice(["/dev/zero", "../../x.onnx", "a.onnx"])}"\n'
        )
    else:
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"][str(rng.choice(["/dev/zero", "../manifest.json", "pipe", "networks"]))] = "0"
        os.mkfifo(folder / "pipe")
        (folder / "manifest.json").write_text(json.dumps(manifest))
    load_any(folder)
    return "read"


def _card(work: Path, rng: np.random.Generator) -> str:
    """A network with a card that is damaged, or a damaged network."""
    source = next(find_model("camvid").glob("networks/dcnn.onnx"))
    path = work / "net.onnx"
    content = source.read_bytes()
    is_card = bool(rng.random() < 0.5)
    path.write_bytes(content if is_card else damaged(content, rng))
    text = 'size = [96, 64]\nmean = [0.5, 0.4, 0.3]\noutput = "scores"\nclasses = 11\nlongest = 96\n'
    if is_card:
        key = str(rng.choice(text.split("\n")[:-1])).split(" = ")[0]
        values = ["-1", "0", "[1e9, 1e9]", "[1000000, 1000000]", '"../x"', "true", "[[[]]]", "nan", "3"]
        text = "\n".join(
            f"{key} = {rng.choice(values)}" if line.startswith(f"{key} ") else line for line in text.splitlines()
        )
    (work / "net.toml").write_text(text)
    load(networks=[path], threads=1)
    return "read"


def _run(space: str, name: str, change: Callable[[Path, np.random.Generator], None], verb: str) -> Try:
    """Resume or repeat a run of which one file was changed."""

    def attempt_run(work: Path, rng: np.random.Generator) -> str:
        folder = work / "run"
        shutil.copytree(_sound(space), folder)
        change(folder / name, rng)
        if verb == "report":
            write_report(folder, work / "page.html")
            return "read"
        earlier: dict[str, Any] = {verb: folder}
        return _label(work, _clips()[0], space, **earlier)

    return attempt_run


KINDS: dict[str, Try] = {
    "container": _container,
    "image": _image,
    "special": _special,
    "bundle": _bundle,
    "card": _card,
    "trace, replayed": _run("frames", "trace.json", odd_json, "replay"),
    "trace, resumed": _run("frames", "trace.json", odd_json, "resume"),
    "ledger, reported": _run("frames", "ledger.json", odd_json, "report"),
    "trace by regions": _run("regions", "trace.json", odd_json, "replay"),
    "state by regions": _run("regions", "state.npz", odd_arrays, "resume"),
}
"""Kinds of cases that are tried in a worker."""


def attempt(case: Case, work: Path) -> Outcome:
    """Try a case in an empty folder; nothing else may change."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "in").mkdir(parents=True)
    before = _around(work)
    try:
        end, what = "done", KINDS[case.kind](work / "in", np.random.default_rng([case.seed, sum(map(ord, case.kind))]))
    except BudgetsegError as error:
        end, what = "refused", str(error)
        if "\n" in what:
            end = "traceback"
    except AssertionError as error:
        end, what = "wrong", str(error)
    except Exception as error:
        end, what = "traceback", f"{type(error).__name__}: {error}"
    if _around(work) != before:
        end, what = "escape", "files outside of the folder have changed"
    elif end == "refused" and (work / "in" / "out").exists():
        end, what = "wrong", f"refused, and left files: {what}"
    return Outcome(case, end, what[:300])


def _around(work: Path) -> list[tuple[str, int]]:
    """What lies beside the folder of a case, with times of change."""
    return sorted((path.name, path.lstat().st_mtime_ns) for path in work.iterdir() if path.name != "in")


def main() -> None:
    """Try cases until there are no more."""
    work = Path(os.environ["FAULTS_WORK"]) / f"work-{os.getpid()}"
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        outcome = attempt(Case(**json.loads(line)), work)
        answers.write(json.dumps(asdict(outcome)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
