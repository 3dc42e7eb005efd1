"""Baselines that budgeted labelling is compared with."""
