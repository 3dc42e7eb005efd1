"""How the seconds of a job reach its videos: each takes a lease when it begins, and settles it when it is over.

What a video leaves, or takes too much of, is divided again among those that wait. Time is an argument, so that a job, a
simulation and a test are alike.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace

import numpy as np

from budgetseg.app.division import by_size, divide
from budgetseg.app.outlook import Outlook
from budgetseg.types import Float64

__all__ = ["Allotment", "Bounds", "Dividing"]


@dataclass(frozen=True)
class Bounds:
    """What bounds a job.

    Attributes
    ----------
    elapsed_s : from the start of the job to the end of its last video; infinity for no bound
    compute_s : of all workers together; infinity for no bound
    """

    elapsed_s: float = math.inf
    compute_s: float = math.inf

    @property
    def is_bounded(self) -> bool:
        """Whether there is anything to divide."""
        return min(self.elapsed_s, self.compute_s) < math.inf


@dataclass(frozen=True)
class Dividing:
    """How seconds are divided.

    Attributes
    ----------
    hedge : share of all seconds that goes by size, whatever is predicted: predictions err, and no video should be left
        without a labelled frame. With 0 to 0.25, selection data gain the same; `python -m benchmarks.division`
    again : share of the waiting videos that begin before all is divided anew; in between, shares are scaled
    few : videos, where fewer wait, all is divided anew for each
    margin : share of what is left of the elapsed time that is kept back, for what nobody has foreseen
    margin_s : seconds that are kept back in addition
    late : share of the budget that may be exceeded so that videos have one labelled frame for which no time is left,
        since workers were late or lost
    least_s : seconds that a video gets where even that is too much: enough to be labelled by the prior
    """

    hedge: float = 0.25
    again: float = 0.02
    few: int = 200
    margin: float = 0.004
    margin_s: float = 0.05
    late: float = 0.01
    least_s: float = 1e-3


@dataclass
class _Lease:
    """Seconds that a video has, with those to open it and to write its files, and when they end."""

    whole_s: float
    ends_s: float


class Allotment:
    """Seconds of a job, and the videos that wait for them or have them.

    Parameters
    ----------
    outlooks : of the videos
    weights : of the videos, times that a point of accuracy counts
    limits : what bounds the job
    dividing : how seconds are divided
    """

    def __init__(
        self, outlooks: Sequence[Outlook], weights: Sequence[float], limits: Bounds, dividing: Dividing | None = None
    ) -> None:
        self._limits = limits
        self._dividing = dividing or Dividing()
        self._works = np.array([outlook.work for outlook in outlooks], np.float64)
        self._files_s = np.array([outlook.files_s for outlook in outlooks], np.float64)
        self._least_s = np.array([outlook.least_s for outlook in outlooks], np.float64)
        self._late_s = self._dividing.late * min(limits.elapsed_s, limits.compute_s)
        self._weights = np.array(weights, np.float64)
        self._waiting = np.ones(len(outlooks), bool)
        has_curves = bool(outlooks) and all(outlook.seconds for outlook in outlooks)
        self._seconds = np.array([outlook.seconds for outlook in outlooks]) if has_curves else None
        self._points = np.array([outlook.points for outlook in outlooks]) if has_curves else None
        self._leases: dict[int, _Lease] = {}
        self._leased_s = 0.0
        self._spent_s = 0.0
        self._seen_work = 0.0
        self._seen_over_s = 0.0
        self._shares: Float64 = np.zeros(len(outlooks))
        self._n_waiting = len(outlooks)
        self._n_planned = 0  # videos among which all was divided last; 0 where that is to be done now
        # Sums over the videos that wait: there may be many of them.
        self._waiting_work = float(self._works.sum())
        self._waiting_files_s = float(self._files_s.sum())
        self._waiting_shares_s = 0.0

    def order(self) -> list[int]:
        """Numbers of the videos in the order to begin them: what is worth most first, then what takes longest."""
        shares = self._divided(max(float(self._works.sum()), 1.0)) if self._limits.is_bounded else self._works
        return [int(k) for k in np.lexsort((-shares, -self._weights))]

    def lease(self, k: int, now_s: float, n_workers: int) -> float:
        """Seconds in which video k, which begins now on one of so many workers, is to be labelled."""
        budget_s = self._budget_s(k, now_s, n_workers) if self._limits.is_bounded else math.inf
        self._wait(k, False)
        whole_s = budget_s + self._over_s(k)
        self._leases[k] = _Lease(whole_s, now_s + whole_s)
        self._leased_s += whole_s
        return budget_s

    def settle(self, k: int, used_s: float, spent_s: float) -> None:
        """Video k is labelled: its worker took `used_s`, of which `spent_s` were of its budget."""
        self._end(k, used_s)
        self._seen_work += float(self._works[k])
        self._seen_over_s += max(used_s - spent_s, 0.0)

    def give_up(self, k: int, used_s: float = 0.0) -> None:
        """Video k will not be labelled by this run; its worker took `used_s`."""
        self._end(k, used_s)
        self._wait(k, False)

    def put_back(self, k: int, used_s: float) -> None:
        """The worker of video k is lost after `used_s`; the video waits again."""
        self._end(k, used_s)
        self._wait(k, True)
        self._n_planned = 0

    def _end(self, k: int, used_s: float) -> None:
        """The lease of video k ends, if it has one."""
        lease = self._leases.pop(k, None)
        self._leased_s -= 0.0 if lease is None else lease.whole_s
        self._spent_s += used_s

    def _wait(self, k: int, is_waiting: bool) -> None:
        """From now on, video k waits, or does not."""
        if bool(self._waiting[k]) == is_waiting:
            return
        sign = 1 if is_waiting else -1
        self._waiting[k] = is_waiting
        self._n_waiting += sign
        self._waiting_work += sign * float(self._works[k])
        self._waiting_files_s += sign * float(self._files_s[k])
        self._waiting_shares_s += sign * float(self._shares[k])

    def _free_s(self, now_s: float, n_workers: int) -> Float64:
        """When each worker will be free, the one that asks first."""
        busy = np.fromiter((lease.ends_s for lease in self._leases.values()), np.float64, len(self._leases))
        return np.concatenate([np.full(max(n_workers - len(busy), 1), now_s), np.maximum(busy, now_s)])

    def _budget_s(self, k: int, now_s: float, n_workers: int) -> float:
        """Seconds of video k, of what is left for all that wait; at most what is left of the elapsed time."""
        free_s = self._free_s(now_s, n_workers)
        over_s = self._over_s(k)
        left_s = (1 - self._dividing.margin) * (self._limits.elapsed_s - now_s) - self._dividing.margin_s
        elapsed_s = float(np.maximum(now_s + left_s - free_s, 0.0).sum())
        compute_s = self._limits.compute_s - self._spent_s - self._leased_s
        capacity_s = max(min(elapsed_s, compute_s) - self._waiting_over_s(), 0.0)
        few = self._n_waiting <= self._dividing.few
        if few or self._n_waiting <= (1 - self._dividing.again) * self._n_planned or not self._n_planned:
            self._n_planned = self._n_waiting
            self._shares = self._divided(capacity_s)
            self._waiting_shares_s = float(self._shares.sum())
        share_s = float(self._shares[k]) * capacity_s / max(self._waiting_shares_s, 1e-300)
        if elapsed_s < math.inf:
            if few and elapsed_s <= compute_s:
                share_s = (share_s + over_s) * left_s / self._load_s(k, free_s) - over_s
            share_s = min(share_s, left_s - over_s)
        if max(share_s, 0.0) < self._least_s[k] <= self._late_s:
            self._late_s -= float(self._least_s[k])
            return float(self._least_s[k])
        return max(share_s, self._dividing.least_s)

    def _load_s(self, k: int, free_s: Float64) -> float:
        """Seconds of the videos that the worker of video k will do, this one included, if the longest come first.

        Where few videos wait, these seconds are seldom all that the worker has: what it has is shared by them.
        """
        whole_s = {int(j): float(self._shares[j]) + self._over_s(int(j)) for j in np.flatnonzero(self._waiting)}
        load_s = max(whole_s.pop(k), 1e-9)
        workers = [(at_s, j) for j, at_s in enumerate(free_s.tolist())]
        workers[0] = workers[0][0] + load_s, 0
        heapify(workers)
        for own_s in sorted(whole_s.values(), reverse=True):
            at_s, j = workers[0]
            heapreplace(workers, (at_s + own_s, j))
            load_s += own_s * (j == 0)
        return load_s

    def _divided(self, total_s: float) -> Float64:
        """Seconds of each video, 0 for those that do not wait, which add up to a total."""
        found = np.zeros(len(self._works))
        some = self._waiting
        sized = by_size(self._works[some], total_s)
        if self._seconds is None or self._points is None:
            found[some] = sized
            return found
        hedge = self._dividing.hedge
        best = divide(self._seconds[some], self._points[some], self._weights[some], (1 - hedge) * total_s)
        found[some] = best + hedge * sized
        return found

    def _over_s(self, k: int) -> float:
        """Seconds that video k takes beyond its budget, to be opened and written."""
        if self._seen_work:
            return self._seen_over_s / self._seen_work * float(self._works[k])
        return float(self._files_s[k])

    def _waiting_over_s(self) -> float:
        """The same of all videos that wait."""
        if self._seen_work:
            return self._seen_over_s / self._seen_work * self._waiting_work
        return self._waiting_files_s
