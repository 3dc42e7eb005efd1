"""Labels of whole frames are ready in time, follow from their trace, and get better with the budget."""

import json
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from budgetseg.frames.brush import Again, Hurried
from budgetseg.frames.costs import WindowCosts
from budgetseg.frames.crew import Crew
from budgetseg.frames.label import WindowTrace, label_frames, replay_frames
from budgetseg.frames.window import WindowRun

from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.timing.deadline import LateError
from budgetseg.types import Budget, Float32, UInt8
from budgetseg.video import VideoSource, open_video
from tests.frames.worlds import COSTS, SIZE, Clock, Shades, budgets, counts, engine, source, street


def write_images(folder: Path, frames: UInt8) -> VideoSource:
    folder.mkdir()
    for t, frame in enumerate(frames):
        cv2.imwrite(str(folder / f"{t:03d}.png"), frame[..., ::-1])
    return open_video(folder)


@pytest.mark.parametrize(
    ("budget_s", "slower"),
    [(budget_s, slower) for budget_s in (0.3, 1.0, 3.0, 10.0) for slower in (0.5, 1.0, 3.0)]
    + [(0.05, 1.0), (0.1, 1.0)],
)
def test_labels_are_there_in_time_even_where_networks_are_slower_than_was_known(budget_s: float, slower: float) -> None:
    clock = Clock()
    networks = {name: slower * cost for name, cost in COSTS.items()}
    labelled = label_frames(
        engine(clock, networks, known=COSTS, read_s=0.001),
        source(street(24), clock, 0.001),
        budgets(budget_s),
        clock=clock,
    )
    ledger = labelled.ledgers[0]
    assert ledger.spent_s <= budget_s
    assert ledger.overrun_s == 0
    assert (ledger.next_s > 0) == ledger.work_left or not ledger.descriptors
    if ledger.work_left and budget_s >= 1:
        assert ledger.spent_s >= budget_s - 0.01 - 1.2 * max(networks.values()) - 0.01 * budget_s


def test_a_reader_slower_than_was_known_costs_frames_not_the_deadline() -> None:
    clock = Clock()
    labelled = label_frames(
        engine(clock, COSTS, read_s=0.001), source(street(40), clock, 0.01), budgets(0.2), clock=clock
    )
    assert labelled.ledgers[0].spent_s <= 0.2
    assert len(labelled.windows[0].read) < 40
    assert any("reading took longer" in note for note in labelled.ledgers[0].notes)
    assert labelled.labels[0].shape == (40, SIZE[1], SIZE[0])


def test_what_is_left_is_spent_up_to_two_views_of_every_frame_by_the_large_network() -> None:
    clock = Clock()
    labelled = label_frames(engine(clock, COSTS), source(street(12), clock), budgets(np.inf), clock=clock)
    assert counts(labelled) == {"dcnn_large": 24}
    assert not labelled.ledgers[0].work_left
    assert len({(ask.frame, ask.mirrored) for ask in labelled.windows[0].asks}) == 24


def test_less_time_means_fewer_key_frames_then_the_small_network_then_the_prior() -> None:
    asked = []
    for budget_s in (10.0, 0.4, 0.08, 0.005):
        clock = Clock()
        labelled = label_frames(engine(clock, COSTS), source(street(24), clock), budgets(budget_s), clock=clock)
        asked.append(counts(labelled))
    assert asked[0] == {"dcnn_large": 48}
    assert 0 < asked[1].get("dcnn_large", 0) < 24
    assert asked[2].keys() == {"dcnn"}
    assert asked[3] == {}
    assert labelled.ledgers[0].notes == ["the budget is short: prior"]
    assert (labelled.labels[0] == 1).all()


