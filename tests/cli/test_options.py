"""Options that several commands share."""

import pytest

from budgetseg.cli.options import parse_size
from budgetseg.errors import UsageError


def test_a_size_is_width_times_height() -> None:
    assert parse_size("480x360") == parse_size(" 480×360") == (480, 360)
    assert parse_size(None) is None


@pytest.mark.parametrize("text", ["480", "axb", "480x", "-1x5"])
def test_other_texts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="for example 480x360"):
        parse_size(text)
