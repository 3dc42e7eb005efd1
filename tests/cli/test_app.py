"""The program as a whole."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import budgetseg
import budgetseg.cli.app as program
from budgetseg.cli.app import app, main

Ending = tuple[int, str, str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ending]:
    """Run the program as a shell does: its exit code, standard output and standard error."""

    def run(*words: str) -> Ending:
        monkeypatch.setattr("sys.argv", ["budgetseg", *words])
        with pytest.raises(SystemExit) as exit_:
            main()
        assert isinstance(exit_.value.code, int)
        return exit_.value.code, *capsys.readouterr()

    return run


def commands(group: typer.Typer, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command with the words that lead to it."""
    return [(*path, name) for name in getattr(typer.main.get_command(group), "commands", {})]


@pytest.mark.parametrize(
    "words", [*commands(app), ("bench", "supervoxels"), ("datasets", "check"), ("datasets", "list")]
)
def test_every_command_explains_itself_and_drops_no_word(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*words, "--help"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) > 5
    command: Any = typer.main.get_command(app)
    for word in words:
        command = command.commands[word]
    shown = "".join(result.stdout.split())
    for text in (command.help, *(param.help for param in command.params)):
        assert "".join((text or "").replace("\b", "").split()) in shown


def test_the_version_is_the_packages() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"budgetseg {budgetseg.__version__}\n"


def test_the_package_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "budgetseg", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("budgetseg ")


def test_importing_the_package_loads_no_large_library_and_warns_of_nothing() -> None:
    large = "av, cv2, numba, onnxruntime, rich, scipy, sklearn, torch"
    code = f"import sys, budgetseg, budgetseg.cli; print([one for one in '{large}'.split(', ') if one in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["frob"], "no such command 'frob'; see budgetseg --help"),
        (["supervoxels"], "missing argument 'video'; see budgetseg supervoxels --help"),
        (["supervoxels", "x", "--frob"], "no such option: --frob; see budgetseg supervoxels --help"),
        (["supervoxels", "x", "-n", "many"], "invalid value for '-n'"),
        (["supervoxels", "x", "--stride"], "option '--stride' requires an argument"),
        (["bench", "supervoxels", "--repeats", "0"], "see budgetseg bench supervoxels --help"),
    ],
)
def test_a_slip_on_the_command_line_is_one_line_and_exit_code_2(
    run: Callable[..., Ending], words: list[str], line: str
) -> None:
    code, out, err = run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("budgetseg: ")
    assert line in err


@pytest.mark.parametrize("words", [[], ["bench"]])
def test_nothing_asked_for_gets_the_help(run: Callable[..., Ending], words: list[str]) -> None:
    code, out, err = run(*words)
    assert code == 2
    assert "Usage: budgetseg" in out + err
    assert "supervoxels" in out + err


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["datasets", "list"]])
def test_a_run_that_ends_well_exits_with_0(run: Callable[..., Ending], words: list[str]) -> None:
    assert run(*words)[::2] == (0, "")


def test_bash_completes_commands_and_names() -> None:
    script = """
        eval "$(_BUDGETSEG_COMPLETE=source_bash "$0")"
        for line in "budgetseg lab" "budgetseg label x.mp4 --space f" "budgetseg label x.mp4 --engine r"; do
            COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _budgetseg_completion "$0"; echo "${COMPREPLY[@]}"
        done
    """
    program = Path(sys.executable).with_name("budgetseg")
    done = subprocess.run(["bash", "-c", script, str(program)], capture_output=True, text=True, check=True)
    assert (done.stdout.splitlines(), done.stderr) == (["label", "frames", "regions"], "")


def test_compiled_code_that_hides_ctrl_c_still_ends_in_one_line(
    run: Callable[..., Ending], monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiled(*_: object) -> None:
        raise SystemError("CPUDispatcher returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("budgetseg.datasets.synthetic.render", compiled)
    assert run("demo") == (130, "", "budgetseg: interrupted; no half-written file is left\n")


def test_an_error_that_nobody_expects_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise SystemError("a bug")

    monkeypatch.setattr("budgetseg.datasets.synthetic.render", broken)
    monkeypatch.setattr("sys.argv", ["budgetseg", "demo"])
    with pytest.raises(SystemError, match="a bug"):
        main()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_somebody_swallows_raises_again_but_not_while_it_is_cleared_up(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr(program, "AGAIN_S", 0.05)
    of_suite = signal.signal(number, signal.default_int_handler)  # which may ignore it
    before, timer, cleared = signal.getsignal(number), signal.getitimer(signal.ITIMER_REAL), list[bool]()

    def work() -> None:
        with suppress(BaseException):
            signal.raise_signal(number)
        try:
            time.sleep(10)
        finally:
            time.sleep(0.3)  # longer than until the next time
            cleared.append(True)

    with pytest.raises(program._SIGNALS[number]), program._stoppable():
        work()
    assert cleared == [True]
    assert signal.getsignal(number) == before
    signal.signal(number, signal.SIG_IGN)
    with program._stoppable():
        signal.raise_signal(number)  # as in the background of a shell
    signal.signal(number, of_suite)
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) == (timer[0] > 0)


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(("stop", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_a_stopped_command_says_so_and_leaves_nothing(
    tmp_path: Path, long_street: Path, stop: signal.Signals, word: str
) -> None:
    out_folder = tmp_path / "new" / "out"
    out_folder.parent.mkdir()
    words = [sys.executable, "-m", "budgetseg", "supervoxels", str(long_street), "--json", "-o", str(out_folder)]
    pipe = subprocess.PIPE
    # A suite that a shell runs in the background ignores Ctrl-C, and so would the command.
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, preexec_fn=_heed_ctrl_c) as process:
        while process.poll() is None and not list(out_folder.parent.iterdir()):
            time.sleep(0.01)
        process.send_signal(stop)
        out, err = process.communicate()
    assert (process.returncode, out) == (128 + stop, "")
    assert err == f"budgetseg: {word}; no half-written file is left\n"
    assert not list(out_folder.parent.iterdir())
