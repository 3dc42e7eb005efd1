"""Descriptors of supervoxels: they are computed on demand, and each has a predicted price."""

import budgetseg.compiling  # noqa: F401 - before anything is compiled
