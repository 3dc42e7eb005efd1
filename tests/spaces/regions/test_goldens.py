"""Decisions of the regions space under frozen prices are those that were recorded."""

import json
from pathlib import Path

import pytest

from budgetseg.machine import cpu_model
from budgetseg.models.bundle import Model
from tests.spaces.regions.goldens import FILE, SCENARIOS, models, play, write_frames

STORED = json.loads(FILE.read_text())
ON_ANY_MACHINE = ("n_steps", "first", "counts", "notes")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Model, Model], Path]:
    folder = tmp_path_factory.mktemp("goldens")
    return models(folder), write_frames(folder / "frames")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_takes_the_decisions_that_were_recorded(name: str, world: tuple[tuple[Model, Model], Path]) -> None:
    found, expected = json.loads(json.dumps(play(SCENARIOS[name], *world))), STORED["runs"][name]
    for key in found if STORED["cpu"] == cpu_model() else ON_ANY_MACHINE:
        assert found[key] == expected[key], key
