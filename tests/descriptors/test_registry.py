"""Descriptors by name, and one that another package brings."""

from pathlib import Path

import numpy as np
import pytest

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.calibrate import calibrate_new
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.registry import BUILT_IN, available, open_descriptors
from budgetseg.errors import UsageError
from budgetseg.models import bundled
from budgetseg.supervoxels import segment
from budgetseg.timing.prices import Prices

CODE = '''
"""The mean brightness of a supervoxel."""

import numpy as np

from budgetseg.descriptors.core import Descriptor, Resource


class Grey(Resource):
    kind = "tiny grey"

    def make(self, scene, index, inputs):
        return scene.frames[index].mean(axis=2)


class Tiny(Descriptor):
    name, length, resources = "tiny", 1, (Grey(),)

    def needs(self, scene, region):
        return [("tiny grey", t) for t in range(*scene.lifetime(region))]

    def work(self, scene, region):
        return float(scene.supervoxels.graph.sizes[region])

    def compute(self, scene, region, inputs):
        own = scene.supervoxels.ids[slice(*scene.lifetime(region))] == region
        return np.array([np.stack(inputs)[own].mean()], np.float32)
'''


@pytest.fixture
def tiny_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of the descriptor of an installed package."""
    package, info = tmp_path / "tiny_descriptor", tmp_path / "tiny_descriptor-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text(CODE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-descriptor\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[budgetseg.descriptors]\ntiny = tiny_descriptor:Tiny\n")
    monkeypatch.syspath_prepend(tmp_path)
    return "tiny"


def test_descriptors_come_in_the_order_of_their_names() -> None:
    names = ["mbh", "dcnn", "colour"]
    assert [one.name for one in open_descriptors(names, networks=bundled("camvid", ""))] == names


def test_all_that_is_available_can_be_opened() -> None:
    folder = bundled("camvid", "")
    assert available(folder) == [*BUILT_IN, "dcnn", "dcnn_large"]
    assert [one.name for one in open_descriptors(available(folder), folder)] == available(folder)


def test_an_unknown_name_is_answered_with_the_choices(tiny_package: str) -> None:
    with pytest.raises(UsageError, match=f"no descriptor 'hoof'; choose from colour, hog, hof, mbh, {tiny_package}$"):
        open_descriptors(["colour", "hoof"])
    with pytest.raises(UsageError, match=f"no descriptor 'hoof'; choose from .*, {tiny_package}, dcnn, dcnn_large$"):
        open_descriptors(["hoof"], networks=bundled("camvid", ""))


def test_networks_are_known_in_their_folder_only() -> None:
    with pytest.raises(UsageError, match="no descriptor 'dcnn'"):
        open_descriptors(["dcnn"])


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no folder .*missing"):
        open_descriptors(["colour"], networks=tmp_path / "missing")


def test_another_package_adds_a_descriptor_at_its_measured_price(tiny_package: str) -> None:
    frames = render(0, 4, (96, 64))[0].frames
    scene = Scene.of(frames, segment(frames, 20, "fast"))
    descriptors, prices = open_descriptors(["colour", tiny_package]), Prices()
    assert calibrate_new(descriptors, prices, scenes=[scene])
    live = LiveDescriptors(scene, descriptors, prices)
    before_s = live.cost(0, tiny_package)
    expected = frames[scene.supervoxels.ids == 0].mean()
    assert np.allclose(live.compute(0, tiny_package).vector, expected)
    assert before_s > live.cost(0, tiny_package) > 0
    assert prices.predict("tiny grey", 96 * 64) > 0


def test_a_package_that_does_not_load_is_an_error_of_one_line(tiny_package: str, tmp_path: Path) -> None:
    points = tmp_path / "tiny_descriptor-1.0.dist-info" / "entry_points.txt"
    points.write_text("[budgetseg.descriptors]\ntiny = no_such_module:Tiny\n")
    with pytest.raises(UsageError, match=r"'tiny' of another package does not load .*no_such_module"):
        open_descriptors([tiny_package])
