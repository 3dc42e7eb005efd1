"""Learning of a model from labelled videos."""

import budgetseg.compiling  # noqa: F401 - before anything is compiled
