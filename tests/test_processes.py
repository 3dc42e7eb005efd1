"""Work in other processes: results, progress, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from budgetseg.errors import BudgetsegError, VideoError
from budgetseg.processes import advance_parent, in_processes
from budgetseg.timing.clock import WallClock

FOREVER_S = 200


def square(number: int, wait_s: float = 0.0) -> int:
    time.sleep(wait_s)
    advance_parent(number)
    return number * number


def end(how: str) -> None:
    """One job ends badly; the others would take forever."""
    if how == "wait":
        time.sleep(FOREVER_S)
    if how == "error":
        raise VideoError("clip.mp4: damaged; get another one")
    os.kill(os.getpid(), signal.SIGKILL)


def ignore(_: int) -> None:
    pass


@pytest.mark.parametrize("n", [1, 2, 9])
def test_results_come_in_order_and_progress_reaches_the_total(n: int) -> None:
    reported: list[int] = []
    jobs = [(5, 0.3), (1, 0.0), (3, 0.0)]  # the first is done last
    assert in_processes(square, jobs, n, reported.append) == [25, 1, 9]
    assert sum(reported) == 9
    assert min(reported) >= 0


def test_no_jobs_are_done_at_once() -> None:
    assert in_processes(square, [], 2, ignore) == []


def test_an_error_arrives_as_itself_and_nobody_is_waited_for() -> None:
    clock = WallClock()
    with pytest.raises(VideoError, match=r"^clip.mp4: damaged; get another one$"):
        in_processes(end, [("wait",), ("error",)], 2, ignore)
    assert clock.now_s() < FOREVER_S / 2
    assert not active_children()


def test_a_killed_process_is_told_at_once_in_one_line() -> None:
    clock = WallClock()
    with pytest.raises(BudgetsegError, match=r"^a process was killed, .*; start again to go on.*$") as error:
        in_processes(end, [("wait",), ("kill",)], 2, ignore)
    assert type(error.value) is BudgetsegError
    assert clock.now_s() < FOREVER_S / 2
    assert not active_children()


def test_a_stop_on_our_side_ends_the_others() -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    clock = WallClock()
    with pytest.raises(KeyboardInterrupt):
        in_processes(end, [("wait",)], 1, stop)
    assert clock.now_s() < FOREVER_S / 2
    assert not active_children()


SCRIPT = f"""
import os
import time
from pathlib import Path
from budgetseg.processes import in_processes

def work(number):
    Path(str(number)).touch()
    while not Path(str(1 - number)).exists():
        time.sleep(0.01)  # so that each job has a process of its own
    os.write(1, b"at work\\n")  # at once: two processes print here
    time.sleep({FOREVER_S} * number)

if __name__ == "__main__":
    try:
        in_processes(work, [(0,), (1,)], 2, lambda _: None)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A program with an idle and a busy process, in a group of its own."""
    (tmp_path / "script.py").write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["at work\n"] * 2
        yield process


def test_when_we_are_killed_no_process_stays_behind(running: "subprocess.Popen[str]") -> None:
    running.kill()
    assert running.communicate(timeout=FOREVER_S / 2)[0] == ""  # it waits for all that hold the pipe


def test_ctrl_c_in_a_terminal_is_told_by_the_parent_alone(running: "subprocess.Popen[str]") -> None:
    os.killpg(running.pid, signal.SIGINT)
    assert running.communicate(timeout=FOREVER_S / 2) == ("stopped\n", "")
