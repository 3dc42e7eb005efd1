"""Files that take long to decode: frames that need no others are labelled, and the deadline holds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.engine.run import Earlier, replay
from budgetseg.engine.window import Reader, Window
from budgetseg.spaces.frames.costs import FLOW
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import CostClock, ManualClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.types import UInt8
from budgetseg.video import Frame, VideoSource, open_video
from budgetseg.video.container import Container
from budgetseg.video.core import Span
from tests.spaces.clocks import quiet_prices
from tests.spaces.frames.worlds import (
    CLASSES,
    N_PIXELS,
    SECONDS,
    SIZE,
    counts,
    label,
    rates_of,
    request_of,
    slides,
    space_of,
)
from tests.video.clips import KINDS, N_FRAMES, Kind, write_clip

ALONE = "no time to decode all frames: only frames that decode without others were read"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video file in which every twelfth frame decodes alone, or nearly."""
    path = tmp_path_factory.mktemp("films") / "film.mp4"
    write_clip(path, Kind(".mp4", "libx264", size=SIZE))
    return path


@pytest.fixture(scope="module")
def pixels(path: Path) -> UInt8:
    """All frames of it."""
    return np.asarray(open_video(path).read().frames)


def space_with(pixels: UInt8, decode_s: float, suffix: str = ".mp4") -> Frames:
    """Networks for these frames, and prices by which a frame takes so long to decode."""
    return space_of(pixels, prices=quiet_prices(rates_of() | {f"decode {suffix}": decode_s / N_PIXELS}))


