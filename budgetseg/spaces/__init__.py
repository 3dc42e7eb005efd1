"""What a place is, and what can be asked about it: whole frames, or regions of a video."""

import budgetseg.compiling  # noqa: F401 - before anything is compiled
