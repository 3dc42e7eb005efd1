"""Finished runs of `budgetseg label`: read back, and written in forms that other programs read."""
