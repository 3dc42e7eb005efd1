"""The work behind `budgetseg label`: a video becomes a folder of results. Earlier runs can be resumed or replayed."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.backends import inexact, read_choices, stored_choices
from budgetseg.app.manifest import MANIFEST
from budgetseg.app.marks import VideoMark
from budgetseg.app.model import LoadedModel
from budgetseg.app.output import Wanted, budget_name, check_place, results_folder, write_results
from budgetseg.app.spaces import AUTO, REGIONS, needs_regions, space_named
from budgetseg.app.state import check_memory, read_state
from budgetseg.app.trace import Trace, read_trace, span_of
from budgetseg.app.videos import WHOLE, is_one_video, open_counted
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import Earlier
from budgetseg.errors import OutputError, UsageError
from budgetseg.types import Budget
from budgetseg.video import VideoSource
from budgetseg.video.core import Span
from budgetseg.video.health import check_sound, health_of

__all__ = ["FILES", "Labeller", "Order", "Task", "Written"]

FILES = "files {} overlay"
"""Name of the price of writing the files of a video, by its pixels; `with` or `without`."""

_log = logging.getLogger(__name__)

Progress = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class Task:
    """A video to label.

    Attributes
    ----------
    source : the video
    folder : for its results
    """

    source: VideoSource
    folder: Path


@dataclass(frozen=True, eq=False)
class Order:
    """What a user wants labelled, and where the results go.

    Attributes
    ----------
    videos : what names them; see `find_videos`
    request : budgets and how they are counted; None for a replay
    resume : folder of a run to continue
    replay : folder of a run to repeat
    output : folder for results; None for the usual one
    wanted : optional files to write
    space : frames, regions, or auto; an earlier run is continued or repeated in its own space
    span : the frames to label; None for all, or those of the earlier run
    target : share of right pixels, 0 to 1, to reach by frames within the budget of the request; None to spend it all
    strict : whether videos with missing or damaged frames are refused
    most_bytes : memory that a frame may need; None for what is free
    """

    videos: Sequence[Path]
    request: Request | None
    resume: Path | None = None
    replay: Path | None = None
    output: Path | None = None
    wanted: Wanted = field(default_factory=Wanted)
    space: str = AUTO
    span: Span | None = None
    target: float | None = None
    strict: bool = False
    most_bytes: int | None = None

    @cached_property
    def earlier(self) -> Trace | None:
        """The trace of the run to resume or replay; None if there is none."""
        folder = self.resume or self.replay
        return None if folder is None else read_trace(folder)

    @property
    def budgets(self) -> list[str]:
        """Names of the budgets."""
        if self.request is not None:
            return [budget_name(budget) for budget in self.request.budgets]
        return [] if self.earlier is None else self.earlier.budgets

    @property
    def wanted_space(self) -> str:
        """The space that the user asks for, or that of the earlier run; UsageError if they differ."""
        asked = space_named(self.space)
        space = asked if self.earlier is None else self.earlier.space
        if asked not in (AUTO, space):
            raise UsageError(f"the earlier run was by {space}; leave out --space, or label the video again")
        return space

    @property
    def wanted_span(self) -> Span | None:
        """The frames that the user asks for, or those of the earlier run; UsageError if they differ."""
        if self.earlier is None:
            return self.span
        own = span_of(self.earlier)
        if self.span not in (None, own):
            raise UsageError(
                f"the earlier run took --start {own.start}, {'no --end' if own.end is None else f'--end {own.end}'}, "
                f"--stride {own.stride}; leave these options out, or label the video again"
            )
        return own

    @property
    def folder(self) -> Path:
        """For the results."""
        return self.output or self.resume or Path("labelled" if self.replay is None else "replayed")

    @property
    def is_job(self) -> bool:
        """Whether there may be several videos, with a folder for each in that of the results."""
        return not is_one_video(self.videos)

    def task(self) -> Task:
        """The one video to label; an error if something cannot be read, written or resumed."""
        if self.resume is not None and self.replay is not None:
            raise UsageError("--resume and --replay cannot be combined; give one of them")
        task = Task(self.open(self.videos[0]), self.folder)
        if self.earlier is not None:
            self.earlier.video.check(task.source)
        if (task.folder / MANIFEST).exists():
            raise OutputError(f"'{task.folder}' holds a job of several videos; choose another folder")
        check_place(task.folder, self.folders)
        return task

    def open(self, path: Path) -> VideoSource:
        """The frames to label of one of the videos; VideoError where it is refused."""
        source = open_counted(path, self.wanted_span or WHOLE, self.most_bytes)
        if self.strict:
            check_sound(source)
        return source

    def check_many(self) -> None:
        """Raise UsageError where several videos are asked for together with what takes one."""
        if self.request is None or self.earlier is not None:
            raise UsageError("--resume and --replay take one video; give a video file or a folder of images")

    @property
    def folders(self) -> Sequence[str]:
        """Names of the folders of the budgets of a video; none for a single budget."""
        return self.budgets if len(self.budgets) > 1 else ()


@dataclass(frozen=True, eq=False)
class Written:
    """The results of a video, on disk.

    Attributes
    ----------
    folder : that holds them
    budgets : names of the budgets
    ledgers : contents of the ledger files, one for each budget
    digest : of the labels at the last budget
    """

    folder: Path
    budgets: Sequence[str]
    ledgers: Sequence[dict[str, Any]]
    digest: str


@dataclass(frozen=True, eq=False)
class Labeller:
    """Labels videos with one model.

    Attributes
    ----------
    model : that labels
    facts : written to the ledgers in addition to their own figures
    stopped : once it returns True, no more time is spent
    progress : shows how much is written: (what, number of frames) -> context with a function to call for each frame
    tell : called with a line on what is being done
    """

    model: LoadedModel
    facts: Mapping[str, Any] = field(default_factory=dict)
    stopped: Callable[[], bool] = lambda: False
    progress: Progress = lambda *_: nullcontext(lambda _: None)
    tell: Callable[[str], None] = lambda _: None

    def run(self, order: Order, task: Task) -> Written:
        """Label a video as an order has it."""
        if order.earlier is not None:
            assert self.model.mark is not None
            order.earlier.model.check(self.model.mark)
        return self._replay(order, task) if order.request is None else self._label(order, task, order.request)

    def _label(self, order: Order, task: Task, request: Request) -> Written:
        before = order.earlier
        earlier = None
        space = self.model.choose(order.wanted_space, needs_regions(None, None, request.scope))
        if before is not None and order.resume is not None:
            earlier = _read_earlier(order.resume, before, self.model)
            request = replace(request, window=before.windows[0].n_frames if before.windows else None)
        with results_folder(task.folder) as part:
            budgets = " ".join(map(budget_name, request.budgets))
            self.tell(f"labelling {task.source.name} by {space} within {budgets}")
            _log.info("labelling %s by %s within %s", task.source.name, space, budgets)
            if order.target is None:
                results = self.model.run(task.source, request, space, self.stopped, earlier)
            else:
                results = self.model.reach(task.source, request, order.target, self.stopped, self.tell)
            for name, result in zip(order.budgets, results, strict=True):
                ledger = result.ledger
                _log.info("%s: %.3f s spent%s", name, ledger.spent_s, "".join(f"; {note}" for note in ledger.notes))
            trace = self._trace(order, task, request, results, () if earlier is None else earlier.sources)
            return self._write(part, order, task, results, trace)

    def _replay(self, order: Order, task: Task) -> Written:
        trace = order.earlier
        assert trace is not None
        with results_folder(task.folder) as part:
            self.tell(f"replaying {task.source.name}")
            # Amounts of budgets do not matter: the actions are those of the trace.
            budgets = tuple(Budget(float(k + 1)) for k in range(len(trace.budgets)))
            request = Request(budgets, str(trace.settings["scope"]), explain=order.wanted.why)
            earlier = Earlier(trace.plan, trace.windows, sources=trace.sources)
            results = self.model.replay(task.source, request, order.wanted_space, earlier, trace.video.n_frames)
            results = [replace(result, ledger=replace(result.ledger, budget_s=None)) for result in results]
            return self._write(part, order, task, results, trace)

    def _write(self, part: Path, order: Order, task: Task, results: Sequence[Result], trace: Trace) -> Written:
        source = task.source
        runners = self.model.runners(trace.space, source)
        if order.earlier is not None:
            for line in inexact(read_choices(order.earlier.settings), runners):
                for result in results:
                    result.ledger.note(line)
        facts = {
            "video": {"name": source.name, "n_frames": trace.video.n_frames, "size": [source.width, source.height]},
            "model": {"name": trace.model.name, "digest": trace.model.digest},
            "resumed": None if order.resume is None else str(order.resume),
            "replayed": None if order.replay is None else str(order.replay),
            "space": trace.space,
            "backends": stored_choices(runners),
            "stopped": self.stopped(),
            "loading_s": self.model.loading_s,
            **self.facts,
        }
        wrong = health_of(source, trace.video.n_frames).words
        if wrong:
            _log.warning("'%s': %s", source.clip.path, wrong)
            for result in results:
                result.ledger.note(f"{wrong}; --strict refuses such a video")
        with self.progress(f"writing {source.name}", trace.video.n_frames) as advance:
            ledgers = write_results(part, source, results, trace, facts, order.wanted, advance)
        work = float(trace.video.n_frames * source.width * source.height)
        self.model.prices.observe_stage(
            FILES.format("with" if order.wanted.overlay else "without"), work, ledgers[-1]["writing_s"]
        )
        _log.info("written to %s", task.folder)
        digest = sha256(np.ascontiguousarray(results[-1].labels).data).hexdigest()
        return Written(task.folder, order.budgets, ledgers, digest)

    def _trace(
        self, order: Order, task: Task, request: Request, results: Sequence[Result], names: Sequence[str]
    ) -> Trace:
        model = self.model
        last = results[-1]
        assert model.mark is not None
        settings = {
            "budgets": order.budgets,
            "scope": request.scope,
            "seed": request.seed,
            "window": request.window,
            "policy": model.policy,
            "select": model.select,
            "threads": model.threads,
            "backends": stored_choices(model.runners(last.space, task.source)),
            "span": [task.source.span.start, task.source.span.end, task.source.span.stride],
        }
        sources = tuple(names or model.space_for(last.space, task.source).sources)
        video = VideoMark.of(task.source, len(last.labels))
        return Trace(video, model.mark, settings, last.space, sources, last.plan, last.windows)


def _read_earlier(folder: Path, trace: Trace, model: LoadedModel) -> Earlier | None:
    """The run in a folder, with what it knew at its end; None if it labelled nothing."""
    if trace.space != REGIONS:
        return Earlier(trace.plan, trace.windows, sources=trace.sources) if trace.windows else None
    windows = [window for window in trace.windows if window.n_places]  # the state has no windows without supervoxels
    memory = read_state(folder)
    try:
        if [len(known.supervoxels) for known in memory] != [window.n_places for window in windows]:
            raise ValueError("other supervoxels")
        h = model.trained.classifiers
        for known, window in zip(memory, windows, strict=True):
            shape = len(window.read), *window.size
            check_memory(known, shape, 1 << len(h.names), h.n_labels, sum(h.lengths[1:]))
    except ValueError as error:
        raise UsageError(f"the state in '{folder}' does not fit its trace ({error}); label the video again") from None
    return Earlier(trace.plan, windows, memory) if windows else None