def test_several_budgets_come_of_one_run_and_each_keeps_what_the_one_before_has_asked() -> None:
    clock = Clock()
    labelled = label_frames(engine(clock, COSTS), source(street(24), clock), budgets(0.1, 0.3, 2.5), clock=clock)
    first, second, third = labelled.ledgers
    assert first.spent_s <= 0.1 < second.spent_s <= 0.3 < third.spent_s <= 2.5
    ends = [painting.n_asks for painting in labelled.windows[0].paintings]
    assert ends == sorted(ends)
    assert ends[-1] == len(labelled.windows[0].asks) == sum(counts(labelled).values())
    assert counts(labelled)["dcnn_large"] == 24 + 24 or third.work_left


@pytest.mark.parametrize("threads", [1, 2])
def test_a_trace_gives_the_same_labels_again_on_any_number_of_threads(tmp_path: Path, threads: int) -> None:
    clock, video = Clock(), write_images(tmp_path / "f", street(20))
    own = engine(clock, COSTS)
    labelled = label_frames(own, video, budgets(0.05, 0.2, 1.0), clock=clock)
    stored = json.loads(json.dumps([window.as_dict() for window in labelled.windows]))
    windows = [WindowTrace.from_dict(window) for window in stored]
    again = replay_frames(replace(own, threads=threads), video, windows, 20, 3)
    for before, after in zip(labelled.labels, again.labels, strict=True):
        assert np.array_equal(before, after)
    assert np.array_equal(labelled.confidence, again.confidence)


@pytest.mark.parametrize("seconds", [(1.9,), (1.5, 1.9), (1.0, 1.58, 1.9, 2.5)], ids=str)
def test_nothing_is_asked_twice_and_a_trace_tells_what_views_said(tmp_path: Path, seconds: tuple[float, ...]) -> None:
    clock, video = Clock(), write_images(tmp_path / "f", street(16))
    own = engine(clock, COSTS, known={"paint": 0.01 / (16 * SIZE[0] * SIZE[1])})
    own = replace(own, networks={name: replace(one, lean=0.4) for name, one in own.networks.items()})  # type: ignore[type-var]
    labelled = label_frames(own, video, budgets(*seconds), clock=clock)
    asks = labelled.windows[0].asks
    assert len(set(asks)) == len(asks)
    assert any(ask.mirrored for ask in asks)
    again = replay_frames(own, video, labelled.windows, 16, len(seconds))
    for before, after in zip(labelled.labels, again.labels, strict=True):
        assert np.array_equal(before, after)


def test_where_painting_is_over_sooner_than_was_known_more_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And labels are those that all of it leads to, as if it had been asked before."""
    clock, video = Clock(), write_images(tmp_path / "f", street(60))
    own = engine(clock, {"dcnn": 0.01}, known={"paint": 0.05 / (60 * SIZE[0] * SIZE[1])})
    n_before, paint = [], WindowRun.paint

    def painted(run: WindowRun, *words: Any) -> None:
        n_before.append(len(run.evidence.asks))
        paint(run, *words)

    monkeypatch.setattr(WindowRun, "paint", painted)
    monkeypatch.setattr(WindowCosts, "sharpened", lambda *_: None)  # its seconds are real
    labelled = label_frames(own, video, budgets(0.5), clock=clock)
    (window,), ledger = labelled.windows, labelled.ledgers[0]
    assert window.paintings[0].n_asks == len(window.asks) == counts(labelled)["dcnn"] > n_before[0] + 3
    assert 0.97 * 0.5 <= ledger.spent_s <= 0.5
    assert ledger.work_left
    again = replay_frames(own, video, labelled.windows, 60, 1)
    assert np.array_equal(again.labels[0], labelled.labels[0])
    assert np.array_equal(again.confidence, labelled.confidence)


def test_what_no_question_fits_into_is_spent_on_edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where painting was so slow that it followed none."""
    clock, video = Clock(), write_images(tmp_path / "f", street(20))
    own = engine(clock, {"dcnn": 0.1})

    def plainly(brush: Hurried, t: int, probabilities: Float32, top: UInt8, _: UInt8 | None, out: UInt8) -> None:
        Again(brush.sure, (), ()).paint(t, probabilities, top, None, out)

    monkeypatch.setattr(Hurried, "paint", plainly)
    monkeypatch.setattr(Hurried, "fits_edges", lambda *_: False)
    labelled = label_frames(own, video, budgets(0.55), clock=clock)
    (window,) = labelled.windows
    assert window.paintings[0].sharp == tuple(range(20))
    assert labelled.ledgers[0].stages["fusing and pixels"].count == 1 + 20
    again = replay_frames(own, video, labelled.windows, 20, 1)
    assert np.array_equal(again.labels[0], labelled.labels[0])


