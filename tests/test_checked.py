"""What strangers have written is read within limits, or refused before it is used."""

import io
import json
import os
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetseg.app.state import DAMAGES
from budgetseg.checked import (
    check_array,
    digest_of,
    number,
    place_below,
    read_arrays,
    read_json,
    read_regular,
    text,
    whole,
)


def test_only_regular_files_of_a_known_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("abc")
    (tmp_path / "link").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(tmp_path / "a", 3) == b"abc"
    for path in (tmp_path / "link", tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ValueError, match="is no regular file"):
            read_regular(path, 10)
        with pytest.raises(ValueError, match="is no regular file"):
            digest_of(path)
    with pytest.raises(ValueError, match="has 3 bytes, more than 2"):
        read_regular(tmp_path / "a", 2)
    (tmp_path / "to a").symlink_to(tmp_path / "a")
    with pytest.raises(ValueError, match="is no regular file"):
        digest_of(tmp_path / "to a")


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": NaN}', "[Infinity]", "\udcff", "", "{"])
def test_what_is_no_json_is_a_plain_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "a").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(ValueError):  # noqa: PT011 - of any wording
        read_json(tmp_path / "a")


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "", "link/a", "a\0b", "x" * 2000])
def test_names_that_lead_elsewhere_are_no_places(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("/tmp")
    with pytest.raises(ValueError, match=r"is no name|is a link"):
        place_below(tmp_path, name)
    assert place_below(tmp_path, "a/b") == tmp_path / "a" / "b"


def test_arrays_come_back_as_numpy_writes_them(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "a/b": np.arange(6, dtype=np.int32).reshape(2, 3),
        "c": np.asfortranarray(np.eye(3)),
        "d": np.array(2.0),
    }
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    found = read_arrays(tmp_path / "a.npz")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        assert found[name].flags.writeable


def test_arrays_that_say_to_be_larger_than_they_are_are_refused(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40,)})
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", header.getvalue() + b"1234")
    with pytest.raises(ValueError, match="has no array of"):
        read_arrays(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", a=np.zeros(1000))
    with pytest.raises(ValueError, match=r"more than 100 bytes|more than"):
        read_arrays(tmp_path / "b.npz", 100)
    np.savez(tmp_path / "c.npz", a=np.array([{}], object))
    with pytest.raises(ValueError, match="has no array"):
        read_arrays(tmp_path / "c.npz")


def test_arrays_have_the_type_the_shape_and_the_range_that_is_asked_for() -> None:
    array = np.array([[1.0, 2.0]], np.float32)
    assert check_array(array, np.float32, (None, 2), 0, 2) is array
    for dtype, shape, low, high in (
        (np.float64, (1, 2), None, 9),
        (np.float32, (2, 2), None, 9),
        (np.float32, (1,), None, 9),
        (np.float32, (1, 2), 1.5, 9),
        (np.float32, (1, 2), 0, 1.5),
    ):
        with pytest.raises(ValueError, match=r"in place of|not from"):
            check_array(array, dtype, shape, low, high)
    with pytest.raises(ValueError, match="not finite"):
        check_array(np.array([np.nan]), float, (1,))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@settings(deadline=None, max_examples=200)
@given(JSON)
def test_a_value_of_any_kind_is_what_was_asked_for_or_an_error(value: object) -> None:
    for check, kinds in ((whole, int), (number, float)):
        try:
            found = check(value, -5, 5)
        except ValueError:
            continue
        assert type(found) is kinds
        assert -5 <= found <= 5
    try:
        assert len(text(value, 3)) <= 3
    except ValueError:
        assert not isinstance(value, str) or len(value) > 3


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300), st.integers(0, 200))
def test_damaged_archives_raise_what_callers_expect(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int
) -> None:
    whole_file = io.BytesIO()
    np.savez(whole_file, a=np.arange(3))
    content = whole_file.getvalue()
    path = tmp_path_factory.mktemp("npz") / "a.npz"
    path.write_bytes(content[:at] + data + content[at + len(data) :])
    with suppress(*DAMAGES):
        read_arrays(path)


def test_json_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(json.dumps({"ä": [1, 2.5, None]}))
    assert read_json(tmp_path / "a") == {"ä": [1, 2.5, None]}
