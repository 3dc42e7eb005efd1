"""Streams by a model: what may be a source, and what comes of it. Latencies are long: no machine is too slow."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from budgetseg.app.live import LiveOrder, ledger_of, live_of, watch
from budgetseg.app.model import LoadedModel
from budgetseg.datasets.synthetic import render
from budgetseg.errors import UsageError, VideoError
from budgetseg.live.status import Status
from budgetseg.timing.clock import WallClock
from budgetseg.types import UInt8
from budgetseg.video import open_video
from tests.app.streets import N_FRAMES, SIZE

LONG_S = 60.0


def frames(n: int = 5) -> UInt8:
    return np.asarray(render(1, n, SIZE)[0].frames)


def test_a_file_as_if_live_has_labels_for_every_frame(seeing: LoadedModel, street: Path) -> None:
    found = list(seeing.stream(street, LONG_S, as_if_live=True))
    assert [frame.number for frame in found] == list(range(N_FRAMES))
    video = open_video(street).read()
    for frame, image in zip(found, video.frames, strict=True):
        assert np.array_equal(frame.image, image)
        assert frame.labels.shape == frame.confidence.shape == image.shape[:2]
        assert 0 < frame.age_s <= LONG_S
        assert frame.dropped == 0
        assert 0 <= frame.confidence.min() <= frame.confidence.max() <= 1
    assert [frame.time_s for frame in found] == pytest.approx(video.times_s)


def test_an_iterator_of_frames_is_a_source_with_its_times_or_without(seeing: LoadedModel) -> None:
    timed = list(seeing.stream(((10.0 * k, frame) for k, frame in enumerate(frames())), LONG_S))
    plain = list(seeing.stream(iter(frames()), LONG_S))
    assert [frame.time_s for frame in timed] == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert len(plain) == 5


def test_an_error_of_the_users_iterator_is_raised_as_it_is(seeing: LoadedModel) -> None:
    def broken() -> Iterator[UInt8]:
        yield frames()[0]
        raise RuntimeError("the camera fell")

    with pytest.raises(RuntimeError, match="the camera fell"):
        list(seeing.stream(broken(), LONG_S))


def test_leaving_the_loop_ends_the_source(seeing: LoadedModel) -> None:
    ended = Event()

    def endless() -> Iterator[UInt8]:
        try:
            while True:
                yield frames(1)[0]
        finally:
            ended.set()

    stream = seeing.stream(endless(), LONG_S)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert ended.wait(20)


def test_several_sources_say_which_one_a_frame_is_of(seeing: LoadedModel, street: Path) -> None:
    found = list(seeing.stream([str(street), str(street)], LONG_S, as_if_live=True))
    assert sorted({frame.source for frame in found}) == [0, 1]
    assert len(found) == 2 * N_FRAMES


@pytest.mark.parametrize(
    ("source", "how", "line"),
    [
        ("nowhere.mp4", {}, "no camera, stream or file 'nowhere.mp4'"),
        (__file__, {}, "is a file; add --as-if-live"),
        ("nowhere.mp4", {"as_if_live": True}, "nowhere.mp4"),
        (3.5, {}, "a source cannot be an object of type float"),
        (971, {}, "no camera at '/dev/video971'"),
        ("-", {"latency_s": 0.0}, "latency must be more than 0 seconds"),
        ("-", {"fps": -1.0}, "fps must be more than 0"),
    ],
)
def test_bad_sources_are_a_line(seeing: LoadedModel, source: object, how: dict[str, float], line: str) -> None:
    with pytest.raises((UsageError, VideoError), match=line):
        seeing.stream(source, **{"latency_s": LONG_S, **how})  # type: ignore[arg-type]


def test_a_model_without_networks_cannot_label_streams(seeing: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(seeing.__dict__, "networks", {})
    with pytest.raises(UsageError, match="streams are labelled by networks alone"):
        seeing.stream(frames())


def test_the_ledger_counts_every_frame(seeing: LoadedModel, street: Path) -> None:
    clock = WallClock()
    loop = live_of(seeing, [street], LiveOrder(LONG_S, as_if_live=True), clock=clock)
    watch(loop, Status(loop, clock), clock, lambda _: None)
    ledger = ledger_of(loop, seeing.classes, 1.0)
    (source,) = ledger["sources"]
    assert source["arrived"] == source["labelled"] == N_FRAMES
    assert source["networks"]["dcnn"]["count"] >= 1
    assert source["backends"] == {"dcnn": "onnxruntime f32"}
    assert ledger["classes"] == list(seeing.classes.names)
    assert {"flow", "fusing"} <= set(source["stages"])


def test_fewer_frames_a_second_may_be_wanted(seeing: LoadedModel, street: Path) -> None:
    found = list(seeing.stream(street, LONG_S, as_if_live=True, fps=5.0))
    assert 2 <= len(found) <= 4  # of twelve at 25 a second