@dataclass(frozen=True)
class SlowContainer(Container):
    """A video file whose frames take their time to decode, those that decode alone less of it."""

    taken: Callable[[float], None] = lambda _: None
    frame_s: float = 0.02
    alone_s: float = 0.001

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span` in order."""
        for frame in super().frames(span):
            self.taken(self.frame_s)
            yield frame

    def pick_alone(self, times: Mapping[int, int]) -> Iterator[Frame]:
        """Frames that decode without others."""
        for frame in super().pick_alone(times):
            self.taken(self.alone_s)
            yield frame


def slow(path: Path, clock: ManualClock) -> VideoSource:
    """A video file that takes long to decode, by a clock."""
    source = open_video(path)
    assert isinstance(source.clip, Container)
    own = {field.name: getattr(source.clip, field.name) for field in fields(Container)}
    return replace(source, clip=SlowContainer(**own, taken=clock.advance))


def test_where_there_is_no_time_to_decode_all_frames_those_that_decode_alone_are_labelled(
    path: Path, pixels: UInt8
) -> None:
    space, video = space_with(pixels, decode_s=1.0), open_video(path)
    (result,) = label(space, video, request_of(0.3), ManualClock())
    (window,) = result.windows
    assert list(window.read) == list(video.alone())
    assert 2 < len(window.read) < 6
    assert result.ledger.notes == [ALONE]
    assert result.ledger.work_left
    assert len(np.unique(result.labels)) > 1
    again = replay(space, video, request_of(0.3), CLASSES, Earlier(result.plan, result.windows), N_FRAMES)
    assert np.array_equal(result.labels, again[0].labels)


def test_a_reader_who_is_clearly_late_leaves_out_frames_that_need_others(path: Path, pixels: UInt8) -> None:
    clock, space = ManualClock(), space_with(pixels, decode_s=1e-4)
    (first,) = label(space, slow(path, clock), request_of(0.4), clock)
    assert first.ledger.spent_s <= 0.4
    read = list(first.windows[0].read)
    n_first = next(k for k, t in enumerate(read) if k != t)
    assert 4 <= n_first < 12
    assert read[n_first:] == [t for t in open_video(path).alone() if t >= n_first]
    assert first.ledger.notes == [ALONE]
    earlier = Earlier(first.plan, first.windows)
    again = replay(space, open_video(path), request_of(0.4), CLASSES, earlier, N_FRAMES)
    assert np.array_equal(first.labels, again[0].labels)


def test_a_run_that_left_frames_out_is_gone_on_from(path: Path, pixels: UInt8) -> None:
    clock, space = ManualClock(), space_with(pixels, decode_s=1e-4)
    (first,) = label(space, slow(path, clock), request_of(0.4), clock)
    earlier = Earlier(first.plan, first.windows)
    (second,) = label(space, open_video(path), request_of(5.0), CostClock(), earlier=earlier)
    n_before = len(first.windows[0].events)
    assert second.windows[0].events[:n_before] == first.windows[0].events
    assert set(second.windows[0].read) >= set(first.windows[0].read)
    assert len(second.windows[0].events) >= n_before


@pytest.mark.parametrize("kind", ["avi-h264", "y4m"])
def test_a_file_of_which_no_frame_is_known_to_decode_alone_is_read_as_far_as_there_is_time(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / f"film{KINDS[kind].suffix}"
    write_clip(path, KINDS[kind])
    clock, pixels = ManualClock(), np.asarray(open_video(path).read().frames)
    space = space_with(pixels, decode_s=1e-4, suffix=path.suffix)
    (result,) = label(space, slow(path, clock), request_of(0.4), clock)
    assert result.ledger.spent_s <= 0.4
    read = list(result.windows[0].read)
    assert read == list(range(len(read)))
    assert 15 <= len(read) < 20
    assert result.ledger.notes == [f"reading took too long: {N_FRAMES - len(read)} frames left out"]
    assert counts(result)
    again = replay(space, open_video(path), request_of(0.4), CLASSES, Earlier(result.plan, result.windows), N_FRAMES)
    assert np.array_equal(result.labels, again[0].labels)


def test_decoding_that_is_believed_to_take_too_long_is_tried_and_known_better(path: Path, pixels: UInt8) -> None:
    space = space_with(pixels, decode_s=1.5 / N_FRAMES)
    (result,) = label(space, open_video(path), request_of(0.8), ManualClock())
    assert list(result.windows[0].read) == list(range(N_FRAMES))
    assert not result.ledger.notes
    assert space.prices.predict("decode .mp4", N_FRAMES * N_PIXELS) < 0.3


@pytest.mark.parametrize(("known_s", "small_s"), [(1e-4, 0.3), (0.02, 0.06)], ids=["not known", "known"])
def test_a_small_budget_leaves_no_frame_out_that_a_larger_one_has_time_for(
    path: Path, pixels: UInt8, known_s: float, small_s: float
) -> None:
    clock, space = ManualClock(), space_with(pixels, decode_s=known_s)
    first, second = label(space, slow(path, clock), request_of(small_s, 6.0), clock)
    small, large = first.windows[0].finishes
    assert small.n_read < large.n_read == N_FRAMES
    assert large.carry == FLOW
    assert first.ledger.spent_s <= small_s
    assert second.ledger.spent_s <= 6.0


@pytest.mark.parametrize("window", [4, 10])
def test_windows_of_frames_that_decode_alone_end_in_time(path: Path, pixels: UInt8, window: int) -> None:
    space, video = space_with(pixels, decode_s=1.0), open_video(path)
    (result,) = label(space, video, request_of(0.5, window=window), ManualClock())
    alone, first = set(video.alone()), 0
    for own in result.windows:
        assert [first + t for t in own.read] == sorted(t for t in alone if first <= t < first + own.n_frames)
        first += own.n_frames
    assert first == N_FRAMES
    assert (result.labels < len(CLASSES)).all()
    assert ALONE in result.ledger.notes


def test_a_window_without_any_frame_that_decodes_alone_has_no_labels_of_its_own(path: Path, pixels: UInt8) -> None:
    video = open_video(path)
    last = list(video.alone())[-1]
    cut = replace(video, span=replace(video.span, start=last - 3, end=last + 1))
    reader, space = Reader(cut, 1), space_with(pixels, decode_s=1.0)
    assert reader.leave_out(range(4))
    account = Account(ManualClock(), space.prices, Ledger(None))
    window = Window(0, range(3), reader, is_last=False)
    state = space.open(window, cut, request_of(30.0), space.plan(cut, request_of(30.0)), account)
    assert not state.prepare(30.0, 30.0)
    assert state.n_frames == 3


def test_a_file_and_the_same_frames_in_memory_have_the_same_labels(path: Path, pixels: UInt8) -> None:
    of_file = label(space_with(pixels, SECONDS["decode"]), open_video(path), request_of(np.inf), CostClock())[0]
    of_memory = label(space_of(pixels), slides(pixels), request_of(np.inf), CostClock())[0]
    assert np.array_equal(of_file.labels, of_memory.labels)
