"""Models under a clock that charges frozen prices: their runs repeat, and no test reads the time."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from budgetseg.app import model as model_module
from budgetseg.app.model import LoadedModel, load
from budgetseg.app.spaces import AUTO, REGIONS
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import Earlier
from budgetseg.models.bundle import load_any
from budgetseg.networks.backends.registry import REFERENCE, Wanted
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.spaces.frames.costs import PER_CLASS
from budgetseg.timing.clock import Clock, CostClock
from budgetseg.timing.prices import Prices
from budgetseg.video import VideoSource
from tests.spaces.regions.goldens import prices_of

FRAMES = {"dcnn": 0.01, "flow": 1e-7, "fusing": 1e-8, "pixels": 1e-8, "edges": 1e-9, "copies": 1e-9}
"""Seconds of the frames space: of the network a frame, of all else a unit of work."""


class SimulatedModel(LoadedModel):
    """A model whose runs are counted by a `CostClock`, unless another clock is given."""

    def run(
        self,
        video: str | Path | VideoSource,
        request: Request,
        space: str = REGIONS,
        stopped: Callable[[], bool] = lambda: False,
        earlier: Earlier | None = None,
        clock: Clock | None = None,
    ) -> list[Result]:
        """As of `LoadedModel`."""
        return super().run(video, request, space, stopped, earlier, clock or CostClock())


def frozen_prices(rates: Mapping[str, float] | None = None) -> Prices:
    """Prices of both spaces, with one thread and with two, from which nothing is learned."""
    both = {f"frames {work}": rate for work, rate in FRAMES.items()}
    files = {"decode .mp4": 2e-8, "decode .png": 2e-8, "supervoxels fast 2": 4e-7}
    return prices_of({**both, **files, **(rates or {})})


def network_rates(folder: Path, rates: Mapping[str, float]) -> dict[str, float]:
    """Rates of the networks in the folder of a model, by what their prices go by; `rates` name them by their names."""
    n_classes = len(load_any(folder).classes)
    found = {f"frames {work} of {n_classes} classes": FRAMES[work] for work in PER_CLASS}
    for path in (folder / "networks").glob("*.onnx"):
        card = path.with_suffix(".toml")
        network = OnnxNetwork(read_card(card if card.is_file() else path))
        rate = rates.get(f"frames {path.stem}", FRAMES.get(path.stem, 0.0))
        found[f"frames {path.stem} {network.key}"] = rate
    return found


def load_simulated(
    folder: Path, threads: int = 1, space: str = AUTO, rates: Mapping[str, float] | None = None
) -> LoadedModel:
    """The model in a folder, with frozen prices; `rates` are those of stages that differ from the usual."""
    prices = frozen_prices({**network_rates(folder, rates or {}), **(rates or {})})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_module, "LoadedModel", SimulatedModel)
        patch.setattr(Prices, "load", lambda *_: prices)
        return load(folder, threads, space=space, wanted=Wanted(REFERENCE))
