"""The two tiers and the size of their blocks."""

import pytest

from budgetseg.errors import UsageError
from budgetseg.supervoxels.tiers import TIERS, tier_named


def test_there_are_two_tiers() -> None:
    assert set(TIERS) == {"quality", "fast"}


@pytest.mark.parametrize("name", TIERS)
def test_a_tier_is_found_by_its_name(name: str) -> None:
    assert tier_named(name).name == name


def test_an_unknown_tier_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match="no supervoxel tier 'slow'; choose from quality, fast"):
        tier_named("slow")


@pytest.mark.parametrize("n_pixels", [1, 240 * 160, 480 * 360, 1920 * 1080])
def test_quality_never_reduces(n_pixels: int) -> None:
    assert tier_named("quality").reduce(n_pixels) == 1


@pytest.mark.parametrize(("size", "reduce"), [((1, 1), 1), ((96, 64), 1), ((240, 160), 2), ((480, 360), 3)])
def test_fast_reduces_large_frames_more(size: tuple[int, int], reduce: int) -> None:
    assert tier_named("fast").reduce(size[0] * size[1]) == reduce
