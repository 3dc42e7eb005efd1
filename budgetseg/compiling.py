"""Compiled code is kept between programs where that works, and made again where it does not.

numba raises whatever it meets in its cache: a file that is cut short, a full disk, a home that cannot be read. Here all
of these mean the same: it is said once, and the program goes on without. Importing this module arranges that; packages
with compiled code import it first.
"""

import logging
import pickle
from typing import Any

from numba.core import caching, dispatcher

__all__: list[str] = []

_log = logging.getLogger(__name__)
_told: list[bool] = []

_TROUBLES = (OSError, RuntimeError, EOFError, ValueError, LookupError, TypeError, AttributeError, ImportError)
_DAMAGES = (*_TROUBLES, pickle.UnpicklingError, MemoryError)

_load: Any = caching.IndexDataCacheFile.load
_save: Any = caching.IndexDataCacheFile.save
_load_index: Any = caching.IndexDataCacheFile._load_index
_load_overload: Any = caching.Cache.load_overload
_enable: Any = dispatcher.Dispatcher.enable_caching


def _index(self: Any) -> Any:
    """The index of a cache; an empty one where it is damaged, so that it is written anew."""
    try:
        return _load_index(self)
    except _DAMAGES as error:
        _tell(error)
        return {}


def _loaded(self: Any, key: Any) -> Any:
    """Compiled code from the cache; None where there is none that can be used."""
    try:
        return _load(self, key)
    except _DAMAGES as error:
        _tell(error)
        return None


def _rebuilt(self: Any, signature: Any, context: Any) -> Any:
    """A compiled function from the cache; None where what is there is none."""
    try:
        return _load_overload(self, signature, context)
    except _DAMAGES as error:
        _tell(error)
        return None


def _saved(self: Any, key: Any, data: Any) -> None:
    """Keep compiled code, where there is room."""
    try:
        _save(self, key, data)
    except _TROUBLES as error:
        _tell(error)


def _enabled(self: Any) -> None:
    """Keep what this function is compiled to, where there is a place."""
    try:
        _enable(self)
    except _TROUBLES as error:
        _tell(error)


def _tell(error: Exception) -> None:
    if not _told:
        _told.append(True)
        line = " ".join(str(error).split())[:200]
        _log.warning("compiled code cannot be kept (%s: %s); it is made again", type(error).__name__, line)


for _owner, _name, _careful in (
    (caching.IndexDataCacheFile, "_load_index", _index),
    (caching.IndexDataCacheFile, "load", _loaded),
    (caching.IndexDataCacheFile, "save", _saved),
    (caching.Cache, "load_overload", _rebuilt),
    (dispatcher.Dispatcher, "enable_caching", _enabled),
):
    setattr(_owner, _name, _careful)
