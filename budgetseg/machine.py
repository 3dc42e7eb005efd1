"""The machine that we run on: its name, what it can do, and where things that hold for it alone are kept."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir

__all__ = ["cache_folder", "cpu_features", "cpu_limit", "cpu_model", "usable_cores"]

FEATURES: Mapping[str, str] = {"avx2": "avx2", "avx512": "avx512f", "bf16": "avx512_bf16", "amx": "amx_tile"}
"""What networks gain from in a processor, with the flag by which Linux names it."""


def cpu_model() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"


def cpu_features(info: Path = Path("/proc/cpuinfo")) -> dict[str, bool]:
    """Whether the processor has avx2, avx512, bf16 and amx; empty where the system does not say."""
    lines = info.read_text().splitlines() if info.exists() else []
    flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), None)
    return {} if flags is None else {name: flag in flags for name, flag in FEATURES.items()}


def usable_cores() -> int:
    """Number of cores that this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_limit(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> float | None:
    """Cores' worth of time that a container gives this program; None for no limit."""
    try:
        limit, period = quota.read_text().split()
        return int(limit) / int(period)
    except (OSError, ValueError):
        return None


def cache_folder() -> Path:
    """Folder for measurements of this machine: BUDGETSEG_CACHE, or the user's cache."""
    own = os.environ.get("BUDGETSEG_CACHE")
    if own:
        return Path(own)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "budgetseg"
    except RuntimeError:  # nobody's home
        return Path(gettempdir()) / f"budgetseg-{os.getuid()}"
