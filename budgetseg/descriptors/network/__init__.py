"""The networks behind the dcnn descriptors; training needs PyTorch (extra `train`), running does not."""

__all__ = ["MEAN", "STD"]

MEAN, STD = 0.45, 0.27
"""Frames, 0 to 1, enter the networks as (frame - MEAN) / STD."""
