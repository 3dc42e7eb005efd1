"""The tasks of a user: load a model, label videos, resume or replay a run, export labels."""
