"""Whole frames to labels: networks on some of them, their answers carried along optical flow to all and fused there."""
