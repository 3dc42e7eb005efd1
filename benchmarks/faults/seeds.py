"""Sound files that faults are made from: small clips, a run of each space, models."""

from collections.abc import Mapping
from pathlib import Path

import av
import cv2

from budgetseg.datasets.synthetic import render
from budgetseg.types import UInt8

__all__ = ["CLIPS", "N_FRAMES", "write_clips", "write_images"]

N_FRAMES = 12
SIZE = (96, 64)

CLIPS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "h264.mp4": ("libx264", {}),
    "h264.mkv": ("libx264", {"x264-params": "keyint=4"}),
    "h264.ts": ("libx264", {}),
    "mpeg4.avi": ("mpeg4", {}),
    "vp9.webm": ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}),
    "raw.y4m": ("wrapped_avframe", {}),
}
"""Files and their codecs."""


def write_clips(folder: Path) -> list[Path]:
    """A rendered street in every format that can be written here."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = render(1, N_FRAMES, SIZE)[0].frames
    made = []
    for name, (codec, options) in CLIPS.items():
        path = folder / name
        if codec in av.codecs_available:
            if not path.exists():
                _encode(path, frames, codec, options)
            made.append(path)
    return made


def write_images(folder: Path, suffix: str) -> Path:
    """A rendered street as a folder of images."""
    folder.mkdir(parents=True, exist_ok=True)
    for t, frame in enumerate(render(1, N_FRAMES, SIZE)[0].frames):
        cv2.imwrite(str(folder / f"{t:03d}{suffix}"), frame[..., ::-1])
    return folder


def _encode(path: Path, frames: UInt8, codec: str, options: Mapping[str, str]) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25, options=dict(options))
        assert isinstance(stream, av.VideoStream)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(frame, format="rgb24").reformat(format="yuv420p")
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
