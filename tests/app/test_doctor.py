"""The doctor finds what is wrong, says what to do, and changes nothing."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from budgetseg.app import doctor
from budgetseg.app.doctor import Checkup, examine
from budgetseg.errors import ModelError
from budgetseg.machine import cpu_model
from budgetseg.networks.backends.core import Choice
from budgetseg.networks.backends.registry import BACKENDS, versions
from budgetseg.networks.fastest import Measured
from budgetseg.networks.measured import Entry, Mark, remember
from budgetseg.types import Classes


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, compiled code beside it, and models that load at once."""
    for name, folder in (("BUDGETSEG_CACHE", "cache"), ("NUMBA_CACHE_DIR", "compiled")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setattr(doctor, "load_any", lambda _: Classes.of(("road",)))
    return tmp_path / "cache"


def told(found: Checkup) -> list[str]:
    lines = [f"{trouble.what}; {trouble.remedy}" for trouble in found.wrong]
    assert not any("\n" in line for line in lines)
    assert found.is_fine == (not lines)
    return lines


def test_a_machine_where_all_is_fine(cache: Path) -> None:
    found = examine()
    assert told(found) == []
    assert found.machine["cpu"] == cpu_model()
    assert 1 <= found.machine["usable_cores"] <= found.machine["cores"]
    assert [own.name for own in found.backends] == list(BACKENDS)
    assert {own.name: own.version for own in found.backends if own.version} == versions()
    assert {"numpy", "av", "python"} <= set(found.versions)
    assert "h264" in found.codecs["reads"]
    assert not cache.exists()
    assert json.loads(json.dumps(found.as_dict()))["is_fine"] is True


def test_what_was_measured_on_this_processor_is_shown(cache: Path) -> None:
    rows: Sequence[Measured] = [Measured(Choice("onnxruntime", "f32"), 9.0, 1.0, 0.0)]
    own = Entry("dcnn", Mark(cpu_model(), versions(), "abcd", (480, 360), 2), rows)
    remember(own, cache)
    remember(Entry("dcnn", Mark("another", versions(), "abcd", (480, 360), 2), rows), cache)
    assert list(examine().measured) == [own]


def test_a_back_end_that_did_not_run_a_network_is_wrong(cache: Path) -> None:
    rows = [Measured(Choice("openvino", "f32"), error="no such operator")]
    remember(Entry("dcnn", Mark(cpu_model(), versions(), "abcd", (480, 360), 2), rows), cache)
    (line,) = told(examine())
    assert line.startswith("dcnn does not run by openvino f32: no such operator; repair it, and remove '")


def test_a_back_end_that_does_not_start_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BACKENDS["openvino"], "version", lambda: "2026")
    monkeypatch.setattr(BACKENDS["openvino"], "precisions", lambda: ())
    assert told(examine()) == [
        "the back end 'openvino' is installed and does not start; pip install 'budgetseg[openvino]'"
    ]


def test_caches_that_cannot_be_written_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "file" / "below"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    first, second = told(examine())
    assert first.endswith("are not kept between programs; set BUDGETSEG_CACHE to a folder that can be written")
    assert second.endswith("set NUMBA_CACHE_DIR to a folder that can be written")


@pytest.mark.parametrize("name", ["prices.json", "backends.json"])
def test_a_damaged_file_of_the_cache_is_wrong(cache: Path, name: str) -> None:
    cache.mkdir()
    (cache / name).write_text("{")
    assert told(examine()) == [f"'{cache / name}' cannot be read (JSONDecodeError); remove it; it is made again"]


def test_ffmpeg_without_h264_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_has_codec", lambda *_: False)
    assert [line.split(";")[0] for line in told(examine())] == [
        "ffmpeg cannot read H.264",
        "ffmpeg can write no overlay",
    ]


def test_a_bundled_model_that_does_not_load_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise ModelError("damaged; make it again")

    monkeypatch.setattr(doctor, "load_any", fail)
    lines = told(examine())
    assert lines
    assert all("does not load: damaged; make it again; install budgetseg again" in line for line in lines)
