"""The command line: one thin command per file."""

from budgetseg.cli.app import main

__all__ = ["main"]
