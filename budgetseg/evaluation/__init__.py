"""Measure accuracy and speed: evaluation of methods, benchmarks, the demo."""
