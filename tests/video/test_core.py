"""A span asks the same of a clip whether it is counted or walked through."""

from hypothesis import given
from hypothesis import strategies as st

from budgetseg.video.core import Span


@given(start=st.integers(0, 30), length=st.none() | st.integers(1, 30), stride=st.integers(1, 9), n=st.integers(0, 50))
def test_the_frames_within_are_the_frames_kept(start: int, length: int | None, stride: int, n: int) -> None:
    span = Span(start, None if length is None else start + length, stride)
    assert list(span.within(n)) == [index for index in range(n) if span.keeps(index)]
