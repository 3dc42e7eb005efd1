"""Datasets: labelled videos in splits, read from the file layouts in which they are published."""

from budgetseg.datasets.core import Dataset, LabelledVideo, Problem, SeenFrame
from budgetseg.datasets.registry import DATASETS, DatasetEntry, open_dataset

__all__ = ["DATASETS", "Dataset", "DatasetEntry", "LabelledVideo", "Problem", "SeenFrame", "open_dataset"]
