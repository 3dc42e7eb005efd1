"""How commands talk on a terminal and in a pipe."""

import json

import pytest

from budgetseg.cli import console
from budgetseg.timing.clock import ManualClock


def test_a_terminal_gets_a_drawn_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    console.print_table(("split", "frames"), [("train", "367")])
    drawn = capsys.readouterr().out
    assert "│ train │ 367" in drawn


def test_a_pipe_gets_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_table(("split", "frames"), [("train", "367")])
    assert capsys.readouterr().out == "split  frames\ntrain  367\n\n"


def test_progress_in_a_pipe_is_a_plain_line_with_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = ManualClock()
    with console.progress("work", 10, clock=clock) as advance:
        clock.advance(20.0)
        advance(5)
        clock.advance(1.0)
        advance(5)
    assert capsys.readouterr() == ("", "work: 5 of 10 frames, about 20 s left\n")


def test_progress_on_a_terminal_leaves_standard_output_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with console.progress("work", 2) as advance:
        advance(2)
    assert capsys.readouterr().out == ""


def test_json_is_one_object_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_json({"n": 1})
    assert json.loads(capsys.readouterr().out) == {"n": 1}
