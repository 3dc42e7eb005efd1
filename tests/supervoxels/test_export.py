"""Windows of a video; the files themselves are tested through the command."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.errors import UsageError
from budgetseg.supervoxels.export import SHORTEST_WINDOW, Request, _longest_window, _window_lengths, export_supervoxels
from budgetseg.video import open_video


@given(n_frames=st.integers(1, 5000), longest=st.integers(1, 200))
def test_windows_cover_the_video_in_nearly_equal_parts(n_frames: int, longest: int) -> None:
    lengths = _window_lengths(n_frames, longest)
    assert sum(lengths) == n_frames
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= longest


def test_windows_are_longer_for_the_fast_tier_and_for_small_frames(data_root: Path) -> None:
    small, large = (open_video(data_root / "clips" / "bikes.mp4", size=size) for size in ((480, 360), (1920, 1080)))
    assert 101 <= _longest_window(small, "quality") < _longest_window(small, "fast")
    assert _longest_window(large, "quality") < _longest_window(small, "quality")
    assert _longest_window(large, "quality") >= SHORTEST_WINDOW


@pytest.mark.parametrize(
    "request_", [Request(n=0), Request(level=-1), Request(n=5, level=3), Request(tier="?"), Request(window=0)]
)
def test_a_request_that_makes_no_sense_is_refused_before_any_work(request_: Request) -> None:
    with pytest.raises(UsageError):
        request_.check()


def test_the_number_asked_for_is_shared_out_over_the_windows(data_root: Path, tmp_path: Path) -> None:
    source = open_video(data_root / "clips" / "carphone_pristine.mp4", end=24)
    done: list[int] = []
    request = Request(n=100, tier="fast", window=9, overlay=False)
    summary = export_supervoxels(source, tmp_path / "out", request, done.append)
    assert summary.n == 100
    assert done == [8, 8, 8]
    with np.load(tmp_path / "out" / "ids.npz") as stored:
        first_seen = np.unique(stored["ids"], return_index=True)[1] // (8 * 176 * 144)
    assert np.bincount(first_seen).tolist() == [33, 33, 34]
