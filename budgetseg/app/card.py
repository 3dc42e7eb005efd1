"""The card of a model: what it was trained on, its classes and descriptors, and its expected accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgetseg.app.expect import curve_of
from budgetseg.models.bundle import AnyModel, Model, NetworkModel, load_any
from budgetseg.models.find import find_model
from budgetseg.policy.learned import Expected

__all__ = ["ModelCard", "card_of"]


@dataclass(frozen=True)
class ModelCard:
    """A model in a few facts.

    Attributes
    ----------
    name : of the model
    folder : that holds its files
    n_bytes : size of all its files
    dataset, splits : that it was trained on; None and empty if it does not record them
    tier : of its supervoxels; None if it has networks alone
    classes, descriptors : names
    networks : names of its networks, which are descriptors unless it has networks alone
    expected : accuracy by share of the full cost, on training videos, by classifiers that had not seen them; empty if
        no policy was learned
    """

    name: str
    folder: Path
    n_bytes: int
    dataset: str | None
    splits: Sequence[str]
    tier: str | None
    classes: Sequence[str]
    descriptors: Sequence[str]
    networks: Sequence[str]
    expected: Sequence[Expected]

    def as_dict(self) -> dict[str, Any]:
        """The card as JSON values."""
        names = ("budget_fraction", "class_average", "global")
        curve = [dict(zip(names, point, strict=True)) for point in self.expected]
        return {**vars(self), "folder": str(self.folder), "expected": curve}


def card_of(name: str | Path) -> ModelCard:
    """The card of a model, bundled or in a folder. The model is loaded, which also checks it."""
    folder = find_model(name)
    model = load_any(folder)
    trained = model if isinstance(model, Model) else None
    return ModelCard(
        model.name,
        folder,
        sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        model.settings.get("dataset"),
        model.settings.get("splits", ()),
        None if trained is None else str(trained.settings["tier"]),
        model.classes.names,
        () if trained is None else trained.classifiers.names,
        _networks_of(model),
        () if trained is None else curve_of(trained),
    )


def _networks_of(model: AnyModel) -> list[str]:
    if isinstance(model, NetworkModel):
        return list(model.cards)
    folder = model.networks
    return [name for name in model.classifiers.names if folder is not None and (folder / f"{name}.onnx").is_file()]
