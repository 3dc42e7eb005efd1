"""Runs of the regions space under a clock that charges prices: decisions that must not change.

Record anew with `python -m tests.spaces.regions.goldens`, and say in the commit why they changed.
"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from budgetseg.app.strategy import strategy_of
from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.core import Descriptor, Scene, Value
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.engine.request import Request
from budgetseg.engine.run import run
from budgetseg.engine.trace import Finish
from budgetseg.machine import cpu_model
from budgetseg.models.bundle import Model, load_model
from budgetseg.spaces.regions.space import Regions
from budgetseg.timing.clock import CostClock
from budgetseg.timing.prices import FIELDS, Prices
from budgetseg.types import Budget, Float32
from budgetseg.video import VideoSource, open_video
from tests.app.streets import write_model

FILE = Path(__file__).with_name("goldens.json")
N_FRAMES, SIZE = 16, (96, 64)
DESCRIPTORS = ("colour", "hog", "hof")

STAGES = {
    "decode ": 2e-9,
    "supervoxels fast 1": 4e-7,
    "preparation": 5e-9,
    "asking H": 2e-6,
    "interpolation": 2e-7,
    "potentials": 5e-7,
    "expansion": 1e-6,
    "interpolation again": 2e-7,
    "potentials again": 5e-7,
    "expansion again": 8e-7,
    "pixels": 1e-9,
    "carrying": 1e-9,
    "reducing": 1e-9,
    "release": 1e-10,
}
"""Seconds a unit of work."""
CALLS = {"colour": (1e-5, 1e-8), "hog": (2e-5, 3e-8), "hof": (3e-5, 2e-8), "broken": (1e-5, 0.0)}
"""Seconds a call, and a unit of its work."""
RESOURCE = (2e-5, 2e-8)


class Broken(Descriptor):
    """A plug-in that fails after a few supervoxels."""

    name, length = "broken", 3

    def __init__(self) -> None:
        self.n_left = 10

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        return 1.0

    def compute(self, scene: Scene, region: int, inputs: list[Value]) -> Float32:  # noqa: ARG002
        self.n_left -= 1
        if self.n_left < 0:
            raise RuntimeError("no more")
        return np.full(3, region % 7, np.float32)


@dataclass(frozen=True)
class Scenario:
    """A run that is recorded; budgets are seconds, or shares."""

    budgets: tuple[float, ...]
    shares: bool = False
    scope: str = "total"
    window: int | None = None
    rate: float = 25.0
    policy: str = "static"
    stages: tuple[tuple[str, float], ...] = ()
    plug_in: bool = False
    seed: int = 0


SCENARIOS = {
    "unbounded": Scenario((np.inf,)),
    "one budget": Scenario((0.06,)),
    "three budgets": Scenario((0.03, 0.06, 0.12)),
    "tiny budget": Scenario((0.004,)),
    "prior": Scenario((0.0002,)),
    "windows": Scenario((0.08,), window=5),
    "windows, three budgets": Scenario((0.03, 0.06, 0.12), window=6),
    "descriptors": Scenario((0.03,), scope="descriptors"),
    "descriptors, three budgets": Scenario((0.01, 0.02, 0.05), scope="descriptors"),
    "share": Scenario((0.4,), shares=True),
    "shares of descriptors, windows": Scenario((0.2, 0.6), shares=True, scope="descriptors", window=7),
    "one frame a second": Scenario((0.1,), rate=1.0),
    "one frame a second, windows": Scenario((0.1,), rate=1.0, window=4),
    "random": Scenario((0.05,), policy="random"),
    "random, another seed": Scenario((0.05,), policy="random", seed=3),
    "random, windows": Scenario((0.05, 0.1), policy="random", window=5),
    "slow to decode": Scenario((0.06,), stages=(("decode ", 4e-7),)),
    "cannot be decoded": Scenario((0.02,), stages=(("decode ", 2e-6),)),
    "slow supervoxels": Scenario((0.1,), stages=(("supervoxels fast 1", 2e-5),)),
    "slow preparation": Scenario((0.1,), stages=(("preparation", 8e-7),)),
    "slow expansion": Scenario((0.1,), stages=(("expansion", 2e-4),)),
    "plug-in that fails": Scenario((0.1,), plug_in=True),
    "plug-in that fails, windows": Scenario((0.05, 0.1), plug_in=True, window=6),
}


def write_frames(folder: Path) -> Path:
    """A rendered street as PNG files, which decode alike everywhere."""
    folder.mkdir(parents=True)
    for t, frame in enumerate(render(1, N_FRAMES, SIZE)[0].frames):
        cv2.imwrite(str(folder / f"{t:03d}.png"), frame[..., ::-1])
    return folder


def prices_of(stages: Mapping[str, float]) -> Prices:
    """Frozen prices; resources of the built-in descriptors cost alike."""
    calls = dict(CALLS)
    for name in DESCRIPTORS:
        calls |= {resource.kind: RESOURCE for resource in BUILT_IN[name]().resources}
    lines = {name: np.array([a, b, *[1.0] * (len(FIELDS) - 2)]) for name, (a, b) in calls.items()}
    return Prices({**STAGES, **stages}, lines, frozen=True)


def models(folder: Path) -> tuple[Model, Model]:
    """Without and with the plug-in's three columns."""
    plain = load_model(write_model(folder / "plain", DESCRIPTORS))
    BUILT_IN["broken"] = Broken
    try:
        return plain, load_model(write_model(folder / "broken", (*DESCRIPTORS, "broken")))
    finally:
        del BUILT_IN["broken"]


