"""Ctrl-C ends kindly first."""

import signal

import pytest

from budgetseg.cli.stop import ended_by_ctrl_c


def test_the_first_asks_and_the_second_raises(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with ended_by_ctrl_c("ending") as ended:
        assert not ended()
        signal.raise_signal(signal.SIGINT)
        assert ended()
        assert capsys.readouterr().err == "ending\n"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
