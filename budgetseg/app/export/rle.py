"""Masks in COCO's run-length encoding: lengths of the runs down the columns, written as text."""

from itertools import pairwise

import numpy as np

from budgetseg.types import Bool

__all__ = ["run_lengths", "to_text"]

FIRST = ord("0")  # the character of a digit with no bit set


def run_lengths(mask: Bool) -> list[int]:
    """Lengths of the runs of a mask (H, W), column by column: outside and inside in turn, beginning with outside.

    Examples
    --------
    >>> run_lengths(np.array([[False, True], [False, True], [True, True]]))
    [2, 4]
    >>> run_lengths(np.array([[True, False]]))
    [0, 1, 1]
    """
    flat = mask.ravel(order="F")
    ends = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    borders = [0, *ends.tolist(), flat.size]
    lengths = [end - start for start, end in pairwise(borders)]
    return [0, *lengths] if flat[0] else lengths


def to_text(lengths: list[int]) -> str:
    """The lengths in COCO's compressed form: from the fourth on, each minus the one two before, in 5-bit digits.

    Examples
    --------
    >>> to_text([2, 4])
    '24'
    >>> to_text([6, 1, 40, 4, 5, 4, 5, 4, 21])
    '61X13mN000`0'
    """
    return "".join(_digits(n - lengths[k - 2] if k > 2 else n) for k, n in enumerate(lengths))


def _digits(number: int) -> str:
    """A number as characters of 5 bits each, lowest digit first; the highest bit of the last digit is the sign.

    A sixth bit of each character says whether more follow.
    """
    text = ""
    while True:
        digit = number & 31
        number = number >> 5
        is_last = number == (-1 if digit & 16 else 0)
        text += chr(FIRST + digit + (0 if is_last else 32))
        if is_last:
            return text
