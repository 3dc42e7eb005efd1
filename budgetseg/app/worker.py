"""What a worker of a job does: get ready once, look at videos, and label them.

Functions of this module are called by executors, in this process or elsewhere. All that reaches them is paths and plain
settings.
"""

import fcntl
import logging
import math
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from budgetseg import __version__
from budgetseg.app.labeller import Labeller, Order, Task
from budgetseg.app.model import LoadedModel, load
from budgetseg.app.outlook import Outlook, outlook_of
from budgetseg.app.spaces import needs_regions
from budgetseg.errors import BudgetsegError, OutputError, UsageError
from budgetseg.files import forget_leftovers
from budgetseg.machine import cache_folder
from budgetseg.networks.backends.registry import Wanted
from budgetseg.timing.clock import WallClock
from budgetseg.types import Budget

__all__ = ["Labelled", "Looked", "Setup", "kept", "label_video", "look_at", "stamp_of"]

_log = logging.getLogger(__name__)

LATE = 0.02
"""Share of a budget that opening a video may take before the budget shrinks: what is usual is in the price of files."""
LEAST = 0.1
"""Share of a budget that is left however late the worker is: so that the labels are of the content."""
_ready: dict["Setup", LoadedModel] = {}
"""Models that this process has loaded."""
_stops: list[Callable[[], bool]] = []
"""What ends the spending of this process, beside the file of the job."""


@dataclass(frozen=True)
class Setup:
    """How a worker gets ready.

    Attributes
    ----------
    model : name of a bundled model, or folder of another one; None where there are networks alone
    networks : files of networks in place of a model
    threads : cores of a worker
    policy, select, space : as of `load`
    wanted : back end and precision
    digest : of the model: a worker that finds another one refuses to work
    load : what loads the model, a function that workers can import
    version : of the program that the job was started with
    """

    model: str | None
    networks: tuple[Path, ...] = ()
    threads: int = 1
    policy: str | None = None
    select: str | None = None
    space: str = "auto"
    wanted: Wanted = field(default_factory=Wanted)
    digest: str = ""
    load: Callable[..., LoadedModel] = load
    version: str = __version__

    @property
    def measured(self) -> tuple[object, ...]:
        """What prices depend on, beside the machine."""
        return self.digest, self.model, self.networks, self.threads, self.space, self.wanted, self.version


@dataclass(frozen=True)
class Looked:
    """What is known of a video before it is labelled.

    Attributes
    ----------
    stamp : tells whether the file has changed
    outlook : what is expected of it, by seconds; None where it cannot be read
    why : it cannot be read
    """

    stamp: str
    outlook: Outlook | None = None
    why: str = ""


@dataclass(frozen=True)
class Labelled:
    """What came of labelling a video.

    Attributes
    ----------
    seconds : that the worker took, files and all
    spent_s : of the last budget
    expected : share of pixels that is expected to be right; None where no figure can be given
    is_prior : whether not one frame could be predicted
    digest : of the labels
    host : that labelled it
    """

    seconds: float
    spent_s: float
    expected: float | None
    is_prior: bool
    digest: str
    host: str


@contextmanager
def kept(setup: Setup, model: LoadedModel, stopped: Callable[[], bool]) -> Iterator[None]:
    """A block in which this process uses a model that was loaded before, and spends no more once `stopped` says so."""
    _ready[setup] = model
    _stops.append(stopped)
    try:
        yield
    finally:
        _stops.remove(stopped)
        del _ready[setup]


def look_at(setup: Setup, order: Order, paths: Sequence[Path]) -> list[Looked]:
    """What is known of some videos before they are labelled."""
    model = _model(setup)
    return [_look_at(setup, model, order, path) for path in paths]


