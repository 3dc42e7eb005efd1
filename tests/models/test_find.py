"""Models are found by name or by place."""

from pathlib import Path

import pytest

from budgetseg.errors import ModelError
from budgetseg.models import find
from budgetseg.models.bundle import load_model, save_model
from budgetseg.models.find import bundled_models, find_model
from tests.models.made import HAND_MADE, random_model


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that comes with two models, and with a folder that is none."""
    package = tmp_path / "package"
    for name in ("town", "beach"):
        save_model(random_model(HAND_MADE), package / name)
    (package / "networks").mkdir()
    monkeypatch.setattr(find, "files", lambda _: package)
    return package


def test_a_bundled_model_is_known_by_its_name(package: Path) -> None:
    assert bundled_models() == ["beach", "town"]
    assert find_model("town") == package / "town"


def test_any_other_is_known_by_its_path(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_model(random_model(HAND_MADE), tmp_path / "town")
    monkeypatch.chdir(tmp_path)
    assert find_model(tmp_path / "town") == tmp_path / "town"
    assert find_model("./town").samefile(tmp_path / "town")
    assert find_model("town") == package / "town"


def test_one_that_is_not_there_gets_a_list_of_those_that_are(package: Path) -> None:
    with pytest.raises(ModelError, match="no model 'moon'; choose from beach, town, or give the folder of one that"):
        find_model("moon")
    with pytest.raises(ModelError, match=r"networks' holds no model, there is no manifest.json; choose from"):
        find_model(package / "networks")


def test_every_bundled_model_can_be_loaded() -> None:
    for name in bundled_models():
        assert load_model(find_model(name)).name == name
