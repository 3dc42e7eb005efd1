"""The networks behind the dcnn descriptors; training needs PyTorch (extra `train`), running does not."""

__all__ = ["MEAN", "NAMES", "STD"]

NAMES = ("dcnn", "dcnn_large")
"""Names of the networks that a training makes if it needs some and has none."""

MEAN = 0.45
STD = 0.27
"""Frames, 0 to 1, enter the networks as (frame - MEAN) / STD."""