def play(scenario: Scenario, both: tuple[Model, Model], frames: Path) -> dict[str, Any]:
    """What a scenario leads to, as it is recorded."""
    model, source = both[scenario.plug_in], _source(frames, scenario.rate)
    descriptors = open_descriptors(DESCRIPTORS) + [Broken()] * scenario.plug_in
    space = Regions(
        model.classifiers,
        model.crf,
        descriptors,
        prices_of(dict(scenario.stages)),
        strategy_of(model, scenario.policy),
        guarded=["broken"],
    )
    budgets = tuple(Budget(amount, scenario.shares) for amount in scenario.budgets)
    request = Request(budgets, scenario.scope, seed=scenario.seed, window=scenario.window)
    results = run(space, source, request, model.classes, CostClock())
    windows = results[-1].windows
    steps = [[event.place, event.source] for window in windows for event in window.events]
    ledgers = [result.ledger for result in results]
    return {
        "n_steps": len(steps),
        "steps": sha256(json.dumps(steps).encode()).hexdigest(),
        "first": steps[:20],
        "closings": [[_closing(finish) for finish in window.finishes] for window in windows],
        "spent_s": [round(ledger.spent_s, 9) for ledger in ledgers],
        "counts": [{name: entry.count for name, entry in ledger.sources.items()} for ledger in ledgers],
        "notes": [ledger.notes for ledger in ledgers],
        "labels": [sha256(result.labels.tobytes()).hexdigest() for result in results],
    }


def _closing(finish: Finish) -> list[int | None]:
    return [finish.n_events, 0 if finish.prior else finish.n_moves]


def _source(frames: Path, rate: float) -> VideoSource:
    source = open_video(frames)
    return replace(source, clip=replace(source.clip, rate=rate))  # type: ignore[type-var]


def record() -> None:
    """Write what all scenarios lead to now."""
    with tempfile.TemporaryDirectory() as name:
        both, frames = models(Path(name)), write_frames(Path(name) / "frames")
        runs = {key: play(scenario, both, frames) for key, scenario in SCENARIOS.items()}
    FILE.write_text(json.dumps({"cpu": cpu_model(), "classes": len(CLASSES), "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    record()
