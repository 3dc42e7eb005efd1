"""Sizes of inputs."""

__all__ = ["input_size"]

_MULTIPLE = 4
"""Sides of inputs that are not those of the frames are multiples of this, the sides of the finest cells in pixels."""


def input_size(size: tuple[int, int], zoom: float) -> tuple[int, int]:
    """Width and height of an input whose sides are `zoom` times those of frames.

    Examples
    --------
    >>> input_size((480, 360), 1.5)
    (720, 540)
    >>> input_size((150, 90), 1.0)
    (150, 90)
    """
    if zoom == 1:
        return size
    width, height = (max(1, round(side * zoom / _MULTIPLE)) * _MULTIPLE for side in size)
    return width, height
