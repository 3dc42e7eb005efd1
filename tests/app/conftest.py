"""What the tests of labelling share: getting ready takes seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from budgetseg.app.model import LoadedModel
from tests.app.simulated import load_simulated
from tests.app.streets import write_model, write_seeing_model, write_street


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of the user's is read, and nothing is left to them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "street")


@pytest.fixture(scope="session")
def loaded(model_folder: Path) -> LoadedModel:
    """A model of regions alone, under frozen prices."""
    return load_simulated(model_folder)


@pytest.fixture(scope="session")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model with a network, under frozen prices."""
    pytest.importorskip("onnx")
    return load_simulated(write_seeing_model(tmp_path_factory.mktemp("models") / "seeing"))


@pytest.fixture(scope="session")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_street(tmp_path_factory.mktemp("videos") / "street.mp4")
