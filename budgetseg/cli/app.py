"""The `budgetseg` program: its commands, and how it ends.

An error of input or of usage prints one line and exits with 2. Ctrl-C prints one line and exits with 130, SIGTERM with
143, the end of the terminal with 129. After SIGTERM the program is gone within two seconds, whatever it does.
"""

import errno
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from budgetseg import __version__
from budgetseg.cli import (
    adapt,
    datasets,
    demo,
    describe,
    doctor,
    evaluate,
    export,
    label,
    live,
    models,
    network,
    report,
    supervoxels,
    train,
    train_network,
)
from budgetseg.cli.bench import bench
from budgetseg.cli.guard import Guard, guarded
from budgetseg.cli.logs import start_logging
from budgetseg.cli.streams import Outlet, outlets
from budgetseg.errors import BudgetsegError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Label every pixel of a video within a time budget.",
    no_args_is_help=True,
    rich_markup_mode=None,  # markup would swallow [train] and the like
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
app.command()(demo.demo)
app.command()(label.label)
app.command()(live.live)
app.command()(supervoxels.supervoxels)
app.command("adapt")(adapt.adapt)
app.command("describe")(describe.describe)
app.command("train-network")(train_network.train_network)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("report")(report.report)
app.command("export")(export.export)
app.command("models")(models.models)
app.command("doctor")(doctor.doctor)
app.add_typer(datasets.app, name="datasets")
app.add_typer(network.app, name="network")
app.add_typer(bench, name="bench")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"budgetseg {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log what is done, with the time, to standard error.")
    ] = False,
    version: Annotated[  # noqa: ARG001  # its callback has printed it
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Label every pixel of a video within a time budget."""
    if verbose:
        context.call_on_close(start_logging())


class _Terminated(BaseException):
    """SIGTERM, as an exception: every `finally` runs and removes half-written files."""


class _HungUp(BaseException):
    """SIGHUP, the end of the terminal, as an exception."""


_PARSER_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The parser's UsageError, which typer takes from click or, since it brings its own copy, from there."""

_STOPS: dict[type[BaseException], tuple[str, int]] = {
    KeyboardInterrupt: ("interrupted", 128 + signal.SIGINT),
    _Terminated: ("terminated", 128 + signal.SIGTERM),
    _HungUp: ("hung up", 128 + signal.SIGHUP),
}
_SIGNALS: dict[int, type[BaseException]] = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGTERM: _Terminated,
    signal.SIGHUP: _HungUp,
}
_WORDS: dict[int, str] = {number: _STOPS[stop][0] for number, stop in _SIGNALS.items()}

_TOO_MUCH = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN)
"""Errors of a system that gives no more memory, open files or threads."""

AGAIN_S = 0.5
"""Seconds after which a signal raises again, if its exception was lost."""


def main() -> None:
    """Run the program and exit: 0 if all went well, 2 after an error, 130 or 143 where a signal stopped it."""
    with outlets() as (output, _), guarded(_WORDS) as guard:
        try:
            with _stoppable(guard):
                code = app(prog_name="budgetseg", standalone_mode=False) or 0
            if code == _STOPS[KeyboardInterrupt][1]:  # typer has caught it
                _say_stopped("interrupted")
        except BaseException as error:
            code = _explain(error)
        guard.is_said = True
        output.flush()
        if output.failure is not None and code == 0:
            code = _explain_output(output)
    sys.exit(code)


@contextmanager
def _stoppable(guard: Guard | None = None) -> Iterator[None]:
    """Let signals raise within the block, again until an exception arrives; ignored signals stay ignored.

    An exception is lost if the signal comes while an extension calls Python and ignores what that raises. Where
    there is a guard and a signal came, others are ignored after the block: the program ends.
    """
    raised: type[BaseException] = KeyboardInterrupt

    def raise_again(number: int, _: object) -> None:
        nonlocal raised
        if any(type(cause) in _STOPS for cause in _causes(sys.exc_info()[1])):
            return  # the exception arrived, and must not interrupt the cleaning up
        raised = _SIGNALS.get(number, raised)
        if guard is not None and number in _SIGNALS:
            guard.heeded.append(number)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
        raise raised

    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    numbers = (*heeded, signal.SIGALRM)
    timer = signal.getitimer(signal.ITIMER_REAL)
    before = [signal.signal(number, raise_again) for number in numbers]
    tell = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type in _STOPS else tell(lost)
    try:
        yield
    finally:
        sys.unraisablehook = tell
        signal.setitimer(signal.ITIMER_REAL, *timer)
        is_ending = guard is not None and len(guard.heeded) > 0
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, signal.SIG_IGN if is_ending else handler)


def _explain(error: BaseException) -> int:
    """Print one line on what ended the program and return its exit code; unexpected errors are raised again."""
    if isinstance(error, BudgetsegError):
        typer.echo(f"budgetseg: {' '.join(str(error).splitlines())}", err=True)
        return 2
    if isinstance(error, _PARSER_ERROR):
        _say_misused(error)
        return 2
    line = _line_of_lack(error)
    if line is not None:
        typer.echo(f"budgetseg: {line}", err=True)
        return 2
    stop = next((_STOPS[type(cause)] for cause in _causes(error) if type(cause) in _STOPS), None)
    if stop is None:
        raise error
    _say_stopped(stop[0])
    return stop[1]


def _line_of_lack(error: BaseException) -> str | None:
    """What the system did not give, in words; None for any other error."""
    if any(type(cause) in _STOPS for cause in _causes(error)):
        return None
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "the system gives no more threads; end other programs, or use fewer --threads"
    if isinstance(error, OSError) and error.errno in _TOO_MUCH:
        return f"the system gives no more ({error.strerror}); end other programs, or use fewer --threads"
    if isinstance(error, MemoryError) or "Insufficient memory" in str(error) or "bad_alloc" in str(error):
        return "there is not enough memory; label fewer or smaller frames (--start, --end, --stride)"
    return None


def _explain_output(output: Outlet) -> int:
    """Say that standard output failed, and return the exit code; nothing to say where the reader has gone."""
    if output.is_closed_pipe:
        return 128 + signal.SIGPIPE
    assert output.failure is not None
    typer.echo(f"budgetseg: cannot print ({output.failure.strerror}); files that were written are kept", err=True)
    return 2


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from: compiled code turns a signal into a SystemError."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _say_stopped(how: str) -> None:
    typer.echo(f"budgetseg: {how}; no half-written file is left", err=True)


def _say_misused(error: Any) -> None:
    message = error.format_message()
    if not message or "\n" in message:  # no error: the help of a command that was given nothing
        typer.echo(message, err=True)
        return
    command = error.ctx.command_path if error.ctx else "budgetseg"
    typer.echo(f"budgetseg: {message[0].lower()}{message[1:].rstrip('.')}; see {command} --help", err=True)
