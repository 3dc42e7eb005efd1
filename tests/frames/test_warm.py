"""What is known of a machine when frames are made ready."""

import pytest
from budgetseg.frames.costs import PaintingCosts
from budgetseg.frames.evidence import Evidence
from budgetseg.frames.plan import CARRIES
from budgetseg.frames.warm import STAGES, calibrate_frames, warm_up_frames
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.stages import StageCosts

from tests.frames.worlds import CELLS, SIZE, Clock, engine


@pytest.mark.parametrize("networks", [("dcnn",), ("dcnn", "dcnn_large")])
def test_everything_has_a_price_though_networks_have_few_cells_and_all_is_painted_along_edges(
    networks: tuple[str, ...],
) -> None:
    one = engine(Clock(), dict.fromkeys(networks, 0.0))
    object.__setattr__(one, "stages", StageCosts())
    warm_up_frames(one)
    assert not any(f"frames {name} 1" in one.stages for name in STAGES)  # nothing is learned from compiling
    assert calibrate_frames(one)
    assert not calibrate_frames(one)
    for name in STAGES:
        assert one.stages.predict(f"frames {name} 1", 1.0) > 0
    costs = PaintingCosts(Books(Ledger(None), one.stages), Evidence(10, CELLS), SIZE[::-1], 1)
    for carry in CARRIES:
        assert costs.paint_s(carry, 2.0) > 10 * costs.plain_s / 2 > 0
