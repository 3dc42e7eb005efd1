"""What `budgetseg label` does: videos to folders of results within a budget, further, or again."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from budgetseg.app.engines import AUTO, FRAMES, SUPERVOXELS
from budgetseg.app.expect import expect, in_words
from budgetseg.app.loaded import LoadedModel
from budgetseg.app.output import Run, Wanted, budget_name, check_place, results_folder, write_results
from budgetseg.app.replay import replay
from budgetseg.app.state import read_state
from budgetseg.app.trace import Trace, VideoMark, WindowTrace, read_trace
from budgetseg.app.videos import Purse, Task, find_videos, work_of
from budgetseg.engine.labelled import Earlier, Labelled
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.frames.label import ByFrames, replay_frames
from budgetseg.frames.label import WindowTrace as FramesTrace
from budgetseg.policy.learned import Expected

__all__ = ["Done", "Job", "Order"]

_log = logging.getLogger(__name__)

Progress = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True, eq=False)
class Order:
    """What is to be done, and where the results go.

    Attributes
    ----------
    videos : files, folders of images, folders of videos
    request : budgets and the like; None where a run is done again
    resume : folder of a run to go on from
    replay : folder of a run to do again
    output : folder for results; None for the usual one
    wanted : files that are written on request
    engine : frames, supervoxels, or auto; a run is gone on from, or done again, by its own
    """

    videos: Sequence[Path]
    request: Request | None
    resume: Path | None = None
    replay: Path | None = None
    output: Path | None = None
    wanted: Wanted = field(default_factory=Wanted)
    engine: str = AUTO

    @cached_property
    def earlier(self) -> Trace | None:
        """Of the run that is gone on from, or done again."""
        folder = self.resume or self.replay
        return None if folder is None else read_trace(folder)

    @property
    def budgets(self) -> list[str]:
        """Names of the budgets."""
        if self.request is not None:
            return [budget_name(budget) for budget in self.request.budgets]
        return [] if self.earlier is None else [str(name) for name in self.earlier.settings["budgets"]]

    @property
    def wanted_engine(self) -> str:
        """The engine that is asked for, or that of the run before; UsageError where these differ."""
        own = self.engine if self.earlier is None else self.earlier.engine
        if self.engine not in (AUTO, own):
            raise UsageError(f"that run was by {own}; leave --engine out, or label the video anew")
        return own

    def tasks(self) -> list[Task]:
        """Videos and their places; an error where something cannot be read, written or gone on from."""
        if self.resume is not None and self.replay is not None:
            raise UsageError("a run cannot be gone on from and done again at once; give --resume or --replay")
        usual = Path("labelled" if self.replay is None else "replayed")
        tasks = find_videos(self.videos, self.output or self.resume or usual)
        if self.earlier is not None:
            if len(tasks) > 1:
                raise UsageError(f"an earlier run is of one video. Got {len(tasks)}; give them one by one")
            self.earlier.video.check(tasks[0].source)
        for task in tasks:
            check_place(task.folder, self.budgets if len(self.budgets) > 1 else ())
        return tasks


@dataclass(frozen=True, eq=False)
class Done:
    """A video that was labelled.

    Attributes
    ----------
    folder : where the results are
    budgets : names of the budgets
    ledgers : as they are written, one for each budget
    """

    folder: Path
    budgets: Sequence[str]
    ledgers: Sequence[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Job:
    """A model at work on orders.

    Attributes
    ----------
    model : that labels
    facts : what the ledgers should say beside their own figures
    stopped : once it says so, no more is spent
    progress : shows how much is written: (what, how many frames) -> block that is told of each
    tell : is told what is being done
    """

    model: LoadedModel
    facts: Mapping[str, Any] = field(default_factory=dict)
    stopped: Callable[[], bool] = lambda: False
    progress: Progress = lambda *_: nullcontext(lambda _: None)
    tell: Callable[[str], None] = lambda _: None

    def run(self, order: Order, tasks: Sequence[Task]) -> Iterator[Done]:
        """Label the videos of an order one after the other; they share its budgets. Stopped, it begins no other."""
        if order.earlier is not None:
            order.earlier.model.check(self.model.mark)
        if order.request is None:
            yield self._replay(order, tasks[0])
            return
        purse = Purse(order.request.budgets, [work_of(task.source) for task in tasks])
        for task in tasks:
            done = self._label(order, task, replace(order.request, budgets=purse.take()))
            purse.spend([ledger["spent_s"] for ledger in done.ledgers])
            yield done
            if self.stopped():
                return

    def _label(self, order: Order, task: Task, request: Request) -> Done:
        before, known = order.earlier, None
        engine = self.model.choose(order.wanted_engine, request, order.wanted.why)
        if before is not None and order.resume is not None and engine == SUPERVOXELS:
            known = _read_earlier(order.resume, before)
            request = replace(request, window=before.windows[0].n_frames if before.windows else None)
        with results_folder(task.folder) as part:
            budgets = " ".join(map(budget_name, request.budgets))
            self.tell(f"labelling {task.source.name} by {engine} within {budgets}")
            _log.info("labelling %s by %s within %s", task.source.name, engine, budgets)
            expected = expect(self.model.labeller, engine, task.source, request)
            if expected is not None:
                self.tell(f"expected: {in_words(expected)}")
                _log.info("expected: %s", in_words(expected))
            if engine == FRAMES:
                labelled: Labelled = self._spend_on_frames(task, request, () if before is None else before.frames)
            else:
                labelled = self._spend(task, request, known)
            for name, ledger in zip(order.budgets, labelled.ledgers, strict=True):
                _log.info("%s: %.3f s spent%s", name, ledger.spent_s, "".join(f"; {note}" for note in ledger.notes))
            trace = self._trace(order, task, request, labelled)
            return self._write(part, order, task, labelled, trace, expected)

    def _replay(self, order: Order, task: Task) -> Done:
        trace = order.earlier
        assert trace is not None
        with results_folder(task.folder) as part:
            self.tell(f"replaying {task.source.name}")
            labelled = self._replayed(task, trace, order.wanted_engine)
            return self._write(part, order, task, labelled, trace, None)

    def _replayed(self, task: Task, trace: Trace, engine: str) -> Labelled:
        if engine == SUPERVOXELS:
            return replay(self.model.labeller.engine, task.source, trace)
        frames = self.model.labeller.frames
        assert frames is not None  # the model is that of the run
        n_budgets = len(trace.settings["budgets"])
        return replay_frames(frames, task.source, trace.frames, trace.video.n_frames, n_budgets)

    def _spend(self, task: Task, request: Request, earlier: Earlier | None) -> Labelled:
        failed = False
        try:
            return self.model.labeller.label(task.source, request, lambda: failed or self.stopped(), earlier)
        except BaseException:
            failed = True  # other threads would go on until the budget is spent, and the program would wait for them
            raise

    def _spend_on_frames(self, task: Task, request: Request, earlier: Sequence[FramesTrace]) -> ByFrames:
        failed = False
        try:
            return self.model.labeller.label_frames(task.source, request, lambda: failed or self.stopped(), earlier)
        except BaseException:
            failed = True
            raise

    def _write(
        self, part: Path, order: Order, task: Task, labelled: Labelled, trace: Trace, expected: Expected | None
    ) -> Done:
        mark, source = self.model.mark, task.source
        facts = {
            "video": {"name": source.name, "n_frames": trace.video.n_frames, "size": [source.width, source.height]},
            "model": {"name": mark.name, "digest": mark.digest},
            "resumed": None if order.resume is None else str(order.resume),
            "replayed": None if order.replay is None else str(order.replay),
            "engine": trace.engine,
            "expected": None
            if expected is None
            else {"global": expected.overall, "class_average": expected.class_average},
            "stopped": self.stopped(),
            "loading_s": self.model.loading_s,
            **self.facts,
        }
        run = Run(source, labelled, self.model.labeller.model, trace, facts)
        with self.progress(f"writing {source.name}", trace.video.n_frames) as advance:
            ledgers = write_results(part, run, order.wanted, advance)
        _log.info("written to %s", task.folder)
        return Done(task.folder, order.budgets, ledgers)

    def _trace(self, order: Order, task: Task, request: Request, labelled: Labelled) -> Trace:
        model, before = self.model, order.earlier
        settings = {
            "budgets": order.budgets,
            "scope": request.scope,
            "seed": request.seed,
            "window": request.window,
            "policy": model.policy,
            "select": model.select,
            "threads": model.labeller.threads,
            "engine": FRAMES if isinstance(labelled, ByFrames) else SUPERVOXELS,
        }
        earlier = {} if before is None else dict(enumerate(before.windows))
        windows = [WindowTrace.of(why, earlier.get(k)) for k, why in enumerate(labelled.whys)]
        video = VideoMark.of(task.source, len(labelled.labels[-1]))
        assert labelled.plan is not None
        frames = labelled.windows if isinstance(labelled, ByFrames) else ()
        return Trace(video, model.mark, settings, labelled.plan, windows, frames=frames)


def _read_earlier(folder: Path, trace: Trace) -> Earlier | None:
    """What the run in a folder knew; None where it came to nothing."""
    known = read_state(folder)
    if [len(one.supervoxels.ids) for one in known] != [window.n_frames for window in trace.windows]:
        raise UsageError(f"the state in '{folder}' is not that of its trace; label the video anew")
    return Earlier(trace.plan, known) if known else None
