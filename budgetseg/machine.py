"""The machine that we run on: its name, and where things that hold for it alone are kept."""

import os
import platform
from pathlib import Path

__all__ = ["cache_folder", "cpu_model"]


def cpu_model() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"


def cache_folder() -> Path:
    """Folder for measurements of this machine: BUDGETSEG_CACHE, or the user's cache."""
    own = os.environ.get("BUDGETSEG_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "budgetseg"
