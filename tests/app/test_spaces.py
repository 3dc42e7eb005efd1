"""Which space labels, by what is wanted and what the model has."""

import pytest

from budgetseg.app.spaces import SPACES, choose_space, needs_regions, space_named
from budgetseg.errors import UsageError


def test_frames_are_labelled_unless_something_asks_for_regions() -> None:
    assert choose_space("auto", (), True) == choose_space("frames", (), True) == "frames"
    assert choose_space("auto", ("--policy",), True) == choose_space("auto", (), False) == "regions"
    assert choose_space("regions", (), True) == choose_space("regions", ("--select",), False) == "regions"


def test_frames_with_an_option_of_regions_or_without_a_network_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^--select needs regions; leave it out, or use --space regions$"):
        choose_space("frames", ("--select",), True)
    with pytest.raises(UsageError, match=r"^the model has no network for its classes; use --space regio"):
        choose_space("frames", (), False)


def test_names_of_the_first_version_still_work() -> None:
    assert space_named("supervoxels") == "regions"
    assert [space_named(name) for name in SPACES] == list(SPACES)


def test_a_space_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"^no space 'pixels'; choose from auto, frames, regions$"):
        space_named("pixels")


def test_only_options_of_regions_need_them() -> None:
    assert needs_regions(None, None) == needs_regions(None, None, "total") == []
    assert needs_regions("static", "large", "descriptors") == ["--policy", "--select", "--scope descriptors"]
