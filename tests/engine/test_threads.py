"""Threads that work through one list."""

from collections.abc import Iterator
from threading import Barrier, Event, get_ident

import cv2
import pytest

from budgetseg.engine.threads import for_each, one_thread_each

LONG_S = 20.0
"""Real seconds after which a thread that should go on is taken to be stuck."""


@pytest.mark.parametrize("threads", [1, 3])
def test_everything_is_done_once(threads: int) -> None:
    done: list[int] = []
    assert for_each(range(200), done.append, threads) == 200
    assert sorted(done) == list(range(200))


def test_one_thread_goes_in_order_and_is_the_calling_one() -> None:
    done: list[tuple[int, int]] = []
    for_each(range(5), lambda item: done.append((item, get_ident())), 1)
    assert done == [(item, get_ident()) for item in range(5)]


def test_the_calling_thread_is_among_those_that_work() -> None:
    both, workers = Barrier(2, timeout=LONG_S), set[int]()

    def do(_: int) -> None:
        both.wait()  # one thread alone would wait in vain
        workers.add(get_ident())

    assert for_each(range(6), do, 2) == 6
    assert get_ident() in workers
    assert len(workers) == 2


@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_is_begun_that_does_not_fit(threads: int) -> None:
    done: list[int] = []
    left = iter([True] * 4 + [False] * 10)
    assert for_each(range(100), done.append, threads, lambda: next(left)) == 4
    assert sorted(done) == [0, 1, 2, 3]


def test_no_two_threads_ask_a_generator_at_the_same_time() -> None:
    def items() -> Iterator[int]:
        yield from range(500)  # a generator that is asked twice at once fails

    assert for_each(items(), lambda _: None, 4) == 500


@pytest.mark.parametrize("in_calling_thread", [True, False])
def test_where_one_thread_fails_the_others_stop_and_its_error_is_raised(in_calling_thread: bool) -> None:
    both, has_failed, caller = Barrier(2, timeout=LONG_S), Event(), get_ident()

    def do(item: int) -> None:
        if item < 2:
            both.wait()
            if (get_ident() == caller) == in_calling_thread:
                has_failed.set()
                raise KeyError("no such frame")
        assert has_failed.wait(LONG_S)

    def endless() -> Iterator[int]:
        item = 0
        while True:
            yield item
            item += 1

    with pytest.raises(KeyError, match="no such frame"):
        for_each(endless(), do, 2)


def test_opencv_has_one_thread_within_the_block_and_as_many_as_before_after_it() -> None:
    before = cv2.getNumThreads()
    try:
        cv2.setNumThreads(2)
        with one_thread_each():
            assert cv2.getNumThreads() == 1
        assert cv2.getNumThreads() == 2
    finally:
        cv2.setNumThreads(before)
