"""What was measured is kept for later programs, and a file that cannot be read or written is no error."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from budgetseg.networks.backends.core import Choice
from budgetseg.networks.fastest import Measured
from budgetseg.networks.measured import FILE, Entry, Mark, read_measured, remember

MARK = Mark("a processor", {"onnxruntime": "1.20"}, "abcd1234", (480, 360), 2)
ROWS = [
    Measured(Choice("onnxruntime", "f32"), 9.0, 1.0, 0.0),
    Measured(Choice("openvino", "bf16"), error="it does not start"),
]


def test_what_is_remembered_is_read_again(tmp_path: Path) -> None:
    first, second = Entry("dcnn", MARK, ROWS), Entry("dcnn", replace(MARK, threads=1), ROWS[:1])
    remember(first, tmp_path)
    remember(second, tmp_path)
    assert read_measured(tmp_path) == [first, second]


def test_a_new_measurement_replaces_that_of_the_same_network_machine_and_threads(tmp_path: Path) -> None:
    remember(Entry("dcnn", MARK, ROWS), tmp_path)
    again = Entry("dcnn", MARK, ROWS[:1])
    remember(again, tmp_path)
    assert read_measured(tmp_path) == [again]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"format": 99, "measured": []}', '{"format": 1, "measured": [{}]}', '{"format": 1}'],
)
def test_a_damaged_file_is_as_if_it_were_not_there_and_is_written_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert read_measured(tmp_path) == []
    remember(Entry("dcnn", MARK, ROWS), tmp_path)
    assert [entry.network for entry in read_measured(tmp_path)] == ["dcnn"]


def test_a_field_that_is_no_number_is_damage(tmp_path: Path) -> None:
    remember(Entry("dcnn", MARK, ROWS), tmp_path)
    stored = json.loads((tmp_path / FILE).read_text())
    stored["measured"][0]["rows"][0]["ms"] = "fast"
    (tmp_path / FILE).write_text(json.dumps(stored))
    assert read_measured(tmp_path) == []


def test_no_room_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    remember(Entry("dcnn", MARK, ROWS), tmp_path / "file" / "below")
    assert read_measured(tmp_path / "file" / "below") == []