def test_a_trace_of_frames_that_were_not_read_is_refused() -> None:
    clock = Clock()
    labelled = label_frames(engine(clock, COSTS), source(street(6), clock), budgets(1.0), clock=clock)
    stored = labelled.windows[0].as_dict()
    with pytest.raises(ValueError, match="frames that are not there"):
        WindowTrace.from_dict({**stored, "read": stored["read"][:1]})


@pytest.mark.parametrize("n_frames", [1, 2, 3])
def test_the_shortest_videos_get_labels_too(n_frames: int) -> None:
    for budget_s in (0.02, 1.0, np.inf):
        clock = Clock()
        labelled = label_frames(engine(clock, COSTS), source(street(n_frames), clock), budgets(budget_s), clock=clock)
        assert labelled.labels[0].shape == labelled.confidence.shape == (n_frames, SIZE[1], SIZE[0])
        assert labelled.labels[0].max() < 3


def test_a_run_is_gone_on_from_beside_its_own_account() -> None:
    clock, frames = Clock(), street(24)
    own = engine(clock, COSTS)
    first = label_frames(own, source(frames, clock), budgets(0.3), clock=clock)
    second = label_frames(own, source(frames, clock), budgets(0.3), earlier=first.windows, clock=clock)
    n_before = len(first.windows[0].asks)
    assert second.windows[0].asks[:n_before] == first.windows[0].asks
    assert len(second.windows[0].asks) > n_before
    assert second.ledgers[0].spent_s <= 0.3
    assert any("beside the budget" in note for note in second.ledgers[0].notes)


def test_long_videos_are_cut_in_windows_that_share_the_budget_by_frames() -> None:
    clock = Clock()
    request = replace(budgets(2.0), window=10)
    labelled = label_frames(engine(clock, COSTS), source(street(30), clock), request, clock=clock)
    assert [window.n_frames for window in labelled.windows] == [10, 10, 10]
    assert labelled.ledgers[0].spent_s <= 2.0
    n_asked = [len(window.asks) for window in labelled.windows]
    assert max(n_asked) <= min(n_asked) + 2
    whole = label_frames(engine(Clock(), {"dcnn": 1e-6}), source(street(30), clock), budgets(np.inf))
    assert np.mean(labelled.labels[0] == whole.labels[0]) > 0.9


def test_who_stops_still_has_labels_for_all_pixels() -> None:
    clock = Clock()
    request = replace(budgets(np.inf), window=10)
    labelled = label_frames(engine(clock, COSTS), source(street(20), clock), request, lambda: True, clock=clock)
    assert labelled.labels[0].shape[0] == 20
    assert sum(counts(labelled).values()) == 1
    assert (labelled.labels[0][10:] == 1).all()
    assert labelled.ledgers[0].notes == ["stopped: the rest of the video has the most frequent class"]


class Broken(Shades):
    def __call__(self, frame: UInt8) -> Float32:
        said = super().__call__(frame)
        if self.clock() > 0.2:
            raise RuntimeError("no more")
        return said


@pytest.mark.parametrize("names", [("dcnn",), ("dcnn", "dcnn_large")])
def test_a_network_that_fails_is_dropped_and_the_run_ends_well(names: Sequence[str]) -> None:
    clock = Clock()
    own = engine(clock, {name: COSTS[name] for name in names})
    own = replace(own, networks={name: Broken(clock, COSTS[name]) for name in names})
    labelled = label_frames(own, source(street(24), clock), budgets(1.0), clock=clock)
    assert any("failed (RuntimeError: no more); dropped" in note for note in labelled.ledgers[0].notes)
    assert labelled.labels[0].max() < 3


