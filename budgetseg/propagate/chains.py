"""Chains: where each cell of a frame lies in a key frame, the flow from frame to frame composed on the way."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from budgetseg.propagate.cells import between
from budgetseg.types import Float32

__all__ = ["chains_to", "compose"]


def chains_to(key: int, first: int, last: int, steps: Sequence[Float32], cells: tuple[int, int]) -> dict[int, Float32]:
    """Chains to a key frame from every frame of first..last, (h, w, 2) each as (dx, dy) in cells.

    `steps[t]` is the flow from frame t + 1 to frame t.
    """
    chains = {key: np.zeros((*cells, 2), np.float32)}
    for t in range(key + 1, last + 1):
        chains[t] = compose(steps[t - 1], 1.0, chains[t - 1])
    for t in range(key - 1, first - 1, -1):
        chains[t] = compose(steps[t], -1.0, chains[t + 1])
    return chains


@njit(cache=True, nogil=True)
def compose(step: Float32, sign: float, chain: Float32) -> Float32:
    """The chain of a frame from that of its neighbour, to which `sign * step` leads."""
    h, w = step.shape[:2]
    out = np.empty_like(step)
    for y in range(h):
        for x in range(w):
            dx, dy = np.float32(sign) * step[y, x, 0], np.float32(sign) * step[y, x, 1]
            y0, y1, fy = between(y + dy, h)
            x0, x1, fx = between(x + dx, w)
            for k in range(2):
                above = chain[y0, x0, k] + fx * (chain[y0, x1, k] - chain[y0, x0, k])
                below = chain[y1, x0, k] + fx * (chain[y1, x1, k] - chain[y1, x0, k])
                out[y, x, k] = (dy if k else dx) + above + fy * (below - above)
    return out
