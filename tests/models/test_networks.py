"""Which networks of a model label frames."""

from pathlib import Path

import numpy as np
import pytest

from budgetseg.errors import ModelError
from budgetseg.models.bundle import load_any, save_model
from budgetseg.models.networks import in_class_order, networks_alone, networks_of
from tests.models.made import CLASSES, random_model
from tests.networks.models import save_mixer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Networks with the classes of a model, with these in another order, with others, and without names."""
    names = {"same": CLASSES.names, "turned": CLASSES.names[::-1], "other": ("cat", "dog", "cow"), "plain": ()}
    for name, classes in names.items():
        save_mixer(tmp_path / f"{name}.onnx", np.eye(3, dtype=np.float32))
        listed = ", ".join(f'"{own}"' for own in classes)
        (tmp_path / f"{name}.toml").write_text('output = "scores"\n' + (f"classes = [{listed}]\n" if classes else ""))
    return tmp_path


def test_networks_with_other_classes_are_descriptors_only(folder: Path) -> None:
    model = random_model(dict.fromkeys(("same", "turned", "other", "plain"), 3), networks=folder)
    networks = networks_of(model)
    assert list(networks) == ["same", "turned", "plain"]
    assert {network.names for network in networks.values()} == {CLASSES.names}
    assert in_class_order(model) == ["same", "plain"]


def test_networks_alone_have_the_classes_of_the_first_and_can_be_stored(folder: Path, tmp_path: Path) -> None:
    model = networks_alone([folder / "same.onnx", folder / "turned.toml"], "mine")
    assert (model.name, model.classes.names) == ("mine", CLASSES.names)
    save_model(model, tmp_path / "model")
    assert list(networks_of(load_any(tmp_path / "model"))) == ["same", "turned"]


def test_networks_alone_must_agree(folder: Path) -> None:
    with pytest.raises(ModelError, match="has other classes"):
        networks_alone([folder / "same.onnx", folder / "other.onnx"], "mine")
