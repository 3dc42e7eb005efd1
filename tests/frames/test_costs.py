"""What work on frames costs is foretold by what it took, on this machine and in this window."""

import numpy as np
import pytest
from budgetseg.frames.costs import SLACK, WindowCosts
from budgetseg.frames.evidence import Evidence
from budgetseg.frames.plan import COPY, FINE
from budgetseg.frames.reader import Reader
from budgetseg.inference.ledger import Ledger

from tests.frames.worlds import CELLS, SIZE, Clock, engine, source, street

N_FRAMES = 12
COSTS = {"dcnn": 0.01, "dcnn_large": 0.05}


@pytest.fixture
def costs() -> WindowCosts:
    clock = Clock()
    reader = Reader(source(street(N_FRAMES), clock), 1)
    return WindowCosts(engine(clock, COSTS), Evidence(N_FRAMES, CELLS), reader, SIZE[::-1], Ledger(None))


def test_what_was_seen_here_soon_counts_more_than_what_was_known(costs: WindowCosts) -> None:
    assert costs.ask_s("dcnn") == pytest.approx(0.01)
    for _ in range(2):
        costs.answered("dcnn", 0.03)
    assert costs.ask_s("dcnn") == pytest.approx(0.02)
    assert costs.call_s("dcnn") == pytest.approx(SLACK * 0.03)  # what the last ones took
    costs.asked({}, {"dcnn": 0.01}, 0.07)
    entry = costs.books.ledger.descriptors["dcnn"]
    assert entry.count == 2
    assert [entry.planned_s, entry.spent_s] == pytest.approx([0.02, 0.06])
    assert costs.books.ledger.stages["networks"].spent_s == pytest.approx(0.07)


def test_a_question_that_was_cut_off_teaches_only_where_it_took_longer_than_was_known(costs: WindowCosts) -> None:
    stages = costs.books.stages
    costs.cut_off("dcnn", 0.005)
    assert stages.predict("frames dcnn 1", 1) == pytest.approx(0.01)
    costs.cut_off("dcnn", 0.04)
    assert 0.01 < stages.predict("frames dcnn 1", 1) < 0.04


@pytest.mark.parametrize("carry", [COPY, FINE])
def test_painting_is_foretold_as_it_was_seen(costs: WindowCosts, carry: str) -> None:
    for _ in range(20):
        costs.painted(carry, 6, 0, 0, 0.3)
    if carry == COPY:
        assert costs.paint_s(COPY, 2.0) == pytest.approx(0.3 + costs.copy_s(12))
    assert costs.paint_s(carry, 1.0) > costs.paint_s(carry, 4.0)


@pytest.mark.parametrize("carry", [COPY, FINE])
def test_painting_costs_something_though_all_frames_were_painted_along_edges(costs: WindowCosts, carry: str) -> None:
    costs.painted(carry, 6, 0, 0, 0.3)
    before_s, n_painted = costs.paint_s(carry, 2.0), 6 if carry == COPY else 12
    for _ in range(50):
        costs.painted(carry, 6, 0, n_painted, 0.0)
    assert costs.paint_s(carry, 2.0) == before_s >= n_painted * costs.plain_s > 0
    assert costs.books.ledger.stages["fusing and pixels"].count == 51


def test_nothing_that_was_decoded_teaches_nothing(costs: WindowCosts) -> None:
    before = costs.decode_s(1)
    costs.decoded(0, 3.0)
    assert costs.decode_s(1) == before
    costs.decoded(4, 0.8)
    assert before < costs.decode_s(1) < 0.2
    assert np.isclose(costs.decode_s(2), 2 * costs.decode_s(1))
