"""Streams: labels for the newest frame of a camera within a latency, with delay and memory that do not grow.

`sources` says where frames come from, `loop` labels them, and `page` and `record` show and keep them.
"""
