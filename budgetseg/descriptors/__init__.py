"""Descriptors of supervoxels: computed on demand, each at its price."""
