"""A world and its state as one vector of addresses: a call from Python would spend microseconds on handing over arrays.

handle_of(world, state) ─► int64 vector ─► attach, in compiled code ─► the same world and state
"""

from typing import Any

import numpy as np
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from budgetseg.policy.state import N_BINS, State, World
from budgetseg.types import Int64

__all__ = ["attach", "handle_of", "inlined"]

_N, _D, _L, _R, _PAIRS, _NEEDS, _USERS, N_SIZES = range(8)

_KINDS = [np.dtype(code) for code in "iidBfddqiqii" + "iBif?ffff?diidqidffii??Qdq"]
"""Of the fields of `World` and `State`, as `attach` reads them."""


def handle_of(world: World, state: State) -> Int64:
    """Sizes, then addresses in the order of the fields; valid as long as the arrays are held on to."""
    n, n_descriptors = world.private_s.shape
    lengths = len(world.resource_s), len(world.others), len(world.needed), len(world.users)
    sizes = n, n_descriptors, state.probabilities.shape[1], *lengths
    arrays: list[NDArray[Any]] = [*world, *state]
    for name, kind, array in zip((*World._fields, *State._fields), _KINDS, arrays, strict=True):
        if array.dtype != kind:  # compiled code would read nonsense
            raise ValueError(f"{name} is {array.dtype}, not {kind}")
        if not array.flags.c_contiguous:
            raise ValueError(f"{name} must be contiguous")
    return np.array([*sizes, *(array.ctypes.data for array in arrays)], np.int64)


def _pointer_to(kind):  # type: ignore[no-untyped-def]
    @intrinsic
    def pointer(_, address):  # type: ignore[no-untyped-def]
        def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind)(address), codegen  # type: ignore[no-untyped-call]

    return pointer


_int32, _int64, _uint8, _uint64, _float32, _float64, _bool = map(
    _pointer_to,
    (types.int32, types.int64, types.uint8, types.uint64, types.float32, types.float64, types.boolean),
)


inlined = njit(cache=True, nogil=True, inline="always")
"""Compiled into whatever calls it. To hand a world and a state from function to function is to count references to 38
arrays, which takes longer than most steps do; there are none to count where `attach` has made them."""


@inlined
def attach(handle):  # type: ignore[no-untyped-def]
    """The world and the state behind a handle."""
    n, d, labels, r = handle[_N], handle[_D], handle[_L], handle[_R]
    pairs, needs, users = handle[_PAIRS], handle[_NEEDS], handle[_USERS]
    at = handle[N_SIZES:]
    world = World(
        carray(_int32(at[0]), (n + 1,)),
        carray(_int32(at[1]), (pairs,)),
        carray(_float64(at[2]), (pairs,)),
        carray(_uint8(at[3]), (pairs,)),
        carray(_float32(at[4]), (n,)),
        carray(_float64(at[5]), (n, d)),
        carray(_float64(at[6]), (r,)),
        carray(_int64(at[7]), (n * d + 1,)),
        carray(_int32(at[8]), (needs,)),
        carray(_int64(at[9]), (r + 1,)),
        carray(_int32(at[10]), (users,)),
        carray(_int32(at[11]), (r,)),
    )
    state = State(
        carray(_int32(at[12]), (n,)),
        carray(_uint8(at[13]), (n,)),
        carray(_int32(at[14]), (n,)),
        carray(_float32(at[15]), (n, labels)),
        carray(_bool(at[16]), (n,)),
        carray(_float32(at[17]), (n, labels)),
        carray(_float32(at[18]), (n,)),
        carray(_float32(at[19]), (n,)),
        carray(_float32(at[20]), (n, N_BINS)),
        carray(_bool(at[21]), (r,)),
        carray(_float64(at[22]), (r, 2)),
        carray(_int32(at[23]), (d, n)),
        carray(_int32(at[24]), (d, n)),
        carray(_float64(at[25]), (d, n)),
        carray(_int64(at[26]), (d,)),
        carray(_int32(at[27]), (n,)),
        carray(_float64(at[28]), (n, d)),
        carray(_float32(at[29]), (n, d)),
        carray(_float32(at[30]), (n, d)),
        carray(_int32(at[31]), (n,)),
        carray(_int32(at[32]), (n,)),
        carray(_bool(at[33]), (n,)),
        carray(_bool(at[34]), (n,)),
        carray(_uint64(at[35]), (1,)),
        carray(_float64(at[36]), (7,)),
        carray(_int64(at[37]), (7,)),
    )
    return world, state
