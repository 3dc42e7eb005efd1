"""The machine that a figure was measured on."""

import json
import platform
from importlib.metadata import version

from budgetseg.evaluation.environment import environment


def test_a_figure_can_name_its_machine_and_versions() -> None:
    found = environment()
    assert found["numba"] == version("numba")
    assert found["python"] == platform.python_version()
    assert all(value for value in found.values())
    assert json.loads(json.dumps(found)) == found
