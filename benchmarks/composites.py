"""Videos with cuts, pauses and changes of speed, cut together from plain ones, to try decisions about frames on.

Each has pieces of several videos. The lengths of pieces, where they begin and how fast they go are drawn from stated
ranges. Seeds 0 to 5 are for choosing settings, 100 to 105 for reporting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from budgetseg.types import UInt8

__all__ = ["Piece", "Ranges", "assemble", "draw"]


@dataclass(frozen=True)
class Ranges:
    """What composites are drawn from.

    Attributes
    ----------
    n_frames : of a composite
    lengths : frames of a piece, at least and at most
    speeds : frames of the source for each frame of the piece, one of these; 0 is a pause
    """

    n_frames: int = 200
    lengths: tuple[int, int] = (6, 60)
    speeds: tuple[float, ...] = (0, 0.5, 1, 1, 2, 4)


@dataclass(frozen=True)
class Piece:
    """A stretch of a source video.

    Attributes
    ----------
    source : its name
    frames : numbers of its frames, one for each frame of the piece
    """

    source: str
    frames: tuple[int, ...]


def draw(lengths: Mapping[str, int], seed: int, ranges: Ranges | None = None) -> list[Piece]:
    """Pieces of videos of so many frames each; neighbours are of different videos where there are two."""
    ranges = ranges or Ranges()
    rng = np.random.default_rng(seed)
    names = sorted(lengths)
    pieces: list[Piece] = []
    n_left = ranges.n_frames
    while n_left:
        others = [name for name in names if not pieces or name != pieces[-1].source] or names
        name = others[rng.integers(len(others))]
        speed = float(rng.choice(ranges.speeds))
        n = min(int(rng.integers(ranges.lengths[0], ranges.lengths[1] + 1)), n_left)
        most = lengths[name] if speed == 0 else int((lengths[name] - 1) / speed) + 1
        n = min(n, n_left) if speed == 0 else min(n, most)
        first = int(rng.integers(max(lengths[name] - int((n - 1) * speed), 1)))
        pieces.append(Piece(name, tuple(first + int(k * speed) for k in range(n))))
        n_left -= n
    return pieces


def assemble(pieces: Sequence[Piece], videos: Mapping[str, UInt8], size: tuple[int, int], nearest: bool) -> UInt8:
    """Frames (T, H, W, ...) of the pieces at one size (width, height); `nearest` keeps labels whole."""
    how = cv2.INTER_NEAREST if nearest else cv2.INTER_AREA
    found = []
    for piece in pieces:
        for number in piece.frames:
            frame = videos[piece.source][number]
            is_there = frame.shape[1::-1] == size
            found.append(frame if is_there else cv2.resize(frame, size, interpolation=how))
    return np.asarray(np.stack(found), np.uint8)
