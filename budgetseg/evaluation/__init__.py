"""How good and how fast: accuracy, benchmarks, the demo."""
