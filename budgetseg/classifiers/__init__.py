"""H: class probabilities of a supervoxel from any subset of the descriptors."""

from budgetseg.classifiers.samples import Samples, samples_of
from budgetseg.classifiers.subsets import SubsetClassifiers

__all__ = ["Samples", "SubsetClassifiers", "samples_of"]
