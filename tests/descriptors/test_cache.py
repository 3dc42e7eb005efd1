"""What the cache keeps, what it forgets, and what threads see of it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.descriptors.cache import ResourceCache


class Box:
    """A value of so many bytes."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


def box(nbytes: int = 1) -> Callable[[], Box]:
    return lambda: Box(nbytes)


def filled(limit_bytes: int, *indices: int) -> ResourceCache:
    """A cache that was asked for values of one byte each."""
    cache = ResourceCache(limit_bytes)
    for index in indices:
        cache.get(("box", index), box())
    return cache


def kept(cache: ResourceCache) -> list[int]:
    return [index for index in range(10) if ("box", index) in cache]


def test_a_value_is_made_once_and_then_found() -> None:
    cache = ResourceCache(10)
    first = cache.get(("box", 0), box())
    assert cache.get(("box", 0), box()) is first
    assert (cache.hits, cache.misses, len(cache)) == (1, 1, 1)


def test_kinds_do_not_share_their_numbers() -> None:
    cache = filled(10, 0)
    assert ("other", 0) not in cache


def test_the_value_that_was_not_used_for_longest_goes_first() -> None:
    assert kept(filled(3, 0, 1, 2, 0, 3)) == [0, 2, 3]


def test_looking_at_a_value_is_using_it() -> None:
    cache = filled(3, 0, 1, 2)
    assert [value is not None for value in cache.peek([("box", 0), ("box", 9)])] == [True, False]
    cache.get(("box", 3), box())
    assert kept(cache) == [0, 2, 3]


def test_values_are_found_all_together_or_not_at_all() -> None:
    cache = filled(3, 0, 1, 2)
    assert cache.find([("box", 1), ("box", 9)]) is None
    assert cache.find([("box", 1), ("box", 0)]) == cache.peek([("box", 1), ("box", 0)])
    assert (cache.hits, cache.misses) == (4, 3)


def test_finding_a_value_is_using_it() -> None:
    cache = filled(3, 0, 1, 2)
    cache.find([("box", 1), ("box", 0)])
    cache.get(("box", 3), box())
    assert kept(cache) == [0, 1, 3]


def test_asking_whether_a_value_is_there_is_not_using_it() -> None:
    cache = filled(3, 0, 1, 2)
    assert ("box", 0) in cache
    cache.get(("box", 3), box())
    assert kept(cache) == [1, 2, 3]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30))), st.integers(0, 50))
def test_the_limit_is_never_exceeded_and_the_bytes_are_those_kept(asked: list[tuple[int, int]], limit: int) -> None:
    cache = ResourceCache(limit)
    sizes: dict[int, int] = {}
    for index, nbytes in asked:
        value = cache.get(("box", index), box(nbytes))
        sizes[index] = value.nbytes
        assert cache.n_bytes == sum(sizes[index] for index in kept(cache)) <= limit
        assert (index in kept(cache)) == (value.nbytes <= limit)


def test_a_value_that_is_too_large_is_given_but_drives_nothing_out() -> None:
    cache = filled(3, 0, 1, 2)
    assert cache.get(("box", 3), box(4)).nbytes == 4
    assert kept(cache) == [0, 1, 2]


def test_a_forgotten_value_is_made_again() -> None:
    cache = filled(2, 0)
    first = cache.peek([("box", 0)])[0]
    for index in (1, 2, 0):
        again = cache.get(("box", index), box())
    assert again is not first
    assert cache.misses == 4


def test_threads_that_ask_for_the_same_value_make_it_once() -> None:
    cache, together, made = ResourceCache(10), Barrier(8), []

    def make() -> Box:
        made.append(Box(1))
        sleep(0.02)
        return made[-1]

    def ask(_: int) -> object:
        together.wait()
        return cache.get(("box", 0), make)

    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert all(value is made[0] for value in values)


def test_threads_that_ask_for_different_values_do_not_wait_for_each_other() -> None:
    cache, together = ResourceCache(10), Barrier(2)

    def make() -> Box:
        together.wait(timeout=5)  # passes only while both are being made
        return Box(1)

    with ThreadPoolExecutor(2) as pool:
        assert len(list(pool.map(lambda index: cache.get(("box", index), make), range(2)))) == 2


def fail() -> Box:
    raise MemoryError


def test_after_a_failure_the_next_one_tries_again() -> None:
    cache = ResourceCache(10)
    with pytest.raises(MemoryError):
        cache.get(("box", 0), fail)
    assert kept(cache) == []
    assert cache.get(("box", 0), box()).nbytes == 1


def test_a_thread_that_waited_for_a_failure_tries_itself() -> None:
    cache, begun = ResourceCache(10), Event()

    def fail_late() -> Box:
        begun.set()
        sleep(0.02)
        return fail()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, ("box", 0), fail_late)
        begun.wait()
        second = pool.submit(cache.get, ("box", 0), box(3))
        assert second.result(timeout=5).nbytes == 3
    assert isinstance(first.exception(), MemoryError)
    assert kept(cache) == [0]
