"""What is known of a machine when regions are made ready."""

import numpy as np
import pytest

from budgetseg.policy.episode import Chooser, Episode, Selection
from budgetseg.spaces.regions.closing import STAGES
from budgetseg.spaces.regions.space import Regions
from budgetseg.spaces.regions.warm_up import calibrate, warm_up
from budgetseg.timing.prices import Prices
from budgetseg.types import Batch
from tests.spaces.regions.worlds import all_of, model_of, space_of

MODEL = model_of()
SIZES = ((96, 64), (160, 120))


def space_without_prices(tier: str = "fast", threads: int = 1) -> Regions:
    return space_of(MODEL, prices=Prices(), tier=tier, threads=threads)


def test_nothing_is_learned_from_compiling() -> None:
    space = space_without_prices()
    warm_up(space)
    for key in (space.cutting(1, (1, 1))[0], "pixels", *STAGES, "colour", "hog"):
        assert key not in space.prices


def test_warming_up_computes_some_descriptors_and_no_more() -> None:
    computed: list[int] = []

    def strategy(share: float) -> tuple[Chooser, Selection]:
        decide, selection = all_of(MODEL)(share)

        def watched(episode: Episode, n: int = 1, most_s: float = np.inf) -> Batch:
            computed.append(episode.n_computed)
            return decide(episode, n, most_s)

        return watched, selection

    warm_up(space_of(MODEL, strategy=strategy))
    assert max(computed) >= 30
    assert max(computed) < 200


@pytest.mark.parametrize("tier", ["fast", "quality"])
def test_every_stage_has_a_price_once_it_was_timed(tier: str) -> None:
    space = space_without_prices(tier)
    assert calibrate(space, SIZES, n_frames=4, seconds=0.01)
    again = [f"{stage} again" for stage in STAGES]
    for key in (space.cutting(1, (1, 1))[0], "preparation", "pixels", "asking H", *STAGES, *again):
        assert space.prices.predict(key, 1.0) > 0


def test_what_has_a_price_is_not_timed_again_but_another_tier_or_number_of_threads_is() -> None:
    space = space_without_prices()
    assert calibrate(space, SIZES, n_frames=4, seconds=0.01)
    assert not calibrate(space, SIZES, n_frames=4, seconds=0.01)
    assert calibrate(space.of_tier("quality"), SIZES, n_frames=4, seconds=0.01)
