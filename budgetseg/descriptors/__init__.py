"""Descriptors of supervoxels: they are computed on demand, and each has a predicted price."""
