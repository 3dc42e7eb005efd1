"""The regions space, the paper's: places are supervoxels, sources are descriptors that take time to compute."""
