"""What there is to know of a model before it labels: what it was trained on, its classes, what it promises."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgetseg.app.expect import curve_of
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.policy.learned import Expected

__all__ = ["ModelCard", "card_of"]


@dataclass(frozen=True)
class ModelCard:
    """A model in a few facts.

    Attributes
    ----------
    name : of the model
    folder : where it lies
    n_bytes : of all its files
    dataset, splits : what it was trained on; None and nothing where it does not tell
    tier : of its supervoxels
    classes, descriptors : names
    networks : names of the descriptors that are networks
    expected : accuracy by share of the full cost, on training videos, by classifiers that had not seen them; nothing
        where no policy was learned
    """

    name: str
    folder: Path
    n_bytes: int
    dataset: str | None
    splits: Sequence[str]
    tier: str
    classes: Sequence[str]
    descriptors: Sequence[str]
    networks: Sequence[str]
    expected: Sequence[Expected]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("budget_fraction", "class_average", "global")
        curve = [dict(zip(names, one, strict=True)) for one in self.expected]
        return {**vars(self), "folder": str(self.folder), "expected": curve}


def card_of(name: str | Path) -> ModelCard:
    """The card of a model, bundled or in a folder; it is loaded, and so checked, first."""
    folder = find_model(name)
    model = load_model(folder)
    names = model.classifiers.names
    networks = [] if model.networks is None else [own for own in names if (model.networks / f"{own}.onnx").is_file()]
    return ModelCard(
        model.name,
        folder,
        sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        model.settings.get("dataset"),
        model.settings.get("splits", ()),
        str(model.settings["tier"]),
        model.classes.names,
        names,
        networks,
        curve_of(model),
    )
