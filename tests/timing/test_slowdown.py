"""How busy the machine is, as the kernel's counts say."""

from pathlib import Path

import pytest

from budgetseg.inference import contention as module
from budgetseg.inference.contention import Contention


class Counts:
    """A file of counts that a test writes."""

    def __init__(self, path: Path) -> None:
        self._path, self._computed_ns, self._waited_ns = path, 0, 0

    def pass_by(self, computed_s: float, waited_s: float) -> None:
        self._computed_ns += int(1e9 * computed_s)
        self._waited_ns += int(1e9 * waited_s)
        self._path.write_text(f"{self._computed_ns} {self._waited_ns} 7\n")


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counts:
    monkeypatch.setattr(module, "COUNTS", tmp_path / "schedstat")
    counts = Counts(tmp_path / "schedstat")
    counts.pass_by(5.0, 5.0)  # before anybody looked
    return counts


def looked_at(counts: Counts, *times_s: tuple[float, float]) -> Contention:
    contention = Contention()
    contention.look()
    for computed_s, waited_s in times_s:
        counts.pass_by(computed_s, waited_s)
        contention.look()
    return contention


def test_alone_nobody_waits(counts: Counts) -> None:
    contention = looked_at(counts, (0.2, 0.0), (1.0, 0.0))
    assert contention.stretch == 1
    assert contention.waiting == 0


def test_who_has_half_of_a_core_takes_twice_as_long(counts: Counts) -> None:
    contention = looked_at(counts, *[(0.05, 0.05)] * 20)
    assert contention.stretch == pytest.approx(2, rel=0.15)
    assert contention.waiting == pytest.approx(0.5, abs=0.1)


def test_a_moment_tells_little(counts: Counts) -> None:
    assert looked_at(counts, (0.0001, 0.004)).stretch < 1.2


def test_what_is_past_is_forgotten(counts: Counts) -> None:
    contention = looked_at(counts, *[(0.1, 0.1)] * 10, *[(0.1, 0.0)] * 20)
    assert contention.stretch < 1.05


def test_where_the_kernel_does_not_count_the_machine_is_taken_to_be_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COUNTS", tmp_path / "nothing")
    contention = Contention()
    for _ in range(2):
        contention.look()
    assert contention.stretch == 1
