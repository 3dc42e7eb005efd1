"""Finished runs of `budgetseg label`: they are read back, and written in formats of other programs."""
