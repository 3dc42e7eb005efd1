"""The campaign of faults: thousands of tries with damaged, special and hostile files, kills, signals and limits.

Usage: python -m benchmarks.faults.campaign OUT [--share 1.0] [--seed 0] [--workers 2] [--limit 60] [--only KIND ...]

Outcomes go to OUT/outcomes.jsonl, one a line; started again, the campaign does what is missing. It ends with a table,
and with exit status 1 where anything bad came of a try. `python -m benchmarks.faults.soak` is for long runs.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Lock, Timer

from benchmarks.faults.core import BAD, Case, Journal, Outcome, table
from benchmarks.faults.programs import PROGRAMS, attempt_program

__all__ = ["TRIES", "Worker", "main", "run"]

TRIES: Mapping[str, int] = {
    "container": 3500,
    "image": 1500,
    "special": 150,
    "bundle": 150,
    "card": 50,
    "trace, replayed": 100,
    "trace, resumed": 50,
    "ledger, reported": 50,
    "trace by regions": 50,
    "state by regions": 100,
    "kill at random": 100,
    "kill at a change": 200,
    "term at a change": 100,
    "signal at random": 100,
    "limit": 100,
    "streams": 30,
    "together": 20,
}
"""Tries of each kind in a whole campaign."""

WORKER = ["-m", "benchmarks.faults.worker"]


class Worker:
    """A process that tries cases; it is killed, and another one begun, where a case does not end or ends it.

    Parameters
    ----------
    limit_s : seconds that a case may take; the first of a worker, which loads models, ten times as many
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._process: subprocess.Popen[str] | None = None
        self._is_new = True

    def attempt(self, case: Case) -> Outcome:
        """Try a case."""
        process = self._process or self._begin()
        assert process.stdin is not None
        assert process.stdout is not None
        was_killed: list[bool] = []

        def kill() -> None:
            was_killed.append(True)
            process.kill()

        timer = Timer(self._limit_s * (10 if self._is_new else 1), kill)
        timer.start()
        try:
            process.stdin.write(json.dumps({"kind": case.kind, "seed": case.seed}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            self._is_new = False
            found = json.loads(line)
            return Outcome(case, found["end"], found["what"])
        code = process.wait()
        self.close()
        return Outcome(case, "hang" if was_killed else "crash", f"exit status {code}")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
            self._process = None

    def _begin(self) -> "subprocess.Popen[str]":
        words = [sys.executable, *WORKER]
        log = (Path(os.environ["FAULTS_WORK"]) / "workers.log").open("a")
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        log.close()
        self._is_new = True
        return self._process


@contextmanager
def _worker(limit_s: float) -> Iterator[Worker]:
    worker = Worker(limit_s)
    try:
        yield worker
    finally:
        worker.close()


def run(out: Path, cases: Sequence[Case], n_workers: int, limit_s: float) -> list[Outcome]:
    """Try the cases that are not in the journal yet; outcomes of all of them."""
    out.mkdir(parents=True, exist_ok=True)
    os.environ["FAULTS_WORK"] = str((out / "work").resolve())
    (out / "work").mkdir(exist_ok=True)
    journal = Journal(out / "outcomes.jsonl")
    waiting: Queue[Case] = Queue()
    for case in journal.missing(cases):
        waiting.put(case)
    lock = Lock()

    def work() -> None:
        with _worker(limit_s) as worker:
            while True:
                try:
                    case = waiting.get_nowait()
                except Empty:
                    return
                outcome = attempt_program(case) if case.kind in PROGRAMS else worker.attempt(case)
                with lock:
                    journal.add(outcome)
                    if outcome.end in BAD:
                        print(f"{case.kind} {case.seed}: {outcome.end}: {outcome.what}", flush=True)

    with ThreadPoolExecutor(n_workers) as pool:
        for done in [pool.submit(work) for _ in range(n_workers)]:
            done.result()
    wanted = set(cases)
    return [outcome for outcome in journal.outcomes if outcome.case in wanted]


def main() -> None:
    """Carry out a campaign, or a share of one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--share", type=float, default=1.0, help="of the tries of a whole campaign")
    parser.add_argument("--seed", type=int, default=0, help="of the first try of each kind")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a try hangs")
    parser.add_argument("--only", nargs="*", choices=list(TRIES), default=list(TRIES))
    given = parser.parse_args()
    cases = [
        Case(kind, given.seed + k)
        for kind, n in TRIES.items()
        if kind in given.only
        for k in range(max(1, round(given.share * n)))
    ]
    outcomes = run(given.out, cases, given.workers, given.limit)
    print(table(outcomes))
    sys.exit(any(outcome.end in BAD for outcome in outcomes))


if __name__ == "__main__":
    main()
