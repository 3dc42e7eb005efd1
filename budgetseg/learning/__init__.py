"""Learning of a model from labelled videos."""
