"""Names that the shell completes. Some repeat lists of the library, which would take a second to import."""

from collections.abc import Callable

from budgetseg.datasets import DATASETS
from budgetseg.models.find import bundled_models

__all__ = ["NAMES", "one_of"]

NAMES: dict[str, Callable[[], tuple[str, ...]]] = {
    "backend": lambda: ("auto", "onnxruntime", "openvino", "cuda", "tensorrt"),
    "clock": lambda: ("cost", "wall"),
    "costs": lambda: ("shared", "unshared"),
    "dataset": lambda: tuple(DATASETS),
    "executor": lambda: ("auto", "local", "processes", "ray"),
    "space": lambda: ("auto", "frames", "regions"),
    "format": lambda: ("png", "cityscapes", "coco", "cvat", "fiftyone", "huggingface", "zarr"),
    "model": lambda: tuple(bundled_models()),
    "policy": lambda: ("learned", "static", "random"),
    "precision": lambda: ("auto", "f32", "bf16", "int8"),
    "scope": lambda: ("total", "descriptors"),
    "select": lambda: ("random", "sure", "unsure", "large", "doubt", "wanted"),
    "tier": lambda: ("quality", "fast"),
}
"""Values of options, by kind."""


def one_of(what: str) -> Callable[[str], list[str]]:
    """A completer for names of one kind; if none matches, the shell completes files."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in NAMES[what]() if name.startswith(incomplete)]

    return complete
