"""A job: many videos, one budget. What is done is in its manifest, so that it can be taken up at any time.

find ─► look (a coarse pass) ─► for each video: claim ─► lease of seconds ─► label ─► manifest
"""

import logging
import math
import socket
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from budgetseg.app.allotment import Allotment, Bounds
from budgetseg.app.claims import Claims, Patience
from budgetseg.app.labeller import Order
from budgetseg.app.manifest import DONE, ENDED, SKIPPED, Manifest, Row
from budgetseg.app.output import check_place
from budgetseg.app.trace import TRACE
from budgetseg.app.videos import Found
from budgetseg.app.worker import Labelled, Looked, Setup, label_video, look_at, stamp_of
from budgetseg.errors import BudgetsegError, OutputError, UsageError, VideoError
from budgetseg.executors.core import Executor, Outcome
from budgetseg.timing.clock import Clock, WallClock, date_s
from budgetseg.types import Budget

__all__ = ["Job", "JobSettings", "Status", "Terms"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Terms:
    """How a job is carried out.

    Attributes
    ----------
    compute_s : seconds of all workers together; None for no bound
    overwrite : whether what a job has left in the folder is forgotten, and all videos are labelled again
    facts : written to the ledgers
    """

    compute_s: float | None = None
    overwrite: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JobSettings:
    """What a job bears with.

    Attributes
    ----------
    tries : of a video whose worker is lost, before it is skipped
    hang : times the seconds that a video should take after which its worker is taken to hang
    hang_s : seconds in addition: to load a model, and to wait for a busy machine
    look : videos that are looked at in one call
    poll_s : seconds after which the job looks around again
    patience : with other machines
    """

    tries: int = 3
    hang: float = 3.0
    hang_s: float = 300.0
    look: int = 16
    poll_s: float = 0.5
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True)
class Status:
    """How far a job is.

    Attributes
    ----------
    n_videos, n_done, n_skipped, n_elsewhere : videos in all, labelled, skipped, and labelled by other machines now
    running : names of the videos that are being labelled
    looked : videos that were looked at, while that is under way
    left_s : seconds of the budget that are left; None for no bound
    expected : mean share of pixels expected to be right, of the videos that are done
    """

    n_videos: int
    n_done: int = 0
    n_skipped: int = 0
    n_elsewhere: int = 0
    running: tuple[str, ...] = ()
    looked: int = 0
    left_s: float | None = None
    expected: float | None = None


@dataclass(eq=False)
class _Video:
    """A video of a job, with what is known of it now.

    Attributes
    ----------
    found : where it is
    looked : what is known of it
    n_lost : workers that were lost over it
    """

    found: Found
    looked: Looked
    n_lost: int = 0


@dataclass(eq=False)
class _Running:
    """A call that labels a video: which, since when, within which budget, and when it is taken to hang."""

    k: int
    began_s: float
    budget_s: float | None
    hangs_at_s: float


