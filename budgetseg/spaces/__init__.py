"""What a place is, and what can be asked about it: whole frames, or regions of a video."""
