"""What every executor promises, in this process and in processes."""

import os
import signal
import time
from collections.abc import Iterator

import pytest

from budgetseg.errors import UsageError, VideoError
from budgetseg.executors.core import Executor, Outcome
from budgetseg.executors.local import Local
from budgetseg.executors.processes import Processes
from budgetseg.executors.registry import ExecutorOptions, open_executor

FOREVER_S = 200
_kept: list[int] = []


def square(number: int) -> int:
    return number * number


def keep(number: int) -> list[int]:
    """What this worker has been given so far."""
    _kept.append(number)
    return _kept


def fail() -> None:
    raise VideoError("clip.mp4: damaged; get another one")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(params=["local", "processes"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with Processes(2) if request.param == "processes" else Local() as found:
        yield found


def finished(executor: Executor, n: int) -> list[Outcome]:
    """The next n outcomes."""
    found: list[Outcome] = []
    while len(found) < n:
        found += executor.wait(FOREVER_S)
    return found


def test_each_call_has_its_outcome(executor: Executor) -> None:
    expected, found = {}, {}
    for number in range(5):
        if not executor.n_idle:
            found.update({outcome.number: outcome.answer.value for outcome in finished(executor, 1)})
        expected[executor.submit(square, number)] = number * number
    found.update({own.number: own.answer.value for own in finished(executor, executor.n_workers - executor.n_idle)})
    assert found == expected
    assert executor.n_idle == executor.n_workers


def test_a_worker_keeps_what_it_has_loaded(executor: Executor) -> None:
    _kept.clear()
    for number in range(2):
        executor.submit(keep, number)
        (outcome,) = finished(executor, 1)
    assert outcome.answer.value == [0, 1]


def test_an_error_comes_back_as_itself_and_the_worker_goes_on(executor: Executor) -> None:
    executor.submit(fail)
    (outcome,) = finished(executor, 1)
    assert isinstance(outcome.answer.error, VideoError)
    assert str(outcome.answer.error) == "clip.mp4: damaged; get another one"
    executor.submit(square, 3)
    assert finished(executor, 1)[0].answer.value == 9


def test_waiting_for_nothing_ends(executor: Executor) -> None:
    assert executor.wait(0.01) == []


def test_a_killed_process_is_told_alone_and_replaced() -> None:
    with Processes(2) as executor:
        waiting = executor.submit(time.sleep, FOREVER_S)
        dead = executor.submit(die)
        (outcome,) = finished(executor, 1)
        assert outcome.number == dead
        assert outcome.answer.is_lost
        again = executor.submit(square, 4)
        (outcome,) = finished(executor, 1)
        assert (outcome.number, outcome.answer.value) == (again, 16)
        assert waiting not in (dead, again)


def test_a_process_that_hangs_is_cancelled_and_replaced() -> None:
    with Processes(1) as executor:
        executor.cancel(executor.submit(time.sleep, FOREVER_S))
        assert executor.n_idle == 1
        executor.submit(square, 4)
        assert finished(executor, 1)[0].answer.value == 16


def test_an_executor_is_chosen_by_what_is_asked_for() -> None:
    assert ExecutorOptions().name == "local"
    assert ExecutorOptions(jobs=3).name == "processes"
    assert ExecutorOptions(address="auto").name == "ray"
    with open_executor(ExecutorOptions("processes", cpus=2), cores=8) as executor:
        assert executor.n_workers == 4
    with open_executor(ExecutorOptions(), cores=8) as executor:
        assert isinstance(executor, Local)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (ExecutorOptions("cloud"), "no executor 'cloud'; choose from auto, local, processes, ray"),
        (
            ExecutorOptions("local", 2),
            "the executor 'local' does one video at a time; leave out --jobs, or use processes",
        ),
        (
            ExecutorOptions("processes", address="auto"),
            "--address and --gpus are for Ray; leave them out, or use --executor ray",
        ),
        (ExecutorOptions(gpus=1), "--address and --gpus are for Ray"),
    ],
)
def test_what_makes_no_sense_is_one_line(options: ExecutorOptions, line: str) -> None:
    with pytest.raises(UsageError, match=line):
        _ = options.name
