"""All frames get labels from the predictions of some: fused or copied, in time, with where they come from."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from budgetseg.engine.loop import Outcome
from budgetseg.propagate.cells import confidence_of, top_classes
from budgetseg.propagate.edges import paint_edges
from budgetseg.propagate.order import spread
from budgetseg.propagate.paint import paint
from budgetseg.spaces.frames import painter as painter_module
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.painter import Painter
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.timing.clock import CostClock, ManualClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.types import Action, Batch, Float32, UInt8
from tests.spaces.frames.worlds import N_PIXELS, SECONDS, SIZE, open_state, shades, slides, space_of, street

N = 12
FRAMES = street(N)
SMALL, LARGE = range(2)
KEYS = {2: SMALL, 9: SMALL}


def state_with(keys: Mapping[int, int], stride: int = 1, answer: Callable[[UInt8], Float32] = shades) -> FrameState:
    """A window whose frames were read, every so many of them, with predictions for some, by network."""
    space = space_of(FRAMES)
    settings = replace(space.settings, rehearsals=0)
    state = open_state(replace(space, settings=settings), slides(FRAMES[:N]))
    state.footage.frames = {t: FRAMES[t] for t in range(0, N, stride)}
    state.footage.read = sorted(state.footage.frames)
    state.footage.find_flow(np.inf)
    for t, network in keys.items():
        batch = Batch.of([Action(t, network)], [0.0])
        state.add(batch, Outcome(Prediction.of(answer(FRAMES[t])), np.zeros(1), np.zeros(1)))
    return state


def painter_of(
    state: FrameState, end_s: float = np.inf, clock: ManualClock | CostClock | None = None, threads: int = 1
) -> tuple[Painter, Ledger]:
    space = space_of(FRAMES, threads=threads)
    ledger = Ledger(None)
    account = Account(clock or ManualClock(), space.prices, ledger)
    return Painter(space, account, space.costs(N_PIXELS), state, state.footage.timeline(FLOW), N, end_s), ledger


def painted(state: FrameState, carry: str, edges: bool = False, threads: int = 1) -> UInt8:
    out = np.full((N, *SIZE[::-1]), 255, np.uint8)
    assert painter_of(state, threads=threads)[0].paint(carry, edges, out) == ()
    return out


def plainly(probabilities: Float32, t: int | None = None) -> UInt8:
    """Labels (H, W) of one prediction; along the edges of frame t, if it is given."""
    labels, top = np.empty(SIZE[::-1], np.uint8), top_classes(probabilities)
    if t is None:
        paint(probabilities, top, labels)
    else:
        settings = space_of(FRAMES).settings.propagation
        paint_edges(probabilities, top, np.ascontiguousarray(FRAMES[t]), labels, settings)
    return labels


# Labels


@pytest.mark.parametrize("edges", [False, True])
def test_where_labels_are_copied_each_frame_has_those_of_the_nearest_key_frame(edges: bool) -> None:
    out = painted(state_with(KEYS), COPY, edges)
    for key in KEYS:
        assert np.array_equal(out[key], plainly(shades(FRAMES[key]), key if edges else None))
    for t in range(N):
        assert np.array_equal(out[t], out[2 if t <= 5 else 9])


def test_of_a_key_frame_that_two_networks_have_seen_the_dearer_one_is_copied() -> None:
    state = state_with({4: SMALL})
    batch = Batch.of([Action(4, LARGE)], [0.0])
    other = np.roll(shades(FRAMES[4]), 1, axis=2)
    state.add(batch, Outcome(Prediction.of(other), np.zeros(1), np.zeros(1)))
    assert np.array_equal(painted(state, COPY)[0], plainly(other))


@pytest.mark.parametrize("edges", [False, True])
def test_a_key_frame_out_of_reach_of_all_others_has_its_own_labels(edges: bool) -> None:
    out = painted(state_with(KEYS), FLOW, edges)
    for key in KEYS:
        assert np.array_equal(out[key], plainly(shades(FRAMES[key]), key if edges else None))


def test_frames_between_key_frames_are_closer_to_their_own_prediction_than_copies_are() -> None:
    state = state_with(KEYS)
    fused, copied = painted(state, FLOW), painted(state, COPY)
    own = np.stack([plainly(shades(frame)) for frame in FRAMES])
    assert np.mean(fused == own) > np.mean(copied == own) > 0.5


@pytest.mark.parametrize("carry", [FLOW, COPY])
def test_any_number_of_threads_paints_the_same(carry: str) -> None:
    state = state_with(KEYS)
    assert np.array_equal(painted(state, carry, True), painted(state, carry, True, threads=3))


def test_frames_that_were_not_read_have_labels_too() -> None:
    state = state_with({0: SMALL, 8: LARGE}, stride=4)
    out = painted(state, FLOW, edges=True)
    assert (out < 3).all()
    own = np.stack([plainly(shades(frame)) for frame in FRAMES])
    assert np.mean(out == own) > 0.6


# Confidence and explanation


def test_confidence_is_the_share_of_the_class_of_a_key_frame_and_of_what_was_fused() -> None:
    state, out = state_with(KEYS), np.empty((N, *SIZE[::-1]), np.uint8)
    for carry in (FLOW, COPY):
        painter, _ = painter_of(state)
        painter.paint(carry, False, out)
        assert np.array_equal(painter.confidence[2], confidence_of(shades(FRAMES[2])))
        assert (painter.confidence > 84).all()  # of three classes the most probable one has a third at least


def test_what_was_copied_comes_from_the_nearest_key_frame_and_its_network() -> None:
    state = state_with({2: SMALL, 9: LARGE})
    why = painter_of(state)[0].explain(COPY, ())
    assert why["key_frames"].shape == why["networks"].shape == (N, *state.footage.grey(2).shape)
    for t in range(N):
        assert (why["key_frames"][t] == (2 if t <= 5 else 9)).all()
        assert (why["networks"][t] == (SMALL if t <= 5 else LARGE)).all()


def test_what_was_fused_comes_from_one_of_its_key_frames_and_the_network_that_saw_it() -> None:
    state = state_with({2: LARGE, 9: LARGE, 10: SMALL})
    why = painter_of(state)[0].explain(FLOW, ())
    assert (why["key_frames"][2] == 2).all()
    for t, own in enumerate(state.fusion_neighbours(state.footage.timeline(FLOW))):
        pairs = {tuple(pair) for pair in np.stack([why["networks"][t], why["key_frames"][t]], axis=-1).reshape(-1, 2)}
        assert pairs <= set(own)
    assert {2, 9} <= set(np.unique(why["key_frames"]))


def test_a_frame_for_which_there_was_no_time_comes_from_where_the_nearest_painted_one_comes_from() -> None:
    state = state_with(KEYS)
    why = painter_of(state)[0].explain(FLOW, (0, 1, 11))
    assert np.array_equal(why["key_frames"][0], why["key_frames"][2])
    assert np.array_equal(why["key_frames"][11], why["key_frames"][10])
    assert (painter_of(state)[0].explain(COPY, (9,))["key_frames"] == 2).all()


# Time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> ManualClock:
    """Of a machine on which a frame is painted in 0.1 s, much more than is known."""
    clock = ManualClock()

    def slow(*words: object) -> None:
        paint(*words)  # type: ignore[arg-type]
        clock.advance(0.1)

    monkeypatch.setattr(painter_module, "paint", slow)
    return clock


@pytest.mark.parametrize("end_s", [0.45, 0.85])
def test_frames_for_which_there_is_no_time_are_spread_and_have_the_labels_of_the_nearest(
    clock: ManualClock, end_s: float
) -> None:
    out = np.full((N, *SIZE[::-1]), 255, np.uint8)
    state = state_with(KEYS)
    timeline = state.footage.timeline(FLOW)
    painter, ledger = painter_of(state, end_s, clock)
    late = painter.paint(FLOW, False, out)
    assert clock.now_s() <= end_s
    done = sorted(set(range(N)) - set(late))
    assert done == sorted(spread(N)[: int(end_s / 0.1)])
    for t in late:
        nearest = min(done, key=lambda other, t=t: timeline.distance(other, t))  # type: ignore[misc]
        assert np.array_equal(out[t], out[nearest])
        assert np.array_equal(painter.confidence[t], painter.confidence[nearest])
    assert list(ledger.stages) == ["copies", "fusing", "pixels"]
    assert ledger.stages["pixels"].spent_s == pytest.approx(0.1 * len(done))


def test_of_copied_labels_key_frames_are_late(clock: ManualClock) -> None:
    out = np.full((N, *SIZE[::-1]), 255, np.uint8)
    late = painter_of(state_with(dict.fromkeys(range(0, N, 2), SMALL)), 0.35, clock)[0].paint(COPY, False, out)
    assert len(late) == 3
    assert set(late) <= set(range(0, N, 2))
    assert (out < 3).all()


@pytest.mark.parametrize("carry", [FLOW, COPY])
def test_one_frame_is_painted_however_late_it_is(clock: ManualClock, carry: str) -> None:
    out = np.full((N, *SIZE[::-1]), 255, np.uint8)
    late = painter_of(state_with(KEYS), -1.0, clock)[0].paint(carry, False, out)
    assert len(late) == (N - 1 if carry == FLOW else 1)
    assert (out == out[0]).all()
    assert out.max() < 3


@pytest.mark.parametrize("carry", [FLOW, COPY])
def test_painting_again_without_the_frames_that_were_late_gives_the_same_labels(clock: ManualClock, carry: str) -> None:
    state = state_with(dict.fromkeys(range(0, N, 2), SMALL))
    first, second = (np.full((N, *SIZE[::-1]), 255, np.uint8) for _ in range(2))
    late = painter_of(state, 0.35, clock)[0].paint(carry, False, first)
    assert late
    painter_of(state)[0].paint(carry, False, second, late)
    assert np.array_equal(first, second)


@pytest.mark.parametrize(("carry", "edges"), [(FLOW, False), (FLOW, True), (COPY, False), (COPY, True)])
def test_under_a_simulated_clock_the_end_takes_what_it_is_predicted_to(carry: str, edges: bool) -> None:
    state, clock, out = state_with(KEYS), CostClock(), np.empty((N, *SIZE[::-1]), np.uint8)
    painter_of(state, clock=clock)[0].paint(carry, edges, out)
    n_sources = sum(
        len(own) for t, own in enumerate(state.fusion_neighbours(state.footage.timeline(FLOW))) if t not in KEYS
    )
    n_painted = N if carry == FLOW else len(KEYS)
    expected_s = n_painted * (SECONDS["pixels"] + edges * SECONDS["edges"]) + (N - n_painted) * SECONDS["copies"]
    assert clock.now_s() == pytest.approx(expected_s + (carry == FLOW) * n_sources * SECONDS["fusing"])


def test_stages_are_booked_with_the_seconds_of_all_threads_together() -> None:
    clock, out = CostClock(), np.empty((N, *SIZE[::-1]), np.uint8)
    painter, ledger = painter_of(state_with(KEYS), clock=clock)
    painter.paint(FLOW, True, out)
    assert list(ledger.stages) == ["fusing", "pixels", "edges"]
    assert ledger.stages["edges"].spent_s == pytest.approx(N * SECONDS["edges"])
    assert sum(entry.spent_s for entry in ledger.stages.values()) == pytest.approx(clock.now_s())


def test_prices_of_painting_are_learned() -> None:
    state, clock = state_with(KEYS), ManualClock()
    space = space_of(FRAMES)
    prices = replace(space, prices=space.prices.freeze()).prices
    prices.frozen = False
    account = Account(clock, prices, Ledger(None))
    painter = Painter(space, account, space.costs(N_PIXELS), state, state.footage.timeline(FLOW), N, np.inf)
    painter.paint(FLOW, False, np.empty((N, *SIZE[::-1]), np.uint8))
    assert prices.predict("frames pixels", float(N_PIXELS)) < SECONDS["pixels"]  # it took no time at all
