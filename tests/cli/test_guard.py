"""A program that heeds no exception is ended all the same, and leaves nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from budgetseg.cli.guard import Grace, Guard

STUCK = """
import ctypes, sys, threading
from pathlib import Path
import budgetseg.cli.app as program
from budgetseg.files import atomic_folder

def stuck(**_):
    lock = ctypes.create_string_buffer(256)
    take = ctypes.CDLL(None).pthread_mutex_lock  # waits in C for ever, and no signal wakes it
    with atomic_folder("out") as part:
        (part / "half").write_text("x")
        take(lock)
        print("ready", flush=True)
        if sys.argv[1] == "main":
            take(lock)
        threading.Thread(target=take, args=(lock,)).start()
        threading.Event().wait()

program.app = stuck
program.main()
"""


@pytest.mark.parametrize(
    ("number", "times", "word"),
    [(signal.SIGTERM, 1, "terminated"), (signal.SIGHUP, 1, "hung up"), (signal.SIGINT, 2, "interrupted")],
)
@pytest.mark.parametrize("where", ["main", "thread"])
def test_compiled_code_that_never_ends_is_ended(
    tmp_path: Path, number: signal.Signals, times: int, word: str, where: str
) -> None:
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", STUCK, where]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}

    def heed() -> None:  # a suite that a shell runs in the background ignores these
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(
        words, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for _ in range(times):
            process.send_signal(number)
            # Two signals at once are one.
            signal.sigtimedwait([], 0.1)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert err == f"budgetseg: {word}; no half-written file is left\n"
    assert [path.name for path in tmp_path.iterdir()] == []


def test_the_program_is_gone_within_two_seconds_of_a_signal() -> None:
    grace = Grace()
    assert grace.grace_s + grace.removal_s < 2


def test_the_first_ctrl_c_may_be_a_question_and_the_second_is_none() -> None:
    ended: list[int] = []
    reads, writes = os.pipe()
    os.write(writes, bytes([signal.SIGINT, signal.SIGWINCH]))
    os.close(writes)
    guard = Guard(Grace(grace_s=0), ended.append)
    guard.watch(reads)
    assert guard.seen == [signal.SIGINT, signal.SIGWINCH]
    assert ended == []
    assert guard._must_end(signal.SIGTERM)
    assert not guard._must_end(signal.SIGINT)
    guard.seen.append(signal.SIGINT)
    assert guard._must_end(signal.SIGINT)
