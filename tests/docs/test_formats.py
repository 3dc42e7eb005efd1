"""The page of file formats has the keys that are written, and no others."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from budgetseg.app.manifest import Row
from budgetseg.descriptors.table import write_table
from budgetseg.evaluation.experiment import Experiment, evaluate_tables
from budgetseg.models.bundle import save_model
from tests.docs.blocks import ROOT
from tests.models.made import HAND_MADE, random_model, random_table
from tests.report.worlds import label_street

PAGE = (ROOT / "docs" / "formats.md").read_text()


def keys_under(heading: str, n: int = 0) -> set[str]:
    """Names in the first column of the n-th table under a heading."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[n]
    return {name for row in table.splitlines()[2:] for name in re.findall(r"`(.+?)`", row.split(" | ")[0])}


def words_of(heading: str, key: str) -> set[str]:
    """Names in the row of a key."""
    section = PAGE.split(f"\n## {heading}\n")[1]
    (row,) = re.findall(rf"^\| `{key}` \| (.*) \|$", section, re.MULTILINE)[:1]
    return set(re.findall(r"`(\w+)`", row))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUDGETSEG_CACHE", str(folder / "cache"))
        return label_street(folder)


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def inner(values: Iterable[Mapping[str, Any]]) -> set[str]:
    return {key for value in values for key in value}


def test_a_model(tmp_path: Path) -> None:
    save_model(random_model(HAND_MADE), tmp_path / "model")
    manifest = read(tmp_path / "model" / "manifest.json")
    assert keys_under("Model") == set(manifest)
    assert manifest["format"] == 2
    arrays = {re.sub(r"\d+$", "K", name) for name in load_file(tmp_path / "model" / "arrays.safetensors")}
    assert keys_under("Model", 1) == arrays | {"wholes.K", "policies.K"}


def test_a_table(tmp_path: Path) -> None:
    write_table(random_table(HAND_MADE), tmp_path / "video")
    files = {path.relative_to(tmp_path / "video").as_posix() for path in (tmp_path / "video").rglob("*.*")}
    named = {re.sub(r"values/\w+", "values/NAME", name) for name in files}
    assert keys_under("Descriptor table") == named
    assert words_of("Descriptor table", "video.json") == set(read(tmp_path / "video" / "video.json"))
    with np.load(tmp_path / "video" / "costs.npz") as costs:
        assert words_of("Descriptor table", "costs.npz") == set(costs)


def test_results() -> None:
    table = random_table(HAND_MADE)
    (row, _) = evaluate_tables(random_model(HAND_MADE), [table], Experiment(("crf",)))
    assert keys_under("results.json") == set(row) | {"dataset", "split"}
    assert words_of("results.json", "accuracy") == set(row["accuracy"])


def test_a_ledger(out: Path) -> None:
    ledger = read(out / "40%" / "ledger.json")
    assert keys_under("ledger.json") == set(ledger)
    assert words_of("ledger.json", "stages") == inner(ledger["stages"].values())


def test_a_trace(out: Path) -> None:
    trace = read(out / "trace.json")
    assert keys_under("trace.json") == set(trace)
    for key in ("video", "model", "settings"):
        assert words_of("trace.json", key) == set(trace[key])
    window = trace["windows"][0]
    parts = set(window["events"]) | inner(window["finishes"])
    assert words_of("trace.json", "windows") == inner(trace["windows"]) | parts
    with np.load(out / "state.npz") as state:
        assert all(
            f"`K/{name}`" in PAGE for name in ("ids", "subsets", "probabilities", "inputs") if f"0/{name}" in state
        )


def test_the_page_has_the_keys_of_the_manifest() -> None:
    assert keys_under("manifest.jsonl") - {"done", "skipped", "ended"} == {field.name for field in fields(Row)}


def test_the_ledger_of_streams() -> None:
    from budgetseg.app.live import ledger_of
    from tests.live.worlds import camera, drive, live
    from tests.spaces.frames.worlds import CLASSES

    loop = live([camera(drive(), 10.0, 5)])
    assert len(list(loop)) == 5
    ledger = ledger_of(loop, CLASSES, 1.0)
    assert keys_under("Ledger of streams") == set(ledger)
    assert keys_under("Ledger of streams", 1) == set(ledger["sources"][0])
