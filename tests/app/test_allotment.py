"""How seconds reach the videos of a job: in simulation, the total is kept, also where workers are late or lost."""

import heapq
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from budgetseg.app.allotment import Allotment, Bounds, Dividing
from budgetseg.app.division import by_size, divide
from budgetseg.app.outlook import Outlook

Late = Callable[[int, float], float]


def outlooks(n: int, seed: int = 0, files_s: float = 0.0) -> list[Outlook]:
    """Videos of all lengths, with curves of all kinds."""
    rng = np.random.default_rng(seed)
    found = []
    for work in rng.lognormal(0.0, 1.0, n):
        seconds = tuple((work * np.geomspace(0.05, 10, 8)).tolist())
        points = tuple((-rng.uniform(5, 40) * np.exp(-np.arange(8.0))).tolist())
        found.append(Outlook(float(work), files_s * float(work), 0.0, seconds, points))
    return found


def simulate(
    videos: list[Outlook],
    limits: Bounds,
    n_workers: int,
    takes: Late = lambda _, budget_s: budget_s,
    lost: set[int] = frozenset(),  # type: ignore[assignment]
) -> tuple[float, list[float]]:
    """When the last video is done, and the seconds that each had; the first tries of some are lost halfway."""
    allotment = Allotment(videos, [1.0] * len(videos), limits)
    waiting = allotment.order()
    again = set(lost)
    given = [0.0] * len(videos)
    running: list[tuple[float, float, int]] = []
    now_s = 0.0
    while waiting or running:
        while waiting and len(running) < n_workers:
            k = waiting.pop(0)
            given[k] = allotment.lease(k, now_s, n_workers)
            whole_s = takes(k, given[k]) * (0.5 if k in again else 1.0)
            heapq.heappush(running, (now_s + whole_s, now_s, k))
        now_s, began_s, k = heapq.heappop(running)
        if k in again:
            again.remove(k)
            allotment.put_back(k, now_s - began_s)
            waiting.append(k)
        else:
            allotment.settle(k, now_s - began_s, given[k])
    return now_s, given


def test_a_video_for_which_no_time_is_left_has_one_labelled_frame_while_the_total_is_about_kept() -> None:
    videos = [replace(own, least_s=0.2) for own in outlooks(9)]
    allotment = Allotment(videos, [1.0] * 9, Bounds(elapsed_s=100.0))
    for k in range(9):
        given_s = allotment.lease(k, 101.0, 1)  # all of them are late
        assert given_s == pytest.approx(0.2 if k < 5 else 1e-3)
        allotment.settle(k, given_s, given_s)


@pytest.mark.parametrize("n_workers", [1, 3, 8])
@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_the_total_is_kept_and_used(n: int, n_workers: int) -> None:
    ended_s, given = simulate(outlooks(n), Bounds(elapsed_s=100.0), n_workers)
    assert ended_s <= 100.0
    assert ended_s > 98.0
    if n > 4 * n_workers:
        assert sum(given) > 0.95 * 100.0 * n_workers


def test_files_and_late_workers_are_learned_from() -> None:
    rng = np.random.default_rng(1)
    late = rng.uniform(1.0, 1.2, 400)
    ended_s, _ = simulate(outlooks(400), Bounds(elapsed_s=1000.0), 4, lambda k, s: s * late[k] + 0.1)
    assert ended_s == pytest.approx(1000.0, rel=0.01)


@pytest.mark.parametrize("n_lost", [1, 5])
def test_the_total_is_kept_where_workers_are_lost(n_lost: int) -> None:
    ended_s, given = simulate(outlooks(200), Bounds(elapsed_s=500.0), 4, lost=set(range(n_lost)))
    assert ended_s <= 500.0 * 1.023
    assert min(given) > 0


def test_seconds_of_all_workers_together_are_kept() -> None:
    _, given = simulate(outlooks(100), Bounds(compute_s=300.0), 5)
    assert sum(given) == pytest.approx(300.0, rel=0.01)


def test_what_a_video_leaves_the_others_may_use() -> None:
    videos = outlooks(20)
    frugal = Allotment(videos, [1.0] * 20, Bounds(elapsed_s=100.0))
    first, second, *_ = frugal.order()
    budget_s = frugal.lease(first, 0.0, 1)
    frugal.settle(first, 0.1 * budget_s, 0.1 * budget_s)
    usual = Allotment(videos, [1.0] * 20, Bounds(elapsed_s=100.0))
    usual.settle(first, usual.lease(first, 0.0, 1), budget_s)
    assert frugal.lease(second, 0.1 * budget_s, 1) > usual.lease(second, budget_s, 1)


def test_without_a_bound_nothing_is_divided() -> None:
    allotment = Allotment(outlooks(3), [1.0] * 3, Bounds())
    assert [allotment.lease(k, 0.0, 2) for k in range(3)] == [math.inf] * 3


def test_without_curves_seconds_go_by_size() -> None:
    videos = [Outlook(1.0, 0.0), Outlook(3.0, 0.0), Outlook(6.0, 0.0)]
    _, given = simulate(videos, Bounds(compute_s=20.0), 2)
    assert given == pytest.approx([2.0, 6.0, 12.0])


def test_of_very_many_videos_each_has_about_what_a_division_of_all_gives_it() -> None:
    videos = outlooks(1000)
    _, given = simulate(videos, Bounds(compute_s=1000.0), 4)
    seconds, points = (np.array([getattr(video, name) for video in videos]) for name in ("seconds", "points"))
    works = np.array([video.work for video in videos])
    hedge = Dividing().hedge
    whole = divide(seconds, points, np.ones(1000), (1 - hedge) * 1000.0) + hedge * by_size(works, 1000.0)
    assert np.corrcoef(given, whole)[0, 1] > 0.95
    assert np.median(np.array(given) / whole) == pytest.approx(1.0, abs=0.1)


def test_a_video_that_is_put_back_has_its_share_again() -> None:
    allotment = Allotment(outlooks(400), [1.0] * 400, Bounds(elapsed_s=1000.0))
    first, second, *_ = allotment.order()
    before_s = allotment.lease(first, 0.0, 4)
    allotment.lease(second, 0.0, 4)
    allotment.put_back(first, 1.0)
    assert allotment.lease(first, 1.0, 4) == pytest.approx(before_s, rel=0.05)


def test_a_hopeless_budget_still_labels_every_video() -> None:
    _, given = simulate(outlooks(30), Bounds(elapsed_s=1e-6), 2)
    assert min(given) == pytest.approx(1e-3)


def test_videos_that_matter_most_begin_first() -> None:
    allotment = Allotment(outlooks(5), [1.0, 1.0, 7.0, 1.0, 2.0], Bounds(elapsed_s=10.0))
    assert allotment.order()[:2] == [2, 4]
