"""Streams: every frame has labels within the latency or is counted, and nothing grows, however long they are."""

import gc
import math
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetseg.errors import ModelError, UsageError, VideoError
from budgetseg.live import loop as loop_module
from budgetseg.live.loop import Live
from budgetseg.live.settings import LiveSettings
from budgetseg.propagate.edges import paint_edges
from budgetseg.timing.clock import CostClock
from budgetseg.types import UInt8
from tests.live.worlds import CARRIED_S, SECONDS, Seeing, camera, drive, faster, live, seen, space

LATENCY_S = 0.1


def check_books(loop: Live) -> None:
    """Every frame that arrived has labels, or is counted as dropped."""
    for stream in loop.streams:
        total = stream.meter.total
        assert total.n_arrived == total.n_labelled + total.n_dropped


@pytest.mark.parametrize("latency_s", [0.004, 0.033, 0.1, 0.5])
def test_every_frame_is_labelled_within_the_latency_or_counted(latency_s: float) -> None:
    loop = live([camera(drive(), 30.0, 120)], latency_s)
    frames = seen(loop)
    check_books(loop)
    total = loop.streams[0].meter.total
    assert total.n_arrived == 120
    assert all(0 < frame.age_s <= latency_s for frame in frames)
    assert len(frames) == total.n_labelled
    assert sum(frame.dropped for frame in frames) <= total.n_dropped


def test_where_there_is_time_for_all_no_frame_is_dropped() -> None:
    loop = live([camera(drive(), 30.0, 120)], LATENCY_S)
    assert [frame.number for frame in seen(loop)] == list(range(120))


def test_where_labels_take_longer_than_frames_come_the_rest_is_dropped_and_delay_does_not_grow() -> None:
    slow = faster(SECONDS, flow=0.05)
    loop = live([camera(drive(), 30.0, 300)], 0.2, space(slow))
    frames = seen(loop)
    check_books(loop)
    assert 0.3 < loop.streams[0].meter.total.dropped_share < 0.4  # 50 ms each
    early, late = (np.mean([frame.age_s for frame in part]) for part in (frames[20:60], frames[-40:]))
    assert late <= 1.2 * early