def label_video(
    setup: Setup,
    order: Order,
    path: Path,
    budgets: Sequence[Budget],
    stop_file: Path,
    facts: Mapping[str, Any],
) -> Labelled:
    """Label a video into the folder of an order, within budgets.

    Parameters
    ----------
    setup : how this worker gets ready
    order : what is wanted
    path : of the video
    budgets : of this video, from when it is called
    stop_file : once it is there, no more time is spent
    facts : written to the ledgers
    """
    clock = WallClock()
    model = _model(setup)
    assert order.request is not None
    forget_leftovers(order.folder)  # of a run that was killed
    task = Task(order.open(path), order.folder)
    own = replace(order, request=replace(order.request, budgets=_rest_of(budgets, clock.now_s())))

    def stopped() -> bool:
        return any(stop() for stop in _stops) or stop_file.exists()

    written = Labeller(model, facts, stopped).run(own, task)
    last = written.ledgers[-1]
    promise = last["expected"]
    return Labelled(
        clock.now_s(),
        last["spent_s"],
        None if promise is None else promise["accuracy"],
        any(ledger["prior_only"] for ledger in written.ledgers),
        written.digest,
        socket.gethostname(),
    )


def _rest_of(budgets: Sequence[Budget], spent_s: float) -> tuple[Budget, ...]:
    """What is left of budgets after some seconds, in the same proportions; shares of the cost are left alone.

    A worker that is new has to get ready first, and the lease of the video goes on meanwhile.
    """
    last = budgets[-1]
    if last.is_share or last.amount == math.inf or spent_s < LATE * last.amount:
        return tuple(budgets)
    share = max(1 - spent_s / last.amount, LEAST)
    return tuple(replace(budget, amount=share * budget.amount) for budget in budgets)


def stamp_of(path: Path) -> str:
    """Size and time of a file or folder, which tell whether it has changed."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_size} {found.st_mtime_ns}"


def _look_at(setup: Setup, model: LoadedModel, order: Order, path: Path) -> Looked:
    stamp = stamp_of(path)
    try:
        source = order.open(path)
        with _once_alone(*setup.measured, source.width, source.height):  # what has to be measured for a new size
            assert order.request is not None
            name = model.choose(order.wanted_space, needs_regions(None, None, order.request.scope))
            space = model.space_for(name, source)
        return Looked(stamp, outlook_of(space, source, order.wanted))
    except OutputError:
        raise
    except BudgetsegError as error:
        return Looked(stamp, why=str(error))
    except (OSError, ValueError, ArithmeticError, LookupError) as error:  # of a library that reads files
        _log.exception("cannot look at %s", path)
        return Looked(stamp, why=f"{type(error).__name__}: {error}")


def _model(setup: Setup) -> LoadedModel:
    """The model, loaded by the first call."""
    if setup.version != __version__:
        raise UsageError(
            f"'{socket.gethostname()}' has budgetseg {__version__}, and the job was started by {setup.version}; "
            "install the same version everywhere"
        )
    if setup not in _ready:
        with _once_alone(*setup.measured):
            model = setup.load(
                setup.model,
                setup.threads,
                setup.policy,
                setup.select,
                setup.space,
                networks=setup.networks,
                wanted=setup.wanted,
            )
        if setup.digest and model.mark is not None and model.mark.digest != setup.digest:
            raise UsageError(
                f"'{socket.gethostname()}' has another model '{model.mark.name}'; install the same one everywhere"
            )
        _ready[setup] = model
    return _ready[setup]


@contextmanager
def _once_alone(*what: object) -> Iterator[None]:
    """A block that one process of a machine does alone, the first time: prices are measured once, and undisturbed.

    `what` says what is got ready. Once a process has done that, others need not wait for each other.
    """
    folder = cache_folder() / "ready"
    mark = folder / sha256(repr(what).encode()).hexdigest()[:20]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:  # nothing can be kept there, and every process measures for itself
        yield
        return
    try:
        if not mark.exists():
            with suppress(OSError):
                fcntl.lockf(file, fcntl.LOCK_EX)
        yield
        with suppress(OSError):
            mark.touch()
    finally:
        os.close(file)
