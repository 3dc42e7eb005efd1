"""The default space: a place is a frame, a source is a network; flow carries predictions from frame to frame."""
