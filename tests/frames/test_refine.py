"""Labels of supervoxels that networks have seen the pixels of."""

import math
from dataclasses import replace

import numpy as np
import pytest

from budgetseg.frames.plan import COARSE, COPY, FINE
from budgetseg.frames.refine import FrameRefiner
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.refining import Asking, Clock, Extent, Refined, Seen
from budgetseg.types import Float32, UInt8
from tests.frames.worlds import CELLS, N_LABELS, SIZE, Shades, engine
from tests.frames.worlds import Clock as Time

N_FRAMES = 9
DARK, MIDDLE, BRIGHT = range(3)


def frames() -> UInt8:
    """Dark, with a bright square that moves to the right."""
    pixels = np.full((N_FRAMES, SIZE[1], SIZE[0], 3), 51, np.uint8)
    for t, frame in enumerate(pixels):
        frame[20:44, 12 + 4 * t : 36 + 4 * t] = 204
    return pixels


def truth() -> UInt8:
    return np.where(frames()[..., 0] > 128, BRIGHT, DARK).astype(np.uint8)


def seen(asked: range, stride: int = 1, opinion: int = DARK, name: str = "dcnn") -> Seen:
    """What is known where a network was asked about some frames, and a frame is a single supervoxel."""
    pictures = frames()[::stride]
    network, ids = Shades(Time()), np.zeros(pictures.shape[:3], np.int32)
    ids += np.arange(len(pictures), dtype=np.int32)[:, None, None]
    opinions = np.tile(np.eye(N_LABELS, dtype=np.float32)[opinion], (len(pictures), 1))
    return Seen(stride, pictures, {name: {k: network(pictures[k]) for k in asked}}, ids, opinions)


def refiner_that_paints(seconds: float) -> FrameRefiner:
    """In so many seconds a pixel."""
    known = {"flow coarse": 1e-7, "flow fine": 5e-7, "paint": seconds, "sharpen": 1e-8, "answers": 1e-4}
    return FrameRefiner(engine(Time(), {"dcnn": 0.01}, known), SIZE[::-1])


@pytest.fixture
def refiner() -> FrameRefiner:
    return refiner_that_paints(1e-8)


def books(refiner: FrameRefiner) -> Books:
    return Books(Ledger(None), refiner.engine.stages)


def plain() -> UInt8:
    """What supervoxels alone would say."""
    return np.full(truth().shape, DARK, np.uint8)


def share_right(labels: UInt8) -> float:
    return float((labels == truth()).mean())


@pytest.mark.parametrize(("asked", "stride"), [(range(9), 1), (range(0, 9, 4), 1), (range(5), 2)])
def test_pixels_get_what_the_network_saw_of_them_though_their_supervoxel_holds_two_classes(
    refiner: FrameRefiner, asked: range, stride: int
) -> None:
    out = plain()
    refined = refiner.refine(books(refiner), seen(asked, stride), COARSE, Clock(lambda: 0.0, math.inf), out)
    assert refined is not None
    assert refined.answers == {"dcnn": tuple(asked)}
    assert refined.late == ()
    assert share_right(plain()) < 0.91
    assert share_right(out) > 0.97


