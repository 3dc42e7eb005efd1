"""H: class probabilities of a supervoxel from whichever descriptors were computed."""

from budgetseg.classifiers.samples import Samples, samples_of
from budgetseg.classifiers.subsets import SubsetClassifiers

__all__ = ["Samples", "SubsetClassifiers", "samples_of"]
