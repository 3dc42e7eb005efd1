"""The machine and the versions that a figure was measured with."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

from budgetseg import __version__

__all__ = ["environment"]


def environment() -> dict[str, str | int]:
    """What to print beside any measurement."""
    return {
        "budgetseg": __version__,
        "python": platform.python_version(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in ("numpy", "numba", "opencv-python-headless", "av")},
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"
