"""A trace tells a run, and which video and model it was of."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from budgetseg.engine.known import Step

from budgetseg.app.trace import TRACE, ModelMark, Trace, VideoMark, WindowTrace, read_trace, write_trace
from budgetseg.engine.plan import Plan
from budgetseg.errors import UsageError
from budgetseg.video import open_video
from tests.app.streets import write_street
from tests.models.made import HAND_MADE, random_model


def made() -> Trace:
    steps = [Step(3, 0, 0.125, 0.5, 0.375), Step(1, 1, 0.625, 0.25)]
    windows = [
        WindowTrace(5, (96, 128), 125, steps, [(1, 7), (2, None)], [0, 1]),
        WindowTrace(4, (48, 64), 100, [], [(0, None)], [0, 0]),
    ]
    video, model = (
        VideoMark("street", 9, 64, 48, "0f"),
        ModelMark("town", "/models/town", "a1", ("road", "sky"), ((1, 2, 3), (4, 5, 6)), ("colour", "hog")),
    )
    settings = {"budgets": ["2s", "inf"], "scope": "total", "seed": 3}
    return Trace(
        video, model, settings, Plan(9, (48, 64), 25.0, stride=2, read_size=(96, 128)), windows, ("labels/0.png", TRACE)
    )


def test_a_trace_comes_back_as_it_was(tmp_path: Path) -> None:
    trace = made()
    write_trace(tmp_path / TRACE, trace)
    found = read_trace(tmp_path)
    for name in ("video", "model", "settings", "plan", "files"):
        assert getattr(found, name) == getattr(trace, name), name
    for before, after in zip(trace.windows, found.windows, strict=True):
        assert vars(before) == vars(after)


def test_a_folder_without_a_usable_trace_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no run, there is no trace.json; give a folder that 'budgetseg label'"):
        read_trace(tmp_path)
    write_trace(tmp_path / TRACE, made())
    stored = json.loads((tmp_path / TRACE).read_text())
    for damage, line in (
        ("[]", "is damaged"),
        ("{", "is damaged"),
        (json.dumps(stored | {"format": 99}), "has format 99, not 6; label the video anew"),
        (json.dumps(stored | {"plan": {}}), "is damaged"),
        (json.dumps(stored | {"windows": [{}]}), "is damaged"),
        (json.dumps(stored | {"model": stored["model"] | {"colours": [[1, 2]]}}), "a colour for each class"),
    ):
        (tmp_path / TRACE).write_text(damage)
        with pytest.raises(UsageError, match=line):
            read_trace(tmp_path)


def test_a_video_is_known_by_its_pixels_and_size_not_by_its_name(tmp_path: Path) -> None:
    source = open_video(write_street(tmp_path / "a.mp4"))
    mark = VideoMark.of(source, source.count())
    mark.check(source)
    mark.check(open_video((tmp_path / "a.mp4").rename(tmp_path / "b.mp4")))
    for other in (write_street(tmp_path / "c.mp4", seed=2), write_street(tmp_path / "d.mp4", n_frames=5)):
        with pytest.raises(UsageError, match="is not the video of that run, 'a' with 12 frames of 96×64; give that"):
            mark.check(open_video(other))


def test_a_model_is_known_by_what_it_holds_not_by_its_place(tmp_path: Path) -> None:
    for name, content in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(content)
    models = [replace(random_model(HAND_MADE), name=name) for name in "abc"]
    a, b, c = (ModelMark.of(model, tmp_path / model.name, is_bundled=False) for model in models)
    a.check(b)
    with pytest.raises(
        UsageError, match=r"c' is not the model of that run, 'a' from '.*a'; give that one with --model"
    ):
        a.check(c)
    assert ModelMark.of(models[0], tmp_path / "a", is_bundled=True) == replace(a, place="a")
