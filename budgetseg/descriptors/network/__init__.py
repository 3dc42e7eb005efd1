"""The networks behind the dcnn descriptors: architecture and training need PyTorch (extra `train`), running does not."""
