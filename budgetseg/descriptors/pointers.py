"""Pass arrays of one shape to compiled code by their addresses; a list of arrays would be copied one by one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from budgetseg.types import Float32, Int64

__all__ = ["FrameArray", "addresses", "array_at"]


@dataclass(frozen=True, eq=False)
class FrameArray:
    """A C-contiguous float32 array of one frame, and its address in memory."""

    array: Float32
    address: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", self.array.ctypes.data)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self.array.nbytes


def addresses(arrays: Sequence[FrameArray]) -> Int64:
    """Addresses of arrays, (K,) int64. The arrays must be kept as long as the addresses are used."""
    return np.array([array.address for array in arrays], np.int64)


@intrinsic
def _pointer(_, address):  # type: ignore[no-untyped-def]
    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float32)(address), codegen  # type: ignore[no-untyped-call]


@njit(inline="always")
def array_at(address, shape):  # type: ignore[no-untyped-def]
    """The float32 array of a shape at an address."""
    return carray(_pointer(address), shape)  # type: ignore[call-arg]  # numba gives the first
