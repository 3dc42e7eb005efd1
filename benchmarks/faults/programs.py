"""Cases that need a whole program: kills, signals, limits, and several programs on one folder and one cache."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.faults.core import Case, Outcome
from benchmarks.faults.seeds import write_clips
from budgetseg.app.trace import TRACE, read_trace
from budgetseg.video.images import list_images

__all__ = ["PROGRAMS", "attempt_program"]

LIMIT_S = 300.0
"""Seconds after which a program is taken to hang."""
OLD = 6
"""Frames of the run that lies in the folder before; the new one has more."""

Words = list[str]
Prepare = Callable[[], None]


def _words(clip: Path, out: Path, *more: str) -> Words:
    model = ["--model", "camvid", "--space", "frames", "--threads", "1", "--backend", "onnxruntime"]
    return ["label", str(clip), "--budget", "200ms", *model, "-o", str(out), *more]


def _begin(words: Words, prepare: Prepare | None = None, module: str = "budgetseg") -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-m", module, *words], stdout=pipe, stderr=pipe, text=True, preexec_fn=prepare, env=_env()
    )


def _env() -> dict[str, str]:
    return {**os.environ, "BUDGETSEG_CACHE": str(Path(os.environ["FAULTS_WORK"]) / "cache")}


def _end(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit status and standard error; TimeoutExpired where it hangs."""
    try:
        _, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, err


def _check(out: Path, sizes: Sequence[int]) -> None:
    """AssertionError where a folder holds no whole run of one of these sizes, or has lost what is not ours."""
    if not out.exists():
        assert 0 in sizes, "the run is lost"
        return
    assert (out / "notes.txt").read_text() == "mine", "a file of the user is lost"
    names = set(read_trace(out).files)
    found = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} - {"notes.txt"}
    assert names == found, f"a mixture: {sorted(names ^ found)[:3]}"
    assert TRACE in found
    assert len(list_images(out / "labels")) in sizes, "another run"


def _ready(work: Path) -> tuple[Path, Path]:
    """A clip, and a folder that holds a whole run and a file of the user; the run is made once."""
    shared = Path(os.environ["FAULTS_WORK"]) / "old"
    clip = write_clips(shared / "clips")[0]
    if not (shared / "out" / TRACE).is_file():
        code, err = _end(_begin(_words(clip, shared / "out", "--end", str(OLD))))
        assert code in (0, 3), err
        (shared / "out" / "notes.txt").write_text("mine")
    shutil.copytree(shared / "out", work / "out")
    return clip, work / "out"


def _after(clip: Path, out: Path) -> None:
    """The next command works, and nothing is left beside its folder."""
    _check(out, (OLD, 12))
    code, err = _end(_begin(_words(clip, out)))
    assert code in (0, 3), f"the next command fails: {err}"
    _check(out, (12,))
    assert [path.name for path in out.parent.iterdir()] == ["out"], "something is left"


def _plain(code: int, err: str, codes: Sequence[int]) -> None:
    assert "Traceback" not in err, f"traceback: {err[-200:]}"
    assert code in codes, f"exit status {code}: {err[-200:]}"


def _kill_at_random(work: Path, rng: np.random.Generator) -> None:
    clip, out = _ready(work)
    process = _begin(_words(clip, out))
    time.sleep(float(rng.uniform(0, 8)))
    process.kill()
    process.communicate()
    _after(clip, out)


def _kill_at_change(work: Path, rng: np.random.Generator) -> None:
    _at_change(work, rng, "kill", (-signal.SIGKILL, 0, 3))


def _term_at_change(work: Path, rng: np.random.Generator) -> None:
    _at_change(work, rng, "term", (128 + signal.SIGTERM, 0, 3))


def _at_change(work: Path, rng: np.random.Generator, how: str, codes: Sequence[int]) -> None:
    clip, out = _ready(work)
    n = int(rng.integers(1, 90))
    code, err = _end(_begin([str(out.parent), str(n), how, *_words(clip, out)], module="benchmarks.faults.shim"))
    _plain(code, err, codes)
    _after(clip, out)


