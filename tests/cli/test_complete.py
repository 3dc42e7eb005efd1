"""What the shell completes is what the library takes."""

import pytest

from budgetseg.app.export.formats import FORMATS
from budgetseg.app.spaces import SPACES
from budgetseg.app.strategy import POLICIES
from budgetseg.cli.complete import NAMES, one_of
from budgetseg.engine.request import SCOPES
from budgetseg.evaluation.experiment import RUNS
from budgetseg.models.find import bundled_models
from budgetseg.policy.static import COSTS
from budgetseg.policy.steps import ORDERS
from budgetseg.supervoxels.tiers import TIERS

TAKEN = {
    "clock": [clock for _, clock in RUNS],
    "costs": COSTS,
    "format": FORMATS,
    "policy": POLICIES,
    "scope": SCOPES,
    "select": ORDERS,
    "space": SPACES,
    "tier": TIERS,
}


@pytest.mark.parametrize("what", TAKEN)
def test_names_are_those_that_the_library_takes(what: str) -> None:
    assert list(NAMES[what]()) == list(TAKEN[what])


def test_what_was_begun_is_completed() -> None:
    assert one_of("dataset")("camvid-") == ["camvid-original"]
    assert one_of("model")("cam") == [name for name in bundled_models() if name.startswith("cam")] == ["camvid"]
    assert one_of("space")("drive.mp4") == []
