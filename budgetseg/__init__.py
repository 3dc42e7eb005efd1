"""Semantic video segmentation within a time budget."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch.nn import Module

    from budgetseg.app.model import LoadedModel

__all__ = ["__version__", "load"]

__version__ = "0.1.0"


def load(
    name: "str | Path | None" = None,
    threads: int | None = None,
    policy: str | None = None,
    select: str | None = None,
    space: str = "auto",
    engine: str | None = None,
    networks: "str | Path | Module | Sequence[str | Path | Module]" = (),
    backend: str = "auto",
    precision: str = "auto",
) -> "LoadedModel":
    """Get a model ready to label videos: a bundled one by name, any by its folder, or networks of your own.

    Parameters
    ----------
    name : of a bundled model, or the folder of one; None if `networks` are given
    threads : cores to use; None for all
    policy : which policy decides about descriptors: learned, static or random; None for the best there is
    select : which supervoxels are considered first; None for what suits
    space : space to get ready now, frames, regions or auto; the other is made ready on first use
    engine : another name for `space`, as of the first version
    networks : segmentation networks to label with in place of a model: ONNX files, their TOML cards, or torch modules,
        whose attribute `card` may be a dictionary of what a card says; a single one needs no list
    backend : what runs networks: onnxruntime, openvino, cuda or tensorrt; auto for the fastest whose answers agree
    precision : of networks: f32, bf16, or int8 for those stored with 8-bit convolutions; auto for the fastest

    Examples
    --------
    >>> model = budgetseg.load("camvid")  # doctest: +SKIP
    >>> result = model.label("drive.mp4", budget_s=10)  # doctest: +SKIP
    >>> result.labels, result.confidence, result.ledger  # doctest: +SKIP
    >>> model = budgetseg.load(networks=["big.onnx", "small.onnx"])  # doctest: +SKIP
    """
    from budgetseg.app.model import load as load_model  # importing us stays quick
    from budgetseg.networks.backends.registry import Wanted

    return load_model(name, threads, policy, select, space, engine, networks, wanted=Wanted(backend, precision))
