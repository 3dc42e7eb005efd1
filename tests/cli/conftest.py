"""What several commands are tested with."""

from collections.abc import Callable

import pytest

from budgetseg.cli.app import main


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The line that a command with bad input ends with, after checking that the exit code is 2."""

    def refused(*words: object) -> str:
        monkeypatch.setattr("sys.argv", ["budgetseg", *map(str, words)])
        with pytest.raises(SystemExit) as exit_:
            main()
        assert exit_.value.code == 2
        out, err = capsys.readouterr()
        assert out == ""
        (line,) = err.splitlines()
        assert line.startswith("budgetseg: ")
        return line

    return refused
