"""HOF and MBH along dense trajectories (Wang et al. 2011), one supervoxel at a time."""
