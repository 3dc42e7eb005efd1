"""The networks behind the dcnn descriptors; training needs PyTorch (extra `train`), running does not."""
