"""HOF and MBH along dense trajectories (Wang et al. 2011), computed for one supervoxel at a time."""
