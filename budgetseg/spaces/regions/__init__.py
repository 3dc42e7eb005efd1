"""The paper's space: supervoxels, and descriptors that cost time."""
