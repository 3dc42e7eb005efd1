"""Predictions carried from frame to frame along optical flow, fused, and painted: arrays in, arrays out."""
