"""What the machine, the installation and the caches are like, and what is wrong with them."""

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import av

from budgetseg import __version__
from budgetseg.errors import BudgetsegError, OutputError
from budgetseg.files import atomic_file
from budgetseg.machine import cache_folder, cpu_features, cpu_limit, cpu_model, usable_cores
from budgetseg.models.bundle import load_any
from budgetseg.models.find import bundled_models, find_model
from budgetseg.networks.backends.registry import BACKENDS
from budgetseg.networks.measured import FILE as MEASURED
from budgetseg.networks.measured import Entry, read_measured
from budgetseg.timing.prices import FILE as PRICES

__all__ = ["Cache", "Checkup", "Installed", "Trouble", "examine"]

LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "opencv-python-headless", "av", "safetensors")
READS = ("h264", "hevc", "vp9", "av1", "mpeg4", "mjpeg")
WRITES = ("libx264", "mpeg4")


@dataclass(frozen=True)
class Installed:
    """A back end on this machine.

    Attributes
    ----------
    name : of the back end
    version : None where it is not installed
    precisions : of floating point that it has here; none where it does not start
    """

    name: str
    version: str | None
    precisions: Sequence[str]


@dataclass(frozen=True)
class Cache:
    """A place where results of measuring or compiling are kept.

    Attributes
    ----------
    what : it holds
    folder : its place
    is_writable : whether files can be written there
    """

    what: str
    folder: str
    is_writable: bool


@dataclass(frozen=True)
class Trouble:
    """Something that is wrong.

    Attributes
    ----------
    what : is wrong, in a line
    remedy : what to do, in a line
    """

    what: str
    remedy: str


@dataclass(frozen=True)
class Checkup:
    """What was found.

    Attributes
    ----------
    machine : system, processor, features, cores, and limits
    versions : of Python and of the main libraries
    backends : all that there are, also those that are not installed
    measured : what was measured of networks on this processor
    caches : where they are
    codecs : of ffmpeg, by `reads` and `writes`
    wrong : what is wrong; nothing if all is fine
    """

    machine: Mapping[str, Any]
    versions: Mapping[str, str | None]
    backends: Sequence[Installed]
    measured: Sequence[Entry]
    caches: Sequence[Cache]
    codecs: Mapping[str, Sequence[str]]
    wrong: Sequence[Trouble]

    @property
    def is_fine(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "is_fine": self.is_fine}


def examine() -> Checkup:
    """Look at the machine, the installation and the caches; nothing is changed."""
    backends = [_installed(name) for name in BACKENDS]
    measured = [entry for entry in read_measured() if entry.mark.cpu == cpu_model()]
    caches = [_cache("prices and measurements", cache_folder()), _compiled()]
    codecs = {"reads": _codecs(READS, "r"), "writes": _codecs(WRITES, "w")}
    wrong = [
        *_wrong_backends(backends, measured),
        *_wrong_caches(caches),
        *_wrong_files(cache_folder()),
        *_wrong_codecs(codecs),
        *_wrong_models(),
    ]
    return Checkup(_machine(), _versions(), backends, measured, caches, codecs, wrong)


def _machine() -> dict[str, Any]:
    return {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": cpu_model(),
        "features": cpu_features(),
        "cores": os.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "cpu_limit": cpu_limit(),
    }


def _versions() -> dict[str, str | None]:
    found: dict[str, str | None] = {"budgetseg": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        found[name] = None
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _installed(name: str) -> Installed:
    backend = BACKENDS[name]
    return Installed(name, backend.version(), backend.precisions())


def _cache(what: str, folder: Path) -> Cache:
    """A folder, tried by writing a file there that is removed again."""
    is_writable = False
    with suppress(OutputError, _Tried), atomic_file(folder / "trial"):
        is_writable = True
        raise _Tried
    return Cache(what, str(folder), is_writable)


class _Tried(Exception):  # noqa: N818  # no error
    """A file can be written; raised to leave nothing behind."""


def _compiled() -> Cache:
    """The folder of compiled code: that of the package, or the user's where that cannot be written."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    package = Path(__file__).parents[1]
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    beside = package if os.access(package, os.W_OK) else users
    return _cache("compiled code", Path(own) if own else beside)


def _codecs(names: Sequence[str], mode: str) -> list[str]:
    """Those of some codecs that ffmpeg has, for reading `r` or writing `w`."""
    return [name for name in names if _has_codec(name, mode)]


def _has_codec(name: str, mode: str) -> bool:
    make: Callable[..., object] = av.Codec
    try:
        make(name, mode)
    except ValueError:
        return False
    return True


def _wrong_backends(backends: Sequence[Installed], measured: Sequence[Entry]) -> list[Trouble]:
    still = [
        Trouble(f"the back end '{own.name}' is installed and does not start", BACKENDS[own.name].install)
        for own in backends
        if own.version is not None and not own.precisions
    ]
    remedy = f"repair it, and remove '{cache_folder() / MEASURED}' to try again"
    fails = [
        Trouble(f"{entry.network} does not run by {row.choice}: {row.error}", remedy)
        for entry in measured
        for row in entry.rows
        if row.ms is None
    ]
    return still + fails


def _wrong_caches(caches: Sequence[Cache]) -> list[Trouble]:
    remedies = {"compiled code": "NUMBA_CACHE_DIR"}
    return [
        Trouble(
            f"'{cache.folder}' cannot be written, so {cache.what} are not kept between programs",
            f"set {remedies.get(cache.what, 'BUDGETSEG_CACHE')} to a folder that can be written",
        )
        for cache in caches
        if not cache.is_writable
    ]


def _wrong_files(folder: Path) -> list[Trouble]:
    """Files of the cache that are there and cannot be read."""
    found = []
    for path in (folder / PRICES, folder / MEASURED):
        try:
            if path.exists():
                json.loads(path.read_text())
        except (OSError, ValueError) as error:
            found.append(Trouble(f"'{path}' cannot be read ({type(error).__name__})", "remove it; it is made again"))
    return found


def _wrong_codecs(codecs: Mapping[str, Sequence[str]]) -> list[Trouble]:
    remedy = "install PyAV with its own ffmpeg: pip install --force-reinstall av"
    missing = [] if "h264" in codecs["reads"] else [Trouble("ffmpeg cannot read H.264", remedy)]
    return missing + ([] if codecs["writes"] else [Trouble("ffmpeg can write no overlay", remedy)])


def _wrong_models() -> list[Trouble]:
    """Bundled models that do not load."""
    found = []
    for name in bundled_models():
        try:
            load_any(find_model(name))
        except BudgetsegError as error:
            found.append(Trouble(f"the bundled model '{name}' does not load: {error}", "install budgetseg again"))
    return found
