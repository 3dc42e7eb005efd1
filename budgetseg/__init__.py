"""Semantic video segmentation within a time budget."""

__version__ = "0.1.0"
