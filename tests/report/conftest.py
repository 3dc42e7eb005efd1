"""What the tests of the page share: getting ready and labelling take seconds."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from budgetseg.report import write_report
from tests.report.worlds import deadline_rows, label_by_frames, label_street, result_rows


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing of the user's is read, and nothing is left to them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def street_run(tmp_path_factory: pytest.TempPathFactory, own_cache: None) -> Path:  # noqa: ARG001
    """Folder of a street labelled at three budgets, with the why map."""
    return label_street(tmp_path_factory.mktemp("labelled"))


@pytest.fixture(scope="session")
def frames_run(tmp_path_factory: pytest.TempPathFactory, own_cache: None) -> Path:  # noqa: ARG001
    """Folder of a street that was labelled by whole frames at three budgets."""
    pytest.importorskip("onnx")
    return label_by_frames(tmp_path_factory.mktemp("frames"))


@pytest.fixture(scope="session")
def frames_page(frames_run: Path) -> Path:
    """A page of it."""
    write_report(frames_run, frames_run / "page.html")
    return frames_run / "page.html"


@pytest.fixture(scope="session")
def page(street_run: Path) -> Path:
    """A page of everything there is: a labelled video, results, deadlines."""
    folder = street_run.parent
    (folder / "results.json").write_text(json.dumps({"environment": {"cpu": "fast"}, "rows": result_rows()}))
    (folder / "late.json").write_text(json.dumps({"bench": "deadline", "environment": {}, "rows": deadline_rows()}))
    write_report(folder, folder / "page.html")
    return folder / "page.html"
