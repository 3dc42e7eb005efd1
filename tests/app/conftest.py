"""What the tests of labelling share: getting ready takes seconds."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from budgetseg.app.loaded import LoadedModel, load

from tests.app.streets import write_model, write_street


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Prices are measured for these tests, and kept from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "street")


@pytest.fixture(scope="session")
def loaded(model_folder: Path) -> LoadedModel:
    return load(model_folder, threads=1)


@pytest.fixture(scope="session")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_street(tmp_path_factory.mktemp("videos") / "street.mp4")
