"""What several commands are tested with."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from budgetseg.cli.app import main
from budgetseg.datasets.synthetic import render
from budgetseg.types import Video
from budgetseg.video import write_overlay


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Prices are measured for the tests of a module, and kept from the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


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
        *before, line = err.splitlines()
        assert all(told.endswith(" ...") for told in before)  # what takes long, once on a machine
        assert line.startswith("budgetseg: ")
        return line

    return refused


@pytest.fixture(scope="session")
def long_street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Work for some seconds: the same thirty frames five times."""
    video, _ = render(1, 30, (320, 240))
    frames = np.tile(video.frames, (5, 1, 1, 1))
    path = tmp_path_factory.mktemp("videos") / "long.mp4"
    write_overlay(path, Video(frames, np.arange(len(frames)) / 25, "long"), rate=25.0)
    return path
