"""Files that take long to decode: frames that need no others are labelled, and the deadline holds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from budgetseg.frames.crew import Crew
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.label import label_frames, replay_frames
from budgetseg.frames.plan import COARSE, FINE
from budgetseg.frames.reader import Reader
from budgetseg.frames.window import WindowRun
from budgetseg.inference.ledger import Ledger

from budgetseg.types import UInt8
from budgetseg.video import open_video
from tests.frames.worlds import COSTS, SIZE, Clock, budgets, counts, engine, source, street
from tests.video.clips import N_FRAMES, Kind, write_clip


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video file in which every twelfth frame decodes alone, or nearly."""
    path = tmp_path_factory.mktemp("films") / "film.mp4"
    write_clip(path, Kind(".mp4", "libx264", size=SIZE))
    return path


def believing(read_s: float) -> tuple[Clock, FrameEngine]:
    """Somebody who believes that a frame takes so long to decode."""
    clock = Clock()
    own = engine(clock, COSTS)
    own.stages.observe("decode .mp4", SIZE[0] * SIZE[1], read_s)
    return clock, own


def read_slowly(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """From now on a frame takes 0.02 s, and one that decodes alone 0.001 s."""
    plainly = Reader.read

    def slowly(reader: Reader, numbers: Sequence[int], *late: Callable[[], bool]) -> Iterator[tuple[int, UInt8]]:
        for found in plainly(reader, numbers, *late):
            clock.pass_by(0.02 if reader.alone is None else 0.001)
            yield found

    monkeypatch.setattr(Reader, "read", slowly)


def test_where_there_is_no_time_to_decode_all_frames_that_decode_alone_are_labelled(film: Path) -> None:
    clock, own = believing(1.0)
    video = open_video(film)
    labelled = label_frames(own, video, budgets(0.3), clock=clock)
    (window,), (ledger,) = labelled.windows, labelled.ledgers
    assert list(window.read) == list(video.alone())
    assert 2 < len(window.read) < 6
    assert ledger.notes == ["no time to decode all frames: only those that need no others were read"]
    assert ledger.work_left
    assert len(np.unique(labelled.labels[0])) > 1
    again = replay_frames(own, video, labelled.windows, N_FRAMES, 1)
    assert np.array_equal(labelled.labels[0], again.labels[0])


def test_windows_of_frames_that_decode_alone_end_before_one(film: Path) -> None:
    clock, own = believing(1.0)
    video = open_video(film)
    labelled = label_frames(own, video, replace(budgets(0.5), window=2), clock=clock)
    alone = list(video.alone())
    starts = np.cumsum([0, *(window.n_frames for window in labelled.windows)])
    assert starts.tolist() == [*alone[::2], N_FRAMES]
    assert all(len(np.unique(labels)) > 1 for labels in np.split(labelled.labels[0], starts[1:-1]))


def test_a_reader_who_is_clearly_late_leaves_out_frames_that_need_others(
    film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, own = believing(1e-4)
    read_slowly(monkeypatch, clock)
    first = label_frames(own, open_video(film), budgets(0.4), clock=clock)
    assert first.ledgers[0].spent_s <= 0.4
    read = list(first.windows[0].read)
    n_first = next(k for k, t in enumerate(read) if k != t)
    assert 4 <= n_first < 12
    assert read[n_first:] == [t for t in open_video(film).alone() if t >= n_first]
    again = replay_frames(own, open_video(film), first.windows, N_FRAMES, 1)
    assert np.array_equal(first.labels[0], again.labels[0])
    second = label_frames(own, open_video(film), budgets(1.0), earlier=first.windows, clock=clock)
    assert list(second.windows[0].read) == read
    assert len(second.windows[0].asks) > len(first.windows[0].asks)


def test_decoding_that_is_believed_to_take_too_long_is_tried_and_known_better(film: Path) -> None:
    clock, own = believing(1.5 / N_FRAMES)
    labelled = label_frames(own, open_video(film), budgets(0.8), clock=clock)
    assert list(labelled.windows[0].read) == list(range(N_FRAMES))
    assert not labelled.ledgers[0].notes
    assert own.stages.predict("decode .mp4", N_FRAMES * SIZE[0] * SIZE[1]) < 0.3


def test_a_small_budget_leaves_no_frame_out_that_a_larger_one_has_time_for(
    film: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, own = believing(1e-4)
    read_slowly(monkeypatch, clock)
    labelled = label_frames(own, open_video(film), budgets(0.3, 6.0), clock=clock)
    first, second = labelled.windows[0].paintings
    assert first.n_read < second.n_read == N_FRAMES
    assert second.carry in (COARSE, FINE)  # along flow, fine only where frames are alike


@pytest.mark.parametrize("budget_s", [0.3, 0.5, 1.0, 1.5])
def test_what_was_read_of_a_file_that_takes_too_long_has_labels(budget_s: float) -> None:
    clock = Clock()
    labelled = label_frames(
        engine(clock, COSTS, read_s=0.001), source(street(100), clock, 0.02), budgets(budget_s), clock=clock
    )
    assert labelled.ledgers[0].spent_s <= budget_s
    assert counts(labelled)
    assert not any("prior" in note for note in labelled.ledgers[0].notes)


def test_windows_of_a_file_that_takes_too_long_end_in_time_and_its_price_stays_true() -> None:
    clock = Clock()
    own = engine(clock, COSTS, read_s=0.02)
    request = replace(budgets(0.6), window=20)
    labelled = label_frames(own, source(street(100), clock, 0.02), request, clock=clock)
    assert labelled.ledgers[0].spent_s <= 0.6 + 0.02
    assert own.stages.predict("decode .stub", SIZE[0] * SIZE[1]) == pytest.approx(0.02, rel=0.05)
    assert counts(labelled)


def test_a_window_without_any_frame_that_decodes_alone_has_the_most_frequent_class(film: Path) -> None:
    clock, own = believing(1.0)
    video = open_video(film)
    last = list(video.alone())[-1]
    cut = replace(video, span=replace(video.span, start=last - 3, end=last + 1))
    reader = Reader(cut, 1)
    assert reader.leave_out(range(4))
    run = WindowRun(own, Crew(1), reader, range(3), SIZE[::-1], Ledger(None), clock)
    assert list(reader.read([3]))
    out = np.zeros((3, SIZE[1], SIZE[0]), np.uint8)
    assert run.label(30.0, 30.0, out)
    assert (out == 1).all()
