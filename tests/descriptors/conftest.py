"""What several descriptor tests look at."""

import pytest

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.models import bundled
from budgetseg.supervoxels import segment


@pytest.fixture(scope="module")
def street() -> Scene:
    frames = render(0, 6, (96, 64))[0].frames
    return Scene.of(frames, segment(frames, 30, "fast"))


@pytest.fixture(scope="module")
def descriptors() -> list[Descriptor]:
    return open_descriptors([*BUILT_IN, "dcnn"], networks=bundled("camvid", ""))
