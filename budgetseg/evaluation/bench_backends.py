"""Measure networks in every back end of this machine: the rows of `budgetseg bench backends`."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from budgetseg.errors import UsageError
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.models.find import find_model
from budgetseg.networks.backends.registry import Wanted, candidates
from budgetseg.networks.fastest import Measured, Measuring, measure
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.together import named_cards
from budgetseg.types import UInt8

__all__ = ["bench_backends", "frames_of", "networks_of"]

Row = dict[str, str | int | float | None]


def networks_of(model: str, paths: Sequence[Path]) -> dict[str, OnnxNetwork]:
    """The networks in some files, or those of a model where there are none, by name; UsageError for none at all."""
    files = list(paths) or sorted((find_model(model) / "networks").glob("*.onnx"))
    if not files:
        raise UsageError(f"the model '{model}' has no networks; choose another --model, or give --network")
    return {name: OnnxNetwork(card) for name, card in named_cards(files).items()}


def frames_of(data: Path | None, n_frames: int) -> list[UInt8]:
    """Evenly spread frames of CamVid's dense run below `data`, or of a rendered street if that is None."""
    frames, _ = Street((480, 360), n_frames)() if data is None else CamvidDense(data / "camvid")()
    return list(frames[:: max(1, len(frames) // n_frames)][:n_frames])


def bench_backends(
    networks: Mapping[str, OnnxNetwork],
    frames: Sequence[UInt8],
    threads: Sequence[int],
    advance: Callable[[int], None] = lambda _: None,
) -> list[Row]:
    """A row for each network, number of threads, back end and precision; the reference comes first.

    Times are those of the shortest run, in milliseconds. `advance` is called with 1 for each network and number of
    threads.
    """
    settings = replace(Measuring(), n_rounds=len(frames), most_s=math.inf)
    size = (frames[0].shape[1], frames[0].shape[0])
    rows = []
    for name, network in networks.items():
        choices = candidates(Wanted(), network.choice.precision, network.card.file)
        for n in threads:
            found = measure(network.at(size), choices, frames, n, settings)
            rows += [_row(name, n, own) for own in found]
            advance(1)
    return rows


def _row(network: str, threads: int, own: Measured) -> Row:
    return {
        "network": network,
        "backend": own.choice.backend,
        "precision": own.choice.precision,
        "threads": threads,
        "ms": own.ms,
        "agreement": None if own.ms is None else own.agreement,
    }
