"""A stand-in for a descriptor that cannot be used."""

from budgetseg.descriptors.core import Descriptor, Scene, Value
from budgetseg.types import Float32

__all__ = ["Absent"]


class Absent(Descriptor):
    """Takes the place of a descriptor that cannot be used, so that the numbers of the others stay the same.

    Parameters
    ----------
    other : the descriptor that it stands for
    """

    def __init__(self, other: Descriptor) -> None:
        self.name = other.name
        self.length = other.length

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        """Zero: nothing is ever computed."""
        return 0.0

    def compute(self, scene: Scene, region: int, inputs: list[Value]) -> Float32:  # noqa: ARG002
        """Raise LookupError."""
        raise LookupError("not to be had")
