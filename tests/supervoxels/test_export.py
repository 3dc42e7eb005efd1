"""Windows of a video; the files themselves are tested through the command."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.errors import UsageError
from budgetseg.supervoxels.export import WINDOW_VOXELS, Request, _window_lengths, export_supervoxels
from budgetseg.video import open_video


@given(n_frames=st.integers(1, 5000), n_pixels=st.integers(1, 30_000_000), longest=st.none() | st.integers(1, 200))
def test_windows_cover_the_video_in_nearly_equal_parts(n_frames: int, n_pixels: int, longest: int | None) -> None:
    lengths = _window_lengths(n_frames, n_pixels, longest)
    assert sum(lengths) == n_frames
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= (longest or max(1, WINDOW_VOXELS // n_pixels))


def test_a_clip_of_a_hundred_frames_is_one_window() -> None:
    assert _window_lengths(101, 480 * 360, None) == [101]


@pytest.mark.parametrize("request_", [Request(n=0), Request(level=-1), Request(tier="?"), Request(window=0)])
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
