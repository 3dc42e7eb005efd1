"""A caller hears how a run goes on, and not too often."""

import math
from pathlib import Path

from budgetseg.app.model import LoadedModel
from budgetseg.app.progress import Progress
from budgetseg.timing.clock import ManualClock


def test_it_tells_now_and_then_and_answers_the_question() -> None:
    clock = ManualClock()
    told: list[tuple[float, float]] = []
    answers = iter([False] * 10 + [True])
    progress = Progress(lambda *seconds: told.append(seconds), 5.0, lambda: next(answers), lambda: clock, every_s=1.0)
    found = []
    for _ in range(11):
        found.append(progress.stopped())
        clock.advance(0.25)
    assert found == [False] * 10 + [True]
    assert told == [(0.0, 5.0), (1.0, 5.0), (2.0, 5.0)]
    progress.finish(2.75)
    assert told[-1] == (2.75, 5.0)


def test_a_question_of_another_thread_does_not_tell_twice() -> None:
    depth: list[int] = []

    def tell(*_: float) -> None:
        depth.append(len(depth))
        progress.stopped()  # as another thread would while this one tells

    progress = Progress(tell, math.inf, clock=ManualClock, every_s=0.0)
    assert progress.stopped() is False
    assert depth == [0]


def test_label_tells_the_seconds_of_the_ledger_at_the_end(seeing: LoadedModel, street: Path) -> None:
    told: list[tuple[float, float]] = []
    results = seeing.label(street, [0.1, 0.3], progress=lambda *seconds: told.append(seconds))
    assert len(told) >= 2
    assert told[-1] == (results[-1].ledger.spent_s, 0.3)