def _signal_at_random(work: Path, rng: np.random.Generator) -> None:
    clip, out = _ready(work)
    number = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP][int(rng.integers(3))]
    process = _begin(_words(clip, out), lambda: _heed(number))
    time.sleep(float(rng.uniform(0, 8)))
    for _ in range(int(rng.integers(1, 3))):
        process.send_signal(number)
        time.sleep(0.05)
    code, err = _end(process)
    _plain(code, err, (128 + number, -number, 0, 3))  # before it has begun, the system ends it
    _after(clip, out)


def _heed(number: int) -> None:
    """Let a signal through that a shell in the background ignores."""
    signal.signal(number, signal.SIG_DFL)


def _limit(work: Path, rng: np.random.Generator) -> None:
    """A limit on memory, the size of files, open files or threads: it works, or is one line; the old run stays."""
    clip, out = _ready(work)
    kind = int(rng.integers(4))
    what, low, high = [
        (resource.RLIMIT_AS, 3e8, 4e9),
        (resource.RLIMIT_FSIZE, 1e2, 1e5),
        (resource.RLIMIT_NOFILE, 6, 60),
        (resource.RLIMIT_STACK, 1e5, 8e6),
    ][kind]
    most = int(rng.uniform(low, high))

    def prepare() -> None:
        if what == resource.RLIMIT_FSIZE:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(what, (most, most))

    code, err = _end(_begin(_words(clip, out), prepare))
    _plain(code, err, (0, 2, 3, 1) if what == resource.RLIMIT_AS else (0, 2, 3))
    _after(clip, out)


def _streams(work: Path, rng: np.random.Generator) -> None:
    """Standard streams that are closed or full."""
    clip, out = _ready(work)
    ends = [">&-", "2>&-", "<&-", ">/dev/full", "2>/dev/full", "| true"]
    end = ends[int(rng.integers(len(ends)))]
    command = " ".join([sys.executable, "-m", "budgetseg", *_words(clip, out)])
    done = subprocess.run(
        ["bash", "-c", f"{command} {end}"], capture_output=True, text=True, timeout=LIMIT_S, env=_env(), check=False
    )
    _plain(done.returncode, done.stderr, (2,) if end == ">/dev/full" else (0, 3))
    _check(out, (12,))


def _together(work: Path, rng: np.random.Generator) -> None:
    """Three programs on one folder, with an empty cache, one of them killed."""
    clip, out = _ready(work)
    begun = [_begin(_words(clip, out, "--end", str(9 + k))) for k in range(3)]
    time.sleep(float(rng.uniform(0, 6)))
    begun[0].kill()
    for process in begun:
        code, err = _end(process)
        _plain(code, err, (0, 3, -signal.SIGKILL))
    _check(out, (9, 10, 11))
    assert [path.name for path in out.parent.iterdir()] == ["out"], "something is left"


PROGRAMS: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "kill at random": _kill_at_random,
    "kill at a change": _kill_at_change,
    "term at a change": _term_at_change,
    "signal at random": _signal_at_random,
    "limit": _limit,
    "streams": _streams,
    "together": _together,
}
"""Kinds of cases that need programs of their own."""


def attempt_program(case: Case) -> Outcome:
    """Try a case in an empty folder."""
    work = Path(os.environ["FAULTS_WORK"]) / f"program-{case.kind.replace(' ', '-')}-{case.seed}" / "place"
    shutil.rmtree(work.parent, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        PROGRAMS[case.kind](work, np.random.default_rng([case.seed, sum(map(ord, case.kind))]))
    except subprocess.TimeoutExpired:
        return Outcome(case, "hang", f"after {LIMIT_S} s")
    except AssertionError as error:
        what = str(error)
        end = (
            "traceback" if what.startswith("traceback") else "lost" if "lost" in what or "mixture" in what else "wrong"
        )
        return Outcome(case, end, what[:300])
    shutil.rmtree(work.parent, ignore_errors=True)
    return Outcome(case, "ended")
