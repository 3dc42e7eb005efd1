"""Where things that hold for this machine are kept."""

from pathlib import Path

import pytest

from budgetseg.machine import cache_folder, cpu_features, cpu_limit, cpu_model, usable_cores


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUDGETSEG_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)


def test_a_folder_of_ones_own_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "own"


def test_the_users_cache_is_shared_with_other_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "budgetseg"


@pytest.mark.parametrize("name", ["BUDGETSEG_CACHE", "XDG_CACHE_HOME"])
def test_an_empty_variable_counts_as_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(name, "")
    assert cache_folder() == tmp_path / ".cache" / "budgetseg"


def test_asking_for_the_folder_does_not_make_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "own"))
    cache_folder()
    assert not list(tmp_path.iterdir())


def test_the_processor_has_a_name_that_stays() -> None:
    assert cpu_model() == cpu_model() != ""


def test_features_are_read_from_the_flags_of_the_processor(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("model name\t: a processor\nflags\t\t: fpu avx2 avx512f avx512_bf16\n")
    assert cpu_features(info) == {"avx2": True, "avx512": True, "bf16": True, "amx": False}
    info.write_text("Features\t: asimd\n")
    assert cpu_features(info) == cpu_features(tmp_path / "none") == {}


def test_the_limit_of_a_container_is_in_cores(tmp_path: Path) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text("150000 100000\n")
    assert cpu_limit(quota) == 1.5
    quota.write_text("max 100000\n")
    assert cpu_limit(quota) is None
    assert cpu_limit(tmp_path / "none") is None
    assert usable_cores() >= 1