def test_frames_that_come_together_are_all_labelled_where_there_is_time() -> None:
    frames = drive()
    pairs = ((0.1 * (k // 3), frames[k % len(frames)]) for k in range(60))
    loop = live([pairs], LATENCY_S)
    assert [frame.number for frame in seen(loop)] == list(range(60))


def test_a_slow_consumer_gets_the_newest_frame_and_the_others_are_counted() -> None:
    clock = CostClock()
    loop = live([camera(drive(), 30.0, 150)], LATENCY_S, clock=clock)
    found = []
    for frame in loop:
        found.append((clock.now_s(), frame))
        clock.charge(0.3)
    check_books(loop)
    assert 10 <= len(found) <= 20
    for now_s, frame in found[2:]:
        assert now_s - frame.time_s <= 1 / 30 + LATENCY_S / 2
        assert frame.dropped >= 7


def test_a_dear_network_answers_late_and_is_carried_to_the_newest_frame() -> None:
    own = space(faster(SECONDS, large=0.1), small=Seeing(off=16), large=Seeing(sharp=20.0))
    loop = live([camera(drive(), 30.0, 90)], 0.033, own)
    frames = seen(loop)
    assert all(frame.age_s <= 0.033 for frame in frames)
    assert {"small", "large"} == {name for frame in frames for name in frame.networks}
    first = next(frame for frame in frames if "large" in frame.networks)
    assert first.time_s >= 0.1


def test_a_network_that_takes_longer_than_the_latency_serves_alone() -> None:
    own = space(faster(SECONDS, large=0.25), large=Seeing())
    loop = live([camera(drive(), 30.0, 90)], 0.05, own)
    frames = seen(loop)
    check_books(loop)
    assert [frame.number for frame in frames] == list(range(frames[0].number, 90))
    assert frames[0].number == math.floor(0.25 * 30)  # this one has waited for the answer


def test_after_a_cut_nothing_of_the_shot_before_is_used() -> None:
    one, other = drive(seed=3), 255 - drive(seed=8)[:, ::-1]
    film = [*one, *other]
    loop = live([((k / 10, frame) for k, frame in enumerate(film))], LATENCY_S, space(faster(SECONDS, large=0.35)))
    carried = []
    for frame in loop:
        state = loop.streams[0].carried
        assert state is not None
        carried.append((frame.number, min(known.number for known in state.known)))
    assert loop.streams[0].carried is not None
    assert loop.streams[0].carried.n_cuts == 1
    assert all(first >= len(one) for number, first in carried if number >= len(one))


def test_after_a_change_of_size_the_stream_goes_on() -> None:
    small, large = drive(), np.repeat(np.repeat(drive(), 2, axis=1), 2, axis=2)
    film = [*small, *large, *small]
    loop = live([((k / 10, frame) for k, frame in enumerate(film))], LATENCY_S)
    frames = seen(loop)
    check_books(loop)
    assert [frame.number for frame in frames] == list(range(len(film)))
    assert all(frame.labels.shape == frame.image.shape[:2] for frame in frames)
    assert all(frame.confidence.shape == frame.labels.shape for frame in frames)


def test_clocks_of_a_source_that_jump_change_no_age() -> None:
    frames = drive()
    plain = seen(live([camera(frames, 20.0, 40)], LATENCY_S))
    loop = live([camera(frames, 20.0, 40)], LATENCY_S)
    inbox = loop.streams[0].inbox
    put = inbox.put

    def jumping(arrived_s: float, time_s: float, read: Callable[[], UInt8]) -> None:
        put(arrived_s, -1e6 if time_s > 1 else 1e6 * time_s, read)

    inbox.put = jumping  # type: ignore[method-assign]
    found = seen(loop)
    assert [frame.age_s for frame in found] == [frame.age_s for frame in plain]
    assert found[-1].time_s == -1e6


def test_a_frozen_camera_is_labelled_on_and_said() -> None:
    loop = live([camera(drive()[:1], 10.0, 120)], LATENCY_S)
    frames = seen(loop)
    assert len(frames) == 120
    carried = loop.streams[0].carried
    assert carried is not None
    assert carried.still_s == pytest.approx(11.9)


def test_a_latency_that_cannot_be_kept_is_refused_with_the_least_that_can() -> None:
    with pytest.raises(UsageError, match=r"a latency of 1 ms is too short: frames of 96x64 need \d+ ms") as caught:
        seen(live([camera(drive(), 30.0, 9)], 0.001))
    least_s = int(str(caught.value).split(" ms on")[0].split()[-1]) / 1000
    assert CARRIED_S < least_s < 5 * CARRIED_S
    assert seen(live([camera(drive(), 30.0, 9)], least_s, space(faster(SECONDS, small=0.0005))))


def test_a_network_that_fails_is_asked_no_more_and_all_of_them_end_the_stream() -> None:
    own = space(small=Seeing(), large=Seeing(fails_from=1))
    loop = live([camera(drive(), 30.0, 60)], LATENCY_S, own)
    assert len(seen(loop)) == 60
    assert any("large failed" in note for note in loop.notes)
    failing = space(small=Seeing(fails_from=2), large=Seeing(fails_from=2))
    with pytest.raises(ModelError, match="all networks failed"):
        seen(live([camera(drive(), 30.0, 60)], LATENCY_S, failing))


def test_several_sources_share_networks_by_need() -> None:
    still, moving = drive()[:1], drive()
    own = space(faster(SECONDS, small=0.08, large=0.2))
    loop = live([camera(still, 10.0, 200), camera(moving, 10.0, 200), camera(moving, 10.0, 200)], 0.05, own)
    frames = seen(loop)
    check_books(loop)
    asked = [sum(stream.meter.total.asked.values()) for stream in loop.streams]
    assert asked[0] < min(asked[1:])
    assert abs(asked[1] - asked[2]) <= 0.4 * asked[1]
    labelled = Counter(frame.source for frame in frames)
    assert min(labelled.values()) > 180
    assert all(frame.age_s <= 0.05 for frame in frames)


def test_the_first_arrived_of_all_sources_goes_first() -> None:
    frames = drive()
    loop = live([camera(frames, 10.0, 20), camera(frames, 10.0, 20, begins_s=0.05)], LATENCY_S)
    order = [frame.source for frame in seen(loop)]
    assert order == [0, 1] * 20


def test_what_is_remembered_is_bounded() -> None:
    settings = LiveSettings()
    loop = live([camera(drive(), 30.0, 600)], 0.05, space(faster(SECONDS, large=0.2)), settings)
    for _ in loop:
        carried = loop.streams[0].carried
        assert carried is not None
        assert len(carried.known) <= settings.kept
        assert len(carried.thinking) <= 2


@pytest.mark.timeout(600)
def test_one_hour_has_flat_memory_and_delay() -> None:
    """At five frames a second, by a simulated clock, with a pause of the camera in the middle."""
    n, pause = 18_000, 9_000
    source = ((time_s + 5 * (k > pause), frame) for k, (time_s, frame) in enumerate(camera(drive(), 5.0, n)))
    own = space(faster(SECONDS, small=0.02, large=0.3))
    loop = live([source], LATENCY_S, own)
    ages = np.full(n, np.nan)
    sizes = []
    for frame in loop:
        ages[frame.number] = frame.age_s
        if frame.number % 3000 == 1500:
            gc.collect()
            sizes.append(sum(sys.getsizeof(own) for own in gc.get_objects()))
    check_books(loop)
    total = loop.streams[0].meter.total
    assert total.n_arrived == n
    assert total.dropped_share < 0.001
    assert total.ages.quantile(0.99) is not None
    assert np.nanquantile(ages[pause:], 0.99) <= 1.01 * np.nanquantile(ages[:pause], 0.99)
    assert max(sizes[1:]) - min(sizes[1:]) < 0.01 * sizes[1]


def test_on_a_machine_that_is_slower_than_its_prices_what_can_be_left_out_is(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = CostClock()
    n_edged = 0

    def slowly(*words: Any) -> None:
        nonlocal n_edged
        n_edged += 1
        clock.charge(0.04)
        paint_edges(*words)

    monkeypatch.setattr(loop_module, "paint_edges", slowly)
    loop = live([camera(drive(), 30.0, 300)], 0.03, space(faster(SECONDS, edges=0.006)), clock=clock)
    seen(loop)
    check_books(loop)
    assert 0 < n_edged < 30
    assert loop.streams[0].meter.total.dropped_share < 0.2


def test_networks_are_compared_though_both_take_longer_than_the_latency() -> None:
    own = space(faster(SECONDS, small=0.1, large=0.15), small=Seeing(off=16), large=Seeing(sharp=20.0))
    loop = live([camera(drive(), 20.0, 60)], 0.02, own)
    assert seen(loop)
    check_books(loop)
    carried = loop.streams[0].carried
    assert carried is not None
    assert carried.worth.is_compared(0, 1)


def test_a_source_that_is_lost_for_good_is_noted_and_the_others_go_on() -> None:
    loop = live([camera(drive(), 10.0, 5), camera(drive(), 10.0, 50)], LATENCY_S)
    loop.streams[0].feed.error = VideoError("it gave no frame")  # type: ignore[misc]
    assert len(seen(loop)) == 55
    assert loop.notes == ["it gave no frame; the other sources go on"]
    alone = live([camera(drive(), 10.0, 5)], LATENCY_S)
    alone.streams[0].feed.error = VideoError("it gave no frame")  # type: ignore[misc]
    with pytest.raises(VideoError, match="it gave no frame"):
        seen(alone)
