"""Settings of carrying, fusing and painting, each with its meaning and where its value comes from."""

from dataclasses import dataclass

__all__ = ["Propagation"]


@dataclass(frozen=True)
class Propagation:
    """How predictions of key frames become labels of all frames.

    Distances are those of `Timeline`. Values were chosen on the training splits of CamVid and SUNY, by fold networks on
    frames that they have not seen; `notebook/decisions/0007-pixels.md`.

    Attributes
    ----------
    flow_pixels : optical flow is found on frames halved until they have no more pixels than this
    near : a key frame at a distance d has the weight 1 / (d + near)
    reach : all key frames no farther than this are fused; farther ones only where none is nearer on their side
    weaker : weight of a network for each one that is dearer, where both have seen key frames
    contrast : grey levels between a cell and where it comes from that halve its weight: something else is hidden there
    outside : factor on the weight of a cell that comes from beyond the frame, where only its border is known
    edge_near : along edges: standard deviation of a cell's weight by distance, in cells. `benchmarks/edges.py`
    edge_alike : along edges: standard deviation of its weight by colour, levels of 0 to 255. `benchmarks/edges.py`
    edge_unlike : along edges: weight of colours that have nothing in common
    """

    flow_pixels: int = 12_000
    near: float = 2.0
    reach: float = 4.0
    weaker: float = 0.25
    contrast: float = 10.0
    outside: float = 0.1
    edge_near: float = 0.6
    edge_alike: float = 40.0
    edge_unlike: float = 1e-3