class Job:
    """Labels many videos within one budget, and writes down what became of each.

    Parameters
    ----------
    order : what is wanted of every video, and the budget of all
    videos : of the job
    setup : how workers get ready
    terms : how the job is carried out
    settings : what it bears with
    clock : that the budget is counted by; None for one that starts now
    stopped : once it returns True, no other video begins, and those that have begun spend no more
    show : called with the status again and again
    """

    def __init__(
        self,
        order: Order,
        videos: Sequence[Found],
        setup: Setup,
        terms: Terms | None = None,
        settings: JobSettings | None = None,
        clock: Clock | None = None,
        stopped: Callable[[], bool] = lambda: False,
        show: Callable[[Status], None] = lambda _: None,
    ) -> None:
        order.check_many()
        self._order = replace(order, videos=())
        self.setup = setup
        self._terms = terms or Terms()
        self._settings = settings or JobSettings()
        self._clock = clock or WallClock()
        self._stopped = stopped
        self._show = show
        self._folder = order.folder.absolute()
        self._run = token_hex(4)
        self.videos = videos
        self._manifest = Manifest(self._folder, self._described(), self._terms.overwrite)
        self._check_places()
        self._names = {found.name for found in videos}
        self._limits = self._left()
        self._n_counted = 0
        self._counted: dict[str, Row] = {}
        self._tally: Counter[str] = Counter()
        self._expected = 0.0
        self._n_expected = 0
        self._waiting: deque[int] = deque()
        self._doing: dict[int, _Running] = {}
        self._elsewhere: set[str] = set()
        # Workers that have taken the place of lost ones, and have to get ready before they have a lease.
        self._n_new = 0
        self._readying: set[int] = set()
        self._todo: list[_Video] = []

    @property
    def rows(self) -> list[Row]:
        """What became of the videos, as far as they are done or skipped, in the order of the videos."""
        known = self._manifest.rows
        return [known[found.name] for found in self.videos if found.name in known]

    @property
    def elsewhere(self) -> Sequence[str]:
        """Names of the videos that other machines were at work on, and have not written down yet."""
        self._manifest.follow()
        done = {name for name, row in self._manifest.rows.items() if row.state == DONE}
        return sorted(self._elsewhere - done)

    def run(self, executor: Executor) -> list[Row]:
        """Label the videos that are not done yet; returns the rows of those that this run labelled or skipped."""
        n_before = len(self._manifest.history)
        with Claims(self._folder, self._run, self._settings.patience) as claims:
            self._look(executor)
            outlooks = [video.looked.outlook for video in self._todo]
            weights = [video.found.priority for video in self._todo]
            self._allotment = Allotment([own for own in outlooks if own is not None], weights, self._limits)
            self._waiting.extend(self._allotment.order())
            while self._waiting or self._doing:
                if self._stopped():
                    claims.stop_file.touch()
                    self._waiting.clear()
                while self._n_new and executor.n_idle:
                    self._n_new -= 1
                    self._readying.add(executor.submit(look_at, self.setup, self._order_of(None), []))
                while self._waiting and executor.n_idle:
                    self._begin(self._waiting.popleft(), executor, claims)
                self._show(self._status())
                for outcome in executor.wait(self._settings.poll_s):
                    if outcome.number in self._readying:
                        self._readying.remove(outcome.number)
                    else:
                        self._end(outcome, claims)
                self._end_hanging(executor, claims)
        if not self._stopped() and not self.elsewhere:
            self._add(Row("", ENDED))
        own = [row for row in self._manifest.history[n_before:] if row.run == self._run and row.state != ENDED]
        self._show(self._status())
        return own

    def check(self) -> None:
        """Raise VideoError where every video was skipped: there is nothing to show for the job."""
        rows = self.rows
        if rows and len(rows) == len(self.videos) and all(row.state == SKIPPED for row in rows):
            raise VideoError(f"none of {len(rows)} videos can be read; the first: {rows[0].why}")

    # Before

    def _described(self) -> dict[str, Any]:
        """What has to be the same for a job to be taken up."""
        order, setup = self._order, self.setup
        assert order.request is not None
        span = order.span
        name = ", ".join(Path(place).stem for place in ([setup.model] if setup.model else setup.networks))
        return {
            "model": f"{name} {setup.digest[:12]}",
            "budget": ",".join(order.budgets),
            "compute budget": self._terms.compute_s,
            "target accuracy": order.target,
            "scope": order.request.scope,
            "seed": order.request.seed,
            "space": order.space,
            "policy": setup.policy,
            "select": setup.select,
            "frames": None if span is None else [span.start, span.end, span.stride],
            "files": ",".join(name for name, is_wanted in vars(order.wanted).items() if is_wanted),
        }

    def _check_places(self) -> None:
        """Raise OutputError where a folder holds files of others: before the work, and nothing is overwritten."""
        for found in self.videos:
            folder = self._folder / found.name
            if found.name not in self._manifest.rows and folder.is_dir() and not (folder / TRACE).exists():
                check_place(folder, self._order.folders)

    @property
    def _counts_actions(self) -> bool:
        """Whether the budget is seconds of descriptors alone, of all videos together."""
        request = self._order.request
        assert request is not None
        return request.scope != "total" and not request.budgets[-1].is_share

    def _left(self) -> Bounds:
        """What is left of the budgets, after what earlier runs of this job have used of them."""
        assert self._order.request is not None
        last = self._order.request.budgets[-1]
        compute_s = math.inf
        rows = _since_ended(self._manifest.history, self._names)
        if self._counts_actions:
            return Bounds(compute_s=last.amount - sum(row.spent_s or 0.0 for row in rows))
        if self._terms.compute_s is not None:
            compute_s = self._terms.compute_s - sum(row.seconds for row in rows)
        return Bounds(math.inf if last.is_share else last.amount - _elapsed_s(rows), compute_s)

    def _is_done(self, found: Found) -> bool:
        row = self._manifest.rows.get(found.name)
        is_same = row is not None and row.state == DONE and row.stamp == stamp_of(found.path)
        return is_same and (self._folder / found.name / TRACE).is_file()

    def _look(self, executor: Executor) -> None:
        """Look at all videos that are not done; those that cannot be read are skipped."""
        todo = [found for found in self.videos if not self._is_done(found)]
        calls: dict[int, list[Found]] = {}
        some = max(min(self._settings.look, len(todo) // executor.n_workers), 1)  # every worker gets ready now
        left = deque(todo[k : k + some] for k in range(0, len(todo), some))
        n_looked = 0
        order = self._order_of(None)
        tries = self._settings.tries * executor.n_workers
        while left or calls:
            while left and executor.n_idle and not self._stopped():
                part = left.popleft()
                calls[executor.submit(look_at, self.setup, order, [found.path for found in part])] = part
            if self._stopped():
                left.clear()
            self._show(replace(self._status(), looked=n_looked))
            for outcome in executor.wait(self._settings.poll_s):
                part = calls.pop(outcome.number)
                if outcome.answer.is_lost:
                    tries -= 1
                    if not tries:
                        raise BudgetsegError("workers end as soon as they begin; give each more memory, or start fewer")
                    left.append(part)
                    continue
                if outcome.answer.error is not None:
                    raise outcome.answer.error
                n_looked += len(part)
                for found, looked in zip(part, outcome.answer.value, strict=True):
                    if looked.outlook is None:
                        self._skip(found, looked.why, looked.stamp)
                    else:
                        self._todo.append(_Video(found, looked))

    # One video

    def _order_of(self, found: Found | None) -> Order:
        """The order for a video: its folder among the results."""
        return replace(self._order, output=self._folder / found.name if found else self._folder)

    def _begin(self, k: int, executor: Executor, claims: Claims) -> None:
        """Label a video, unless another machine does so or has done so."""
        video = self._todo[k]
        found = video.found
        if not claims.take(found.name):
            self._elsewhere.add(found.name)
            self._allotment.give_up(k)
            return
        self._manifest.follow()
        if self._is_done(found):
            claims.give_back(found.name)
            self._allotment.give_up(k)
            return
        now_s = self._clock.now_s()
        budgets = self._budgets(self._allotment.lease(k, now_s, executor.n_workers))
        number = executor.submit(
            label_video, self.setup, self._order_of(found), found.path, budgets, claims.stop_file, self._terms.facts
        )
        is_time = not budgets[-1].is_share and budgets[-1].amount < math.inf
        usual_s = budgets[-1].amount if is_time else math.inf
        hangs_at_s = now_s + self._settings.hang * usual_s + self._settings.hang_s
        self._doing[number] = _Running(k, now_s, usual_s if is_time else None, hangs_at_s)

    def _budgets(self, last_s: float) -> tuple[Budget, ...]:
        """The budgets of a video: parts of the seconds that it has, like those of the order."""
        assert self._order.request is not None
        budgets = self._order.request.budgets
        if last_s == math.inf:
            return budgets
        whole_s = budgets[-1].amount
        if whole_s == math.inf or budgets[-1].is_share:
            return (Budget(last_s),)
        return tuple(Budget(last_s * budget.amount / whole_s) for budget in budgets)

    def _end(self, outcome: Outcome, claims: Claims) -> None:
        """Write down what became of a video whose call is over."""
        doing = self._doing.pop(outcome.number)
        video = self._todo[doing.k]
        used_s = self._clock.now_s() - doing.began_s
        error = outcome.answer.error
        if outcome.answer.is_lost:
            self._lose(doing, used_s, "its worker was lost")
        elif isinstance(error, OutputError | UsageError):
            raise error  # it will be the same with all others
        elif error is not None:
            why = str(error) if isinstance(error, BudgetsegError) else f"{type(error).__name__}: {error}"
            _log.warning("%s is skipped: %s", video.found.path, why)
            self._allotment.give_up(doing.k, used_s)
            self._skip(video.found, why, video.looked.stamp)
        else:
            done: Labelled = outcome.answer.value
            self._allotment.settle(doing.k, done.spent_s if self._counts_actions else used_s, done.spent_s)
            self._add(
                Row(
                    video.found.name,
                    DONE,
                    str(video.found.path),
                    video.looked.stamp,
                    seconds=round(done.seconds, 4),
                    budget_s=doing.budget_s,
                    spent_s=round(done.spent_s, 4),
                    expected=done.expected,
                    is_prior=done.is_prior,
                    digest=done.digest,
                    host=done.host,
                )
            )
        claims.give_back(video.found.name)

    def _end_hanging(self, executor: Executor, claims: Claims) -> None:
        """End the workers that take far too long."""
        now_s = self._clock.now_s()
        for number, doing in list(self._doing.items()):
            if now_s > doing.hangs_at_s:
                executor.cancel(number)
                del self._doing[number]
                self._lose(doing, now_s - doing.began_s, "its worker hung")
                claims.give_back(self._todo[doing.k].found.name)

    def _lose(self, doing: _Running, used_s: float, why: str) -> None:
        """Try a video again whose worker is lost, or skip it after some tries."""
        video = self._todo[doing.k]
        video.n_lost += 1
        self._n_new += 1
        _log.warning("%s: %s", video.found.path, why)
        if video.n_lost < self._settings.tries and not self._stopped():
            self._allotment.put_back(doing.k, used_s)
            self._waiting.appendleft(doing.k)  # while there is time for it
            return
        self._allotment.give_up(doing.k, used_s)
        self._skip(video.found, f"{why}, {video.n_lost} times", video.looked.stamp)

    def _skip(self, found: Found, why: str, stamp: str) -> None:
        self._add(Row(found.name, SKIPPED, str(found.path), stamp, why, host=socket.gethostname()))

    def _add(self, row: Row) -> None:
        elapsed_s = round(self._clock.now_s(), 3)
        self._manifest.add(replace(row, run=self._run, at_s=round(date_s(), 3), elapsed_s=elapsed_s))

    def _status(self) -> Status:
        self._count()
        left_s = self._limits.elapsed_s - self._clock.now_s()
        return Status(
            len(self.videos),
            self._tally[DONE],
            self._tally[SKIPPED],
            len(self._elsewhere),
            tuple(self._todo[doing.k].found.name for doing in self._doing.values()),
            left_s=None if left_s == math.inf else max(left_s, 0.0),
            expected=self._expected / self._n_expected if self._n_expected else None,
        )

    def _count(self) -> None:
        """Count the rows that are new since the last time: there may be very many."""
        for row in self._manifest.history[self._n_counted :]:
            if row.name in self._names:
                before = self._counted.get(row.name)
                if before is not None:
                    self._count_row(before, -1)
                self._counted[row.name] = row
                self._count_row(row, 1)
        self._n_counted = len(self._manifest.history)

    def _count_row(self, row: Row, sign: int) -> None:
        self._tally[row.state] += sign
        if row.state == DONE and row.expected is not None:
            self._n_expected += sign
            self._expected += sign * row.expected


def _since_ended(rows: Sequence[Row], names: Set[str]) -> list[Row]:
    """Rows of the videos of these names that were written since a run left nothing to do: it is these that cost."""
    ended = {row.run for row in rows if row.state == ENDED}
    own = [row for row in rows if row.name in names]
    last = max((k for k, row in enumerate(own) if row.run in ended), default=-1)
    return own[last + 1 :]


def _elapsed_s(rows: Sequence[Row]) -> float:
    """Seconds in which runs were at work, by their rows; those of several machines at one time count once."""
    spans = sorted((row.at_s - row.elapsed_s, row.at_s) for row in rows)
    total_s, until_s = 0.0, -math.inf
    for start_s, end_s in spans:
        total_s += max(end_s - max(start_s, until_s), 0.0)
        until_s = max(until_s, end_s)
    return total_s
