"""A descriptor that is not to be had."""

from budgetseg.descriptors.core import Descriptor, Scene, Value
from budgetseg.types import Float32

__all__ = ["Absent"]


class Absent(Descriptor):
    """In the place of a descriptor that is not to be had."""

    def __init__(self, other: Descriptor) -> None:
        self.name, self.length = other.name, other.length

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        """None."""
        return 0.0

    def compute(self, scene: Scene, region: int, inputs: list[Value]) -> Float32:  # noqa: ARG002
        """LookupError."""
        raise LookupError("not to be had")
