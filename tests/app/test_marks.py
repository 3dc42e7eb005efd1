"""A video is known again by its pixels and size, a model by what it holds."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from budgetseg.app.marks import ModelMark, VideoMark, mark_of
from budgetseg.errors import UsageError
from budgetseg.video import open_video
from tests.app.streets import write_street
from tests.models.made import HAND_MADE, random_model


def test_a_video_is_known_by_its_pixels_and_size_not_by_its_name(tmp_path: Path) -> None:
    source = open_video(write_street(tmp_path / "a.mp4"))
    mark = VideoMark.of(source, source.count())
    mark.check(source)
    mark.check(open_video((tmp_path / "a.mp4").rename(tmp_path / "b.mp4")))
    for other in (write_street(tmp_path / "c.mp4", seed=2), write_street(tmp_path / "d.mp4", n_frames=5)):
        with pytest.raises(
            UsageError, match="is not the video of the earlier run, 'a' with 12 frames of 96×64; give that"
        ):
            mark.check(open_video(other))


def test_a_model_is_known_by_what_it_holds_not_by_its_place(tmp_path: Path) -> None:
    for name, content in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(content)
    models = [replace(random_model(HAND_MADE), name=name) for name in "abc"]
    a, b, c = (mark_of(model, tmp_path / model.name, is_bundled=False) for model in models)
    a.check(b)
    with pytest.raises(
        UsageError, match=r"c' is not the model of the earlier run, 'a' from '.*a'; give that model with --model"
    ):
        a.check(c)
    assert mark_of(models[0], tmp_path / "a", is_bundled=True) == replace(a, place="a")


def test_a_mark_comes_back_from_json_as_it_was() -> None:
    mark = ModelMark("town", "/models/town", "a1", ("road", "sky"), ((1, 2, 3), (4, 5, 6)), ("colour", "hog"))
    assert ModelMark.from_dict(asdict(mark)) == mark
    with pytest.raises(ValueError, match="a colour for each class"):
        ModelMark.from_dict(asdict(mark) | {"colours": [[1, 2, 3]]})
