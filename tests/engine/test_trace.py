"""Traces: to JSON and back, and what is refused because it does not fit together."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.engine.trace import Event, Finish, WindowTrace

Stored = dict[str, Any]

POSITIONS = (0.0, 1.0, 2.0, 2.5, 42.5, 43.5, 44.5, 45.5, 46.5, 47.5)


def some_trace() -> WindowTrace:
    events = [Event(3, 0, 0.25, 0.5), Event(0, 1, 1.0, 0.125, 0.0625), Event(3, 1, 1.5, 2.0)]
    finishes = [
        Finish(0, prior=True),
        Finish(2, n_read=2, carry="flow", edges=True, positions=POSITIONS, cuts=(4,), late=(1, 9)),
        Finish(3, n_moves=7),
    ]
    return WindowTrace(10, (0, 4, 2), (36, 48), 4, events, finishes)


def stored_trace() -> Stored:
    stored: Stored = json.loads(json.dumps(some_trace().as_dict()))
    return stored


def fields_of(trace: WindowTrace) -> tuple[Any, ...]:
    return (trace.n_frames, trace.read, trace.size, trace.n_places, list(trace.events), list(trace.finishes))


def test_a_trace_survives_json() -> None:
    assert fields_of(WindowTrace.from_dict(stored_trace())) == fields_of(some_trace())


def test_an_empty_window_survives_json() -> None:
    empty = WindowTrace(0, (), (0, 0), 0, [], [Finish(0, prior=True)])
    assert fields_of(WindowTrace.from_dict(json.loads(json.dumps(empty.as_dict())))) == fields_of(empty)


def test_events_are_stored_by_column() -> None:
    assert stored_trace()["events"] == {
        "place": [3, 0, 3],
        "source": [0, 1, 1],
        "at_s": [0.25, 1.0, 1.5],
        "spent_s": [0.5, 0.125, 2.0],
        "shared_s": [0.0, 0.0625, 0.0],
    }


events = st.builds(Event, st.integers(0, 3), st.integers(0, 9), *[st.floats(0, 1e4)] * 3)


@given(st.lists(events))
def test_any_events_survive_json_to_a_tenth_of_a_microsecond(done: list[Event]) -> None:
    trace = WindowTrace(1, (0,), (1, 1), 4, done, [])
    found = WindowTrace.from_dict(json.loads(json.dumps(trace.as_dict()))).events
    assert [event[:2] for event in found] == [event[:2] for event in done]
    for one, other in zip(found, done, strict=True):
        assert one[2:] == pytest.approx(other[2:], abs=6e-8)


def set_to(*path: str | int, value: Any) -> Callable[[Stored], None]:
    """Replaces one value, by the keys that lead to it."""

    def change(stored: Any) -> None:
        for key in path[:-1]:
            stored = stored[key]
        stored[path[-1]] = value

    return change


def refusal(change: Callable[[Stored], None]) -> str:
    stored = stored_trace()
    change(stored)
    with pytest.raises(ValueError, match=r".") as error:
        WindowTrace.from_dict(stored)
    return str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        set_to("read", value=[0, 10]),
        set_to("read", value=[0, -1]),
        set_to("n_frames", value=4),
        set_to("n_frames", value=-1),
        set_to("n_places", value=-1),
        set_to("size", value=[36, -48]),
        set_to("size", value=[-36, 48]),
    ],
)
def test_frames_that_are_not_there_are_refused(change: Callable[[Stored], None]) -> None:
    assert refusal(change) == "frames that are not there"


@pytest.mark.parametrize(
    "change",
    [
        set_to("n_places", value=3),
        set_to("events", "place", value=[4, 0, 3]),
        set_to("events", "place", value=[-1, 0, 3]),
        set_to("events", "source", value=[0, -1, 1]),
    ],
)
def test_actions_about_places_that_are_not_there_are_refused(change: Callable[[Stored], None]) -> None:
    assert refusal(change) == "actions about places that are not there"


@pytest.mark.parametrize(
    "change",
    [
        set_to("finishes", 2, "n_events", value=4),
        set_to("finishes", 0, "n_events", value=-1),
        set_to("finishes", 1, "n_read", value=4),
        set_to("finishes", 1, "n_read", value=-1),
    ],
)
def test_labels_from_what_was_not_done_are_refused(change: Callable[[Stored], None]) -> None:
    assert refusal(change) == "labels from what was not done"


@pytest.mark.parametrize(
    "change",
    [
        set_to("finishes", 1, "late", value=[10]),
        set_to("finishes", 1, "late", value=[-1]),
        set_to("finishes", 1, "cuts", value=[10]),
    ],
)
def test_labels_of_frames_that_are_not_there_are_refused(change: Callable[[Stored], None]) -> None:
    assert refusal(change) == "labels of frames that are not there"


@pytest.mark.parametrize(
    "change",
    [
        set_to("finishes", 1, "positions", 3, value=0.5),
        set_to("finishes", 1, "positions", 9, value=float("nan")),
        set_to("finishes", 1, "positions", 9, value=float("inf")),
        set_to("finishes", 1, "positions", value=[0.0, 1.0]),
    ],
)
def test_positions_that_do_not_rise_are_refused(change: Callable[[Stored], None]) -> None:
    assert refusal(change) == "positions that do not rise, or not one for each frame"


def test_budgets_that_do_not_rise_are_refused() -> None:
    assert refusal(set_to("finishes", 0, "n_events", value=3)) == "budgets that do not rise"


def test_events_whose_columns_differ_in_length_are_refused() -> None:
    assert refusal(set_to("events", "spent_s", value=[0.5]))


@pytest.mark.parametrize("size", [[36], [36, 48, 3], ["high", 48]], ids=str)
def test_a_size_that_is_none_is_refused(size: list[Any]) -> None:
    assert refusal(set_to("size", value=size))


@pytest.mark.parametrize("name", Finish.__dataclass_fields__)
def test_an_end_that_lacks_a_field_is_refused(name: str) -> None:
    def forget(stored: Stored) -> None:
        del stored["finishes"][1][name]

    assert refusal(forget).startswith("an end must have carry, ")


def test_an_end_with_a_field_too_many_is_refused() -> None:
    assert refusal(set_to("finishes", 1, "speed", value=1)).startswith("an end must have carry, ")


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_events", "two"), ("n_moves", "many"), ("positions", ["far"]), ("cuts", ["x"]), ("late", ["x"])],
)
def test_an_end_whose_fields_are_no_numbers_is_refused(name: str, value: Any) -> None:
    assert refusal(set_to("finishes", 1, name, value=value))
