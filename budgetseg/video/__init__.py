"""Read video files and image folders; write label PNGs and overlay videos."""

from budgetseg.video.core import Frame
from budgetseg.video.draw import blend, mark_boundaries
from budgetseg.video.encode import VideoWriter
from budgetseg.video.images import list_images, read_image
from budgetseg.video.png import read_index_png, write_index_png
from budgetseg.video.read import VideoSource, open_video
from budgetseg.video.write import read_label_pngs, write_label_pngs, write_overlay

__all__ = [
    "Frame",
    "VideoSource",
    "VideoWriter",
    "blend",
    "list_images",
    "mark_boundaries",
    "open_video",
    "read_image",
    "read_index_png",
    "read_label_pngs",
    "write_index_png",
    "write_label_pngs",
    "write_overlay",
]
