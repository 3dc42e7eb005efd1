"""Names that the shell completes. Some are said here again, since to import what takes them lasts a second."""

from collections.abc import Callable

from budgetseg.datasets import DATASETS
from budgetseg.models.find import bundled_models

__all__ = ["NAMES", "one_of"]

NAMES: dict[str, Callable[[], tuple[str, ...]]] = {
    "clock": lambda: ("cost", "wall"),
    "costs": lambda: ("shared", "unshared"),
    "dataset": lambda: tuple(DATASETS),
    "space": lambda: ("auto", "frames", "regions"),
    "format": lambda: ("png", "cityscapes", "coco"),
    "model": lambda: tuple(bundled_models()),
    "policy": lambda: ("learned", "static", "random"),
    "scope": lambda: ("total", "descriptors"),
    "select": lambda: ("random", "sure", "unsure", "large", "doubt", "wanted"),
    "tier": lambda: ("quality", "fast"),
}
"""What options take, by what it is."""


def one_of(what: str) -> Callable[[str], list[str]]:
    """Completes such names; where none begins so, the shell goes on with files."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in NAMES[what]() if name.startswith(incomplete)]

    return complete
