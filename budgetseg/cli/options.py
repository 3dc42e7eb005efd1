"""Options that several commands share, and how their texts are read."""

import math
import os
import re
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.errors import UsageError
from budgetseg.types import Budget

__all__ = [
    "BackEnd",
    "Dataset",
    "Descriptors",
    "Model",
    "Networks",
    "PerFrame",
    "Precision",
    "Root",
    "Space",
    "Threads",
    "Tier",
    "cores_for",
    "parse_budgets",
    "parse_bytes",
    "parse_names",
    "parse_seconds",
    "parse_size",
]

Dataset = Annotated[
    str,
    typer.Argument(
        help="Name of a dataset; 'budgetseg datasets' lists them.",
        show_default=False,
        autocompletion=one_of("dataset"),
    ),
]
Root = Annotated[Path | None, typer.Option("--root", help="Folder that holds the dataset.")]
Model = Annotated[
    str,
    typer.Option(
        help="Name of a bundled model, or folder of a model that 'budgetseg train' wrote.",
        autocompletion=one_of("model"),
    ),
]
Networks = Annotated[
    Path | None,
    typer.Option(help="Folder of networks, as 'budgetseg train-network --folds 4' writes it.", show_default="none"),
]
Descriptors = Annotated[
    str | None,
    typer.Option(help="Names of descriptors, separated by commas.", show_default="all, networks included"),
]
PerFrame = Annotated[
    int | None,
    typer.Option(
        min=1, help="Number of supervoxels per frame.", show_default="25 to 200, by frame size and frame rate"
    ),
]
Tier = Annotated[
    str,
    typer.Option(
        help="Kind of supervoxels: 'quality', or 'fast' for a few milliseconds per frame.",
        autocompletion=one_of("tier"),
    ),
]
Space = Annotated[
    str,
    typer.Option(
        "--space",
        "--engine",
        help="How pixels get labels. 'frames': networks on key frames, carried along optical flow. 'regions': "
        "descriptors of supervoxels and a CRF. 'auto': frames if the model has a network for its classes and no other "
        "option needs regions. --engine is an alias.",
        autocompletion=one_of("space"),
    ),
]
BackEnd = Annotated[
    str,
    typer.Option(
        help="What runs networks: 'onnxruntime', 'openvino', 'cuda' or 'tensorrt'. 'auto': the fastest of those "
        "installed whose answers agree with onnxruntime, measured once on a machine.",
        autocompletion=one_of("backend"),
    ),
]
Precision = Annotated[
    str,
    typer.Option(
        help="Arithmetic of networks: 'f32', 'bf16', or 'int8' for networks that are stored with 8-bit convolutions. "
        "'auto': the fastest that agrees.",
        autocompletion=one_of("precision"),
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Number of CPU cores to use.", show_default="all")]

_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_size(text: str | None) -> tuple[int, int] | None:
    """Width and height from a text like 480x360.

    Examples
    --------
    >>> parse_size("480x360")
    (480, 360)
    """
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)[x×](\d+)", text.strip().lower())
    if match is None:
        raise UsageError(f"size must be WIDTHxHEIGHT. Got '{text}'; for example 480x360")
    return int(match[1]), int(match[2])


def parse_names(text: str) -> tuple[str, ...]:
    """Names from a text that separates them by commas.

    Examples
    --------
    >>> parse_names("colour, hog")
    ('colour', 'hog')
    """
    return tuple(name.strip() for name in text.split(","))


def parse_budgets(text: str) -> tuple[Budget, ...]:
    """Budgets from a text that separates them by commas: 500ms, 10s, 2m, 1h; 20% or 0.2 of the full cost; inf.

    Examples
    --------
    >>> parse_budgets("10s,2m")
    (Budget(amount=10.0, is_share=False), Budget(amount=120.0, is_share=False))
    >>> parse_budgets("20%,inf")
    (Budget(amount=0.2, is_share=True), Budget(amount=inf, is_share=True))
    """
    budgets = [_parse_budget(one.strip().lower()) for one in text.split(",")]
    are_shares = all(budget.is_share for budget in budgets if budget.amount != math.inf) and budgets[0].is_share
    return tuple(Budget(math.inf, are_shares) if budget.amount == math.inf else budget for budget in budgets)


def parse_seconds(option: str, text: str, examples: str) -> float:
    """Seconds from a text like 30s or 50ms; UsageError for anything else.

    Examples
    --------
    >>> parse_seconds("latency", "50ms", "50ms, 0.1s")
    0.05
    """
    try:
        (budget,) = parse_budgets(text)
    except (UsageError, ValueError):
        budget = Budget(math.inf)
    if budget.is_share or budget.amount == math.inf:
        raise UsageError(f"--{option} must be a time with its unit. Got '{text}'; for example {examples}")
    return budget.amount


def parse_bytes(text: str) -> int:
    """Bytes from a text such as 500MB or 4GB.

    Examples
    --------
    >>> parse_bytes("500MB"), parse_bytes("1.5 GB")
    (500000000, 1500000000)
    """
    match = re.fullmatch(r"(\d+\.?\d*)\s*(mb|gb)", text.strip().lower())
    if match is None or float(match[1]) == 0:
        raise UsageError(f"--max-memory must be a number with MB or GB. Got '{text}'; for example 4GB")
    return round(float(match[1]) * {"mb": 1e6, "gb": 1e9}[match[2]])


def _parse_budget(text: str) -> Budget:
    if text == "inf":
        return Budget(math.inf)
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(ms|s|m|h|%|)", text)
    amount = 0.0 if match is None else float(match[1])
    if match is None or amount == 0:
        raise UsageError(f"budget must be a time, a share or 'inf', and more than 0. Got '{text}'; for example 10s")
    if match[2] in _UNITS:
        return Budget(amount * _UNITS[match[2]])
    share = amount / 100 if match[2] else amount
    if share > 1 and not match[2]:
        raise UsageError(f"budget must be a time with its unit. Got '{text}'; write {text}s; for example 500ms, 10s")
    if share > 1:
        raise UsageError(f"budget must be at most 100 % if it is a share. Got '{text}'; for example 20%, or 10s")
    return Budget(share, is_share=True)


def cores_for(threads: int | None) -> int:
    """The number of cores that was asked for, or all cores of the machine."""
    return threads or os.cpu_count() or 1
