"""A trace holds a run of either space, as it was."""

import json
from pathlib import Path
from typing import Any

import pytest

from budgetseg.app.marks import ModelMark, VideoMark
from budgetseg.app.trace import TRACE, Trace, read_trace, write_trace
from budgetseg.engine.plan import Plan
from budgetseg.engine.trace import Event, Finish, WindowTrace
from budgetseg.errors import UsageError

VIDEO = VideoMark("street", 9, 64, 48, "0f")
MODEL = ModelMark("town", "/models/town", "a1", ("road", "sky"), ((1, 2, 3), (4, 5, 6)), ("colour", "hog"))
SETTINGS = {"budgets": ["2s", "inf"], "scope": "total", "seed": 3}


def made(space: str = "regions") -> Trace:
    events = [Event(3, 0, 0.125, 0.5, 0.375), Event(1, 1, 0.625, 0.25)]
    finishes = [Finish(1, n_moves=7), Finish(2)]
    windows = [
        WindowTrace(5, (0, 2, 4), (96, 128), 125, events, finishes),
        WindowTrace(4, (), (48, 64), 100, [], [Finish(0, prior=True), Finish(0)]),
    ]
    plan = Plan(9, (48, 64), stride=2, density=25.0, read_size=(96, 128))
    if space == "frames":
        finish = Finish(
            2, n_read=3, carry="flow", edges=True, positions=tuple(map(float, range(9))), cuts=(3,), late=(1, 3)
        )
        windows = [
            WindowTrace(
                9,
                (0, 8, 4),
                (48, 64),
                9,
                events,
                [Finish(1, n_read=2, carry="copy", positions=tuple(map(float, range(9)))), finish],
            )
        ]
        plan = Plan(9, (48, 64), stride=4, network="large", n_keys=2, carry="flow", edges=True, cost_s=0.5, score=1.5)
    sources = ("colour", "hog") if space == "regions" else ("small", "large")
    return Trace(VIDEO, MODEL, SETTINGS, space, sources, plan, windows, ("labels/0.png", TRACE))


def stored(folder: Path, space: str = "regions") -> dict[str, Any]:
    write_trace(folder / TRACE, made(space))
    found: dict[str, Any] = json.loads((folder / TRACE).read_text())
    return found


@pytest.mark.parametrize("space", ["frames", "regions"])
def test_a_trace_comes_back_as_it_was(tmp_path: Path, space: str) -> None:
    trace = made(space)
    write_trace(tmp_path / TRACE, trace)
    found = read_trace(tmp_path)
    for name in ("video", "model", "settings", "space", "sources", "plan", "files", "budgets"):
        assert getattr(found, name) == getattr(trace, name), name
    for before, after in zip(trace.windows, found.windows, strict=True):
        assert vars(before) == vars(after)


def test_a_folder_without_a_trace_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no run, trace.json is missing; give a folder that 'budgetseg label'"):
        read_trace(tmp_path)


@pytest.mark.parametrize("number", [1, 6, 7, 99])
def test_a_trace_of_another_format_is_one_line_that_says_to_label_anew(tmp_path: Path, number: int) -> None:
    (tmp_path / TRACE).write_text(json.dumps({"format": number, "video": {}, "frames": []}))
    with pytest.raises(UsageError) as error:
        read_trace(tmp_path)
    assert str(error.value) == f"'{tmp_path / TRACE}' has format {number}, not 8; label the video again"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"plan": {}}, "a plan must have all its fields"),
        ({"windows": [{}]}, ""),
        ({"windows": None}, ""),
        ({"space": "pixels"}, "no space 'pixels'"),
        ({"space": "auto"}, "no space 'auto'"),
        ({"sources": ["colour"]}, "actions with sources that are not there"),
        ({"video": {"name": "street"}}, ""),
        ({"model": {"name": "town"}}, ""),
        ({"files": 3}, ""),
        ({"settings": SETTINGS | {"budgets": ["../../elsewhere", "inf"]}}, "budgets that are none"),
        ({"settings": SETTINGS | {"budgets": ["/tmp/elsewhere", "inf"]}}, "budgets that are none"),
        ({"settings": SETTINGS | {"budgets": ["2s", "2s"]}}, "budgets that are none"),
        ({"settings": SETTINGS | {"budgets": ["2s"]}}, "windows that do not fit"),
        ({"settings": SETTINGS | {"span": [-1, None, 1]}}, "start must be 0 or more"),
        ({"video": {**vars(VIDEO), "width": -1}}, "is no whole number"),
        ({"plan": {**vars(made().plan), "n_frames": 900}}, "a plan that does not fit the video"),
        ({"plan": {**vars(made().plan), "stride": 0}}, "is no whole number"),
        ({"plan": {**vars(made().plan), "density": 1e300}}, "is no number"),
        ({"plan": {**vars(made().plan), "size": [20000, 20000]}}, "is no whole number"),
    ],
)
def test_a_damaged_trace_is_one_line(tmp_path: Path, change: dict[str, Any], line: str) -> None:
    (tmp_path / TRACE).write_text(json.dumps(stored(tmp_path) | change))
    with pytest.raises(UsageError, match=rf"trace.json' is damaged \(.*{line}.*\); label the video again"):
        read_trace(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{", "", "7", "null"])
def test_a_file_that_is_no_trace_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / TRACE).write_text(text)
    with pytest.raises(UsageError, match="is damaged") as error:
        read_trace(tmp_path)
    assert str(error.value).endswith("; label the video again")
    assert "\n" not in str(error.value)


def test_a_model_without_a_colour_for_each_class_is_refused(tmp_path: Path) -> None:
    found = stored(tmp_path)
    (tmp_path / TRACE).write_text(json.dumps(found | {"model": found["model"] | {"colours": [[1, 2]]}}))
    with pytest.raises(UsageError, match="a colour for each class"):
        read_trace(tmp_path)
