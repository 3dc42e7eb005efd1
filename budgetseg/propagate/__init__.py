"""Predictions carried from frame to frame along optical flow, fused, and painted: arrays in, arrays out."""

import budgetseg.compiling  # noqa: F401 - before anything is compiled
