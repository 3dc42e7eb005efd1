"""How busy the machine is, as the kernel counts it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from budgetseg.timing.slowdown import Slowdown


class Counts:
    """A file of counts that a test writes."""

    def __init__(self, path: Path) -> None:
        self.path, self._computed_ns, self._waited_ns = path, 0, 0
        self.pass_by(5.0, 5.0)  # before anybody looked

    def pass_by(self, computed_s: float, waited_s: float) -> None:
        self._computed_ns += int(1e9 * computed_s)
        self._waited_ns += int(1e9 * waited_s)
        self.path.write_text(f"{self._computed_ns} {self._waited_ns} 7\n")


@pytest.fixture
def counts(tmp_path: Path) -> Counts:
    return Counts(tmp_path / "schedstat")


def looked_at(counts: Counts, *times_s: tuple[float, float]) -> Slowdown:
    slowdown = Slowdown(counts.path)
    slowdown.look()
    for computed_s, waited_s in times_s:
        counts.pass_by(computed_s, waited_s)
        slowdown.look()
    return slowdown


def test_a_process_that_never_waits_runs_as_fast_as_alone(counts: Counts) -> None:
    slowdown = looked_at(counts, (0.2, 0.0), (1.0, 0.0))
    assert slowdown.factor == 1
    assert slowdown.waiting == 0


def test_a_process_that_has_half_of_a_core_takes_twice_as_long(counts: Counts) -> None:
    slowdown = looked_at(counts, *[(0.05, 0.05)] * 20)
    assert slowdown.factor == pytest.approx(2, rel=0.15)
    assert slowdown.waiting == pytest.approx(0.5, abs=0.1)


def test_a_moment_tells_little(counts: Counts) -> None:
    assert looked_at(counts, (0.0001, 0.004)).factor < 1.2


def test_what_is_past_is_forgotten(counts: Counts) -> None:
    assert looked_at(counts, *[(0.1, 0.1)] * 10, *[(0.1, 0.0)] * 20).factor < 1.05


def test_with_a_longer_memory_it_is_forgotten_later(counts: Counts) -> None:
    short, long = (Slowdown(counts.path, memory_s) for memory_s in (0.3, 30.0))
    for k in range(20):
        counts.pass_by(1.0, 1.0 if k < 10 else 0.0)
        short.look()
        long.look()
    assert short.factor < 1.05 < 1.2 < long.factor


def test_counts_of_one_thread_are_never_held_against_those_of_another(counts: Counts) -> None:
    slowdown = looked_at(counts)
    for _ in range(5):
        counts.pass_by(0.1, 0.1)
        with ThreadPoolExecutor(1) as pool:  # a new thread often has the address of the one before
            pool.submit(slowdown.look).result()
    assert slowdown.factor == 1


@pytest.mark.parametrize("text", [None, "", "a b c", "1 2"])
def test_where_the_kernel_does_not_count_the_machine_is_taken_to_be_idle(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "schedstat").write_text(text)
    slowdown = Slowdown(tmp_path / "schedstat")
    for _ in range(2):
        slowdown.look()
    assert slowdown.factor == 1
