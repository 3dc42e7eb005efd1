"""A run that is done again gives the same labels."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from budgetseg.app.loaded import LoadedModel
from budgetseg.app.replay import replay
from budgetseg.engine.labelled import Earlier, Labelled
from budgetseg.spaces.regions.window import NEVER, WindowRun

from budgetseg.app.trace import Trace, VideoMark, WindowTrace
from budgetseg.engine.plan import Plan, choose_plan
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.types import Budget
from budgetseg.video import VideoSource, open_video
from tests.app.streets import write_street


def trace_of(loaded: LoadedModel, source: VideoSource, labelled: Labelled, n_budgets: int) -> Trace:
    windows = [WindowTrace.of(why) for why in labelled.whys]
    assert labelled.plan is not None
    settings = {"budgets": ["?"] * n_budgets, "scope": "total"}
    return Trace(VideoMark.of(source, len(labelled.labels[0])), loaded.mark, settings, labelled.plan, windows)


def check_same(labelled: Labelled, again: Labelled) -> None:
    for first, second in zip(labelled.labels, again.labels, strict=True):
        assert np.array_equal(first, second)
    for why, other in zip(labelled.whys, again.whys, strict=True):
        assert np.array_equal(why.known.subsets, other.known.subsets)
        assert np.array_equal(why.opinions, other.opinions)
        assert np.array_equal(why.labels, other.labels)


@pytest.mark.parametrize("shares", [(0.3,), (0.1, 0.2, 0.6)])
@pytest.mark.parametrize("scope", ["descriptors", "total"])
def test_labels_at_every_budget_are_the_same(
    loaded: LoadedModel, street: Path, shares: tuple[float, ...], scope: str
) -> None:
    source = open_video(street)
    budgets = tuple(Budget(share, is_share=True) for share in shares)
    labelled = loaded.labeller.label(source, Request(budgets, scope))
    check_same(labelled, replay(loaded.labeller.engine, source, trace_of(loaded, source, labelled, len(shares))))


def test_so_they_are_in_every_window(loaded: LoadedModel, street: Path) -> None:
    source = open_video(street)
    labelled = loaded.labeller.label(source, Request((Budget(0.5, is_share=True),), "descriptors", window=5))
    assert len(labelled.whys) == 3
    check_same(labelled, replay(loaded.labeller.engine, source, trace_of(loaded, source, labelled, 1)))


@pytest.mark.parametrize("n_moves", [1, 2, 3])
def test_an_expansion_that_was_cut_short_is_cut_at_the_same_place(
    loaded: LoadedModel, street: Path, monkeypatch: pytest.MonkeyPatch, n_moves: int
) -> None:
    source, close = open_video(street), WindowRun.close

    def close_early(self: WindowRun, *_: object) -> bool:
        asked = iter(range(1, 1000))
        return close(self, lambda: next(asked) >= n_moves)

    with monkeypatch.context() as patch:
        patch.setattr(WindowRun, "close", close_early)
        labelled = loaded.labeller.label(source, Request((Budget(0.5, is_share=True),), "descriptors"))
    assert labelled.whys[0].closings[-1][1] == n_moves
    check_same(labelled, replay(loaded.labeller.engine, source, trace_of(loaded, source, labelled, 1)))


def test_budgets_that_are_over_before_there_are_labels_leave_no_trace_in_those_of_others(
    loaded: LoadedModel, street: Path
) -> None:
    source = open_video(street)
    labelled = loaded.labeller.label(source, Request((Budget(1e-5), Budget(1.5))))
    assert labelled.whys[0].closings[0] == NEVER
    assert len(labelled.whys[0].closings) > 1
    check_same(labelled, replay(loaded.labeller.engine, source, trace_of(loaded, source, labelled, 2)))


def test_a_run_below_the_floor_is_done_again_with_what_it_did_without(loaded: LoadedModel, street: Path) -> None:
    source = open_video(street)
    plan = Plan(len(list(source)), (32, 48), 10.0, stride=2)
    labelled = replay(loaded.labeller.engine, source, _planned(loaded, source, plan))
    assert labelled.labels[0].shape == (12, 64, 96)
    assert np.array_equal(labelled.labels[0][0::2], labelled.labels[0][1::2])


def test_supervoxels_of_another_tier_are_cut_so_again(loaded: LoadedModel, tmp_path: Path) -> None:
    source = open_video(write_street(tmp_path / "large.mp4", 12, (256, 192)))
    engine = replace(loaded.labeller.engine, tier="quality")
    plan = Plan(12, (192, 256), 10.0, stride=2, tier="fast")
    fast, slow = (replay(engine, source, _planned(loaded, source, replace(plan, tier=tier))) for tier in ("fast", None))
    again = replay(engine.of_tier("fast"), source, _planned(loaded, source, plan))
    check_same(fast, again)
    assert not np.array_equal(fast.whys[0].known.supervoxels.ids, slow.whys[0].known.supervoxels.ids)


def test_frames_that_were_made_smaller_after_they_were_read_are_so_again(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_video(write_street(tmp_path / "large.mp4", 4, (256, 192)))
    sizes = iter([(192, 256), (96, 128)])

    def shrink(full: Plan, *_: object) -> Plan:
        return replace(choose_plan(full, np.inf, lambda _: 0.0), size=next(sizes))

    monkeypatch.setattr("budgetseg.spaces.regions.floor.choose_plan", shrink)
    labelled = loaded.labeller.label(source, Request((Budget(2.0),)))
    assert labelled.plan is not None
    assert labelled.plan.read_size == (192, 256)
    check_same(labelled, replay(loaded.labeller.engine, source, trace_of(loaded, source, labelled, 1)))


def test_so_they_are_where_only_the_later_windows_are_smaller(
    loaded: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_video(write_street(tmp_path / "large.mp4", 8, (256, 192)))
    sizes = iter([(192, 256), (192, 256), (96, 128)])

    def shrink(full: Plan, *_: object) -> Plan:
        return replace(full, size=next(sizes))

    monkeypatch.setattr("budgetseg.spaces.regions.floor.choose_plan", shrink)
    labelled = loaded.labeller.label(source, Request((Budget(2.0),), window=4))
    assert [why.known.supervoxels.ids.shape for why in labelled.whys] == [(4, 192, 256), (4, 96, 128)]
    trace = trace_of(loaded, source, labelled, 1)
    check_same(labelled, replay(loaded.labeller.engine, source, trace))
    earlier = Earlier(trace.plan, [why.known for why in labelled.whys])
    more = loaded.labeller.label(source, Request((Budget(np.inf),), window=4), earlier=earlier)
    assert [why.known.supervoxels.ids.shape for why in more.whys] == [(4, 192, 256), (4, 96, 128)]
    assert more.labels[0].shape == (8, 192, 256)


def test_where_a_run_was_stopped_the_rest_is_the_likeliest_class(loaded: LoadedModel, street: Path) -> None:
    source = open_video(street)
    labelled = loaded.labeller.label(source, Request((Budget(0.5, is_share=True),), "descriptors", window=4))
    trace = trace_of(loaded, source, labelled, 1)
    again = replay(loaded.labeller.engine, source, replace(trace, windows=trace.windows[:2]))
    assert np.array_equal(again.labels[0][:8], labelled.labels[0][:8])
    assert (again.labels[0][8:] == loaded.labeller.model.classifiers.prior.argmax()).all()


def test_a_trace_of_something_else_is_refused(loaded: LoadedModel, street: Path) -> None:
    source = open_video(street)
    labelled = loaded.labeller.label(source, Request((Budget(0.2, is_share=True),), "descriptors"))
    trace = trace_of(loaded, source, labelled, 1)
    wrong = replace(trace.windows[0], steps=[step._replace(region=10**6) for step in trace.windows[0].steps])
    with pytest.raises(UsageError, match="the trace does not fit the video"):
        replay(loaded.labeller.engine, source, replace(trace, windows=[wrong]))


def _planned(loaded: LoadedModel, source: VideoSource, plan: Plan) -> Trace:
    settings = {"budgets": ["1s"], "scope": "total"}
    window = WindowTrace(6, plan.size, 60, [], [(0, None)], [0])
    return Trace(VideoMark.of(source, 12), loaded.mark, settings, plan, [window])