def test_a_network_may_fail_when_there_is_no_time_for_another_question() -> None:
    for budget_s in (0.02 * k for k in range(10, 20)):
        clock = Clock()
        own = engine(clock, COSTS)
        own = replace(own, networks={**own.networks, "dcnn_large": Broken(clock, COSTS["dcnn_large"])})
        labelled = label_frames(own, source(street(24), clock), budgets(budget_s), clock=clock)
        assert labelled.ledgers[0].spent_s <= budget_s
        assert labelled.labels[0].max() < 3


class Stuck(Shades):
    """Answers a few times, and then not before it is cut off."""

    def __init__(self) -> None:
        super().__init__(Clock())
        self.asked, self.cut = 0, threading.Event()

    def __call__(self, frame: UInt8) -> Float32:
        self.asked += 1
        if self.asked <= 3:
            return super().__call__(frame)
        assert self.cut.wait(20)
        raise LateError

    def cut_off(self) -> None:
        self.cut.set()


def test_a_network_that_does_not_return_in_time_is_cut_off() -> None:
    clock, usual = time.perf_counter, engine(Clock(), {"dcnn": 0.01})
    video = source(street(24), Clock())
    label_frames(usual, video, budgets(0.5), clock=Clock())  # compiles
    own = replace(usual, networks={"dcnn": (network := Stuck())})
    started = clock()
    labelled = label_frames(own, video, budgets(0.5), clock=clock)
    assert clock() - started < 0.6
    ledger = labelled.ledgers[0]
    assert network.asked == 4
    assert ledger.descriptors["dcnn"].count == 3
    assert ledger.work_left
    assert not any("dropped" in note for note in ledger.notes)
    assert len(np.unique(labelled.labels[0])) > 1


def test_more_key_frames_are_closer_to_the_network_on_every_frame() -> None:
    frames = street(40)
    truth = label_frames(engine(Clock(), {"dcnn": 1e-6}), source(frames, Clock()), budgets(np.inf)).labels[0]
    shares = []
    for budget_s in (0.03, 0.1, 0.5):
        clock = Clock()
        labels = label_frames(engine(clock, {"dcnn": 0.01}), source(frames, clock), budgets(budget_s), clock=clock)
        shares.append(float(np.mean(labels.labels[0] == truth)))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_shares_are_of_what_everything_would_cost() -> None:
    clock = Clock()
    request = Request((Budget(0.5, is_share=True),))
    labelled = label_frames(engine(clock, COSTS), source(street(20), clock), request, clock=clock)
    assert labelled.ledgers[0].budget_s == pytest.approx(0.5 * 20 * 2 * 0.05, rel=0.05)
    assert labelled.ledgers[0].spent_s <= 0.5 * 20 * 2 * 0.05 * 1.01


def test_the_scope_of_descriptors_is_refused() -> None:
    clock = Clock()
    with pytest.raises(UsageError, match="use --engine supervoxels"):
        label_frames(engine(clock, COSTS), source(street(2), clock), Request((Budget(1),), "descriptors"))


def test_memory_for_large_labels_is_made_ready_beside_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budgetseg.frames.label.LARGE", 1000)
    clock = Clock()
    each = Crew.each

    def slowly(*words: Any) -> int:
        clock.pass_by(0.1)  # the first is for memory
        return each(*words)

    monkeypatch.setattr(Crew, "each", slowly)
    labelled = label_frames(engine(clock, COSTS), source(street(6), clock), budgets(30.0), clock=clock)
    (ledger,) = labelled.ledgers
    size = f"{6 * SIZE[0] * SIZE[1] / 1e9:.2g} GB"
    assert ledger.notes == [f"memory for labels, {size}, was made ready in 0.1 s beside the budget"]
    assert ledger.spent_s == pytest.approx(clock.now - 0.1)