def test_supervoxels_decide_where_the_network_is_of_two_minds(refiner: FrameRefiner) -> None:
    known = seen(range(0, 9, 8), opinion=MIDDLE)
    torn = np.zeros((*CELLS, N_LABELS), np.float32)
    torn[...] = [0.0, 0.499, 0.501]  # bright by a hair
    torn[: CELLS[0] // 2] = [0.0, 0.01, 0.99]  # bright beyond doubt
    known.answers["dcnn"].update(dict.fromkeys(known.answers["dcnn"], torn))  # type: ignore[attr-defined]
    out = plain()
    refiner.refine(books(refiner), known, COARSE, Clock(lambda: 0.0, math.inf), out)
    assert (out[:, : SIZE[1] // 2 - 8] == BRIGHT).all()
    assert (out[:, SIZE[1] // 2 + 8 :] == MIDDLE).all()


@pytest.mark.parametrize(("apart", "says"), [(1.0, MIDDLE), (20.0, BRIGHT)])
def test_supervoxels_do_not_speak_of_strangers_that_a_network_has_seen(
    refiner: FrameRefiner, apart: float, says: int
) -> None:
    known, torn = replace(seen(range(0, 9, 8), opinion=MIDDLE), apart=apart), np.zeros((*CELLS, N_LABELS), np.float32)
    torn[...] = [0.0, 0.499, 0.501]  # bright by a hair
    known.answers["dcnn"].update(dict.fromkeys(known.answers["dcnn"], torn))  # type: ignore[attr-defined]
    out = plain()
    refined = refiner.refine(books(refiner), known, COARSE, Clock(lambda: 0.0, math.inf), out)
    assert refined is not None
    assert (out[[0, 8]] == says).all()


@pytest.mark.parametrize(("carry", "apart"), [(COARSE, 1.0), (FINE, 1.0), (COARSE, 20.0)])
def test_it_is_done_again_to_the_pixel(refiner: FrameRefiner, carry: str, apart: float) -> None:
    known, found = replace(seen(range(0, 9, 3)), apart=apart), []
    for end_s in np.arange(0.1, 0.8, 0.05):
        out, again, now = plain(), plain(), iter(np.arange(0, 100, 0.01))
        refined = refiner.refine(books(refiner), known, carry, Clock(lambda now=now: float(next(now)), end_s), out)  # type: ignore[misc]
        if refined is not None:
            assert refined.apart == apart
            refiner.again(seen(range(0, 9, 3)), refined, again)
            assert np.array_equal(out, again)
            found.append(refined)
            assert refined.carry == COPY or (out[list(refined.late)] == DARK).all()  # as supervoxels have it
    assert any(len(one.late) > 0 for one in found)
    assert any(0 < len(one.sharp) < N_FRAMES for one in found)


def test_without_answers_or_time_labels_stay_as_they_were(refiner: FrameRefiner) -> None:
    for asked, end_s in ((range(0), math.inf), (range(9), -1.0)):
        out = plain()
        assert refiner.refine(books(refiner), seen(asked), COARSE, Clock(lambda: 0.0, end_s), out) is None
        assert np.array_equal(out, plain())


@pytest.mark.parametrize("apart", [1.0, 20.0])
def test_what_is_left_of_the_time_goes_to_more_frames(refiner: FrameRefiner, apart: float) -> None:
    def asked(left_s: float) -> tuple[Refined, UInt8]:
        known, out, time = replace(seen(range(0, 9, 4)), apart=apart), plain(), Time()

        def ask(k: int) -> Float32:
            time.pass_by(1.0)
            return Shades(Time())(frames()[k])

        asking = Asking("dcnn", ask, lambda: 1.0)
        refined = refiner.refine(books(refiner), known, COARSE, Clock(time, left_s), out, [asking])
        assert refined is not None
        again = plain()
        refiner.again(seen_of(refined), refined, again)
        assert np.array_equal(out, again)
        return refined, out

    for left_s, n_more in ((0.5, 0), (1.5, 1), (3.5, 3), (100.0, 6)):
        refined, _ = asked(left_s)
        assert len(refined.answers["dcnn"]) == 3 + n_more


def seen_of(refined: Refined) -> Seen:
    """As of all frames, but for answers that were not made use of."""
    known = seen(range(9))
    return replace(known, answers={"dcnn": {k: known.answers["dcnn"][k] for k in refined.answers["dcnn"]}})


def test_more_answers_about_more_frames_are_worth_more_and_more_so_where_they_follow_what_moves(
    refiner: FrameRefiner,
) -> None:
    few, many = (Extent(N_FRAMES, N_FRAMES, SIZE[::-1], n) for n in (2.0, 9.0))
    some = few._replace(n_worked=3)
    for carry in (COARSE, FINE):
        assert (
            refiner.worth(some, carry, "dcnn")
            < refiner.worth(few, carry, "dcnn")
            < refiner.worth(many, carry, "dcnn")
            <= 0
        )
    # What is copied is the same however many frames were read.
    assert refiner.worth(some, COPY, "dcnn") == refiner.worth(few, COPY, "dcnn") < refiner.worth(many, COPY, "dcnn") < 0
    assert refiner.worth(few, COPY, "dcnn") < refiner.worth(few, COARSE, "dcnn") < refiner.worth(few, FINE, "dcnn")
    assert refiner.seconds(books(refiner), few, COPY) < refiner.seconds(books(refiner), few, COARSE)


@pytest.mark.parametrize("rough", [False, True])
def test_late_frames_keep_labels_of_supervoxels_but_not_of_blocks(refiner: FrameRefiner, rough: bool) -> None:
    known, n_late = replace(seen(range(0, 9, 4)), rough=rough), 0
    for end_s in np.arange(0.05, 0.4, 0.02):
        out, again, now = plain(), plain(), iter(np.arange(0, 100, 0.01))
        clock = Clock(lambda now=now: float(next(now)), float(end_s))  # type: ignore[misc]
        refined = refiner.refine(books(refiner), known, COARSE, clock, out)
        if refined is None or refined.carry == COPY:
            continue
        refiner.again(known, refined, again)
        assert np.array_equal(out, again)
        late = out[list(refined.late)]
        assert (late == DARK).all() == (not rough or not len(late))
        n_late += len(late)
    assert n_late > 0


def test_where_there_is_no_time_for_flow_labels_are_copied() -> None:
    known, carries = seen(range(0, 9, 4)), set()
    for end_s in np.arange(0.0, 0.3, 0.01):
        refiner = refiner_that_paints(1e-6)
        out, again, now = plain(), plain(), iter(np.arange(0, 100, 0.01))
        clock = Clock(lambda now=now: float(next(now)), float(end_s))  # type: ignore[misc]
        refined = refiner.refine(books(refiner), known, COARSE, clock, out)
        if refined is None:
            assert np.array_equal(out, plain())
            continue
        carries.add(refined.carry)
        refiner.again(known, refined, again)
        assert np.array_equal(out, again)
        if refined.carry == COPY:
            assert all(any(np.array_equal(own, out[key]) for key in (0, 4, 8)) for own in out)
    assert carries == {COARSE, COPY}


def test_more_answers_take_more_time(refiner: FrameRefiner) -> None:
    few, many = (Extent(N_FRAMES, N_FRAMES, SIZE[::-1], n) for n in (2.0, 9.0))
    assert refiner.seconds(books(refiner), few, COARSE) < refiner.seconds(books(refiner), many, COARSE)
