"""The wait of a user is timed from outside, with empty caches first."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from budgetseg.errors import UsageError
from budgetseg.evaluation.bench_wait import Film, bench_wait
from budgetseg.video import open_video

TINY = Film(n_frames=9, n_first=4, size=(64, 48))


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Programs that were started; none of them runs."""
    started: list[dict[str, Any]] = []

    def start(command: list[str], env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        cache = Path(env["BUDGETSEG_CACHE"])
        video = open_video(command[4])
        started.append({"command": command, "n_frames": video.n_frames, "is_known": cache.exists()})
        cache.mkdir(exist_ok=True)
        seconds = {"loading_s": 0.0, "spent_s": 0.0, "writing_s": 0.0}
        ledger = {"video": {"n_frames": video.n_frames, "size": list(video.size)}, **seconds}
        return subprocess.CompletedProcess(command, 0, json.dumps({"ledgers": [ledger]}), "")

    monkeypatch.setattr(subprocess, "run", start)
    return started


def test_the_first_use_has_empty_caches_and_the_warm_runs_have_those_it_left(programs: list[dict[str, Any]]) -> None:
    rows = bench_wait(None, "camvid", repeats=2, film=TINY)
    assert [row["case"] for row in rows] == ["first use", "warm", "warm"]
    assert [program["n_frames"] for program in programs] == [row["frames"] for row in rows] == [4, 9, 9]
    assert [program["is_known"] for program in programs] == [False, True, True]
    assert {row["size"] for row in rows} == {"64×48"}
    assert all("--json" in program["command"] for program in programs)
    assert all(float(row["wall_s"] or 0) > 0 for row in rows)


def test_a_program_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess(["x"], 2, "", "getting ready ...\nbudgetseg: no model 'moon'\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(UsageError, match=r"ended with 2: .*no model 'moon'"):
        bench_wait(None, "moon", film=TINY)
