"""Describe the machine and the versions that a figure was measured with."""

import os
import platform
from importlib.metadata import version

from budgetseg import __version__
from budgetseg.machine import cpu_model

__all__ = ["environment"]


def environment() -> dict[str, str | int]:
    """Versions, processor and system, to be stored with any measurement."""
    return {
        "budgetseg": __version__,
        "python": platform.python_version(),
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in ("numpy", "numba", "opencv-python-headless", "av")},
    }
