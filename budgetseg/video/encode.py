"""Encode frames to a video file."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self

import av
import numpy as np
from av.codec.codec import Codec, UnknownCodecError
from av.container import OutputContainer
from av.error import FFmpegError
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter
from av.video.stream import VideoStream

from budgetseg.errors import VideoError
from budgetseg.files import atomic_file
from budgetseg.types import UInt8

__all__ = ["VideoWriter"]

_LOWEST_RATE = Fraction(1, 1001)  # frames per second; a time lapse with longer gaps plays faster than recorded
_BT709 = 1  # number of the colour matrix in the stream
_ENCODERS = {"libx264": {"crf": "22", "preset": "superfast"}, "mpeg4": {"qmin": "2", "qmax": "5"}}


class VideoWriter:
    """A video file that appears when the block ends without error: H.264 if libav has the encoder, else MPEG-4.

    A side of odd length gets one more row or column, a copy of the last, since colour is stored for pairs of pixels.
    MP4 files carry their index in front, so that they play before they are loaded.

    Parameters
    ----------
    path : the suffix chooses the container; .mp4 plays everywhere
    size : width and height of the frames
    rate : frames per second, 1/1001 at least

    Examples
    --------
    >>> with VideoWriter("overlay.mp4", (480, 360), 25.0) as writer:  # doctest: +SKIP
    ...     writer.write(frame)
    """

    def __init__(self, path: str | Path, size: tuple[int, int], rate: float) -> None:
        self.path = Path(path)
        self.size = size
        self.rate = rate
        self.n_written = 0

    def __enter__(self) -> Self:
        self._session = self._encoding()
        self._session.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._session.__exit__(kind, error, trace)

    def write(self, frame: UInt8) -> None:
        """Add one frame, (H, W, 3) uint8, RGB."""
        width, height = self.size
        if frame.shape != (height, width, 3):
            raise VideoError(f"a frame of shape {frame.shape} does not fit a video of {width}x{height}; use one size")
        picture = self._picture(frame)
        picture.pts = self.n_written
        picture.time_base = 1 / _fraction(self.rate)
        self._container.mux(self._stream.encode(picture))
        self.n_written += 1

    @contextmanager
    def _encoding(self) -> Iterator[None]:
        """Open the file, let the block write it, and finish it; `atomic_file` removes it if anything fails."""
        with atomic_file(self.path) as part, _open(part) as self._container:
            self._stream = _add_stream(self._container, self.size, self.rate)
            self._reformatter = VideoReformatter()
            yield
            if self.n_written == 0:
                raise VideoError(f"no frame was written to '{self.path}'; a video needs at least one")
            self._container.mux(self._stream.encode())

    def _picture(self, frame: UInt8) -> VideoFrame:
        """The frame in the encoder's format: even sides, 4:2:0, in the colour space of the stream."""
        height, width, _ = frame.shape
        if height % 2 or width % 2:
            frame = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), "edge")
        return self._reformatter.reformat(
            VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24"),
            format="yuv420p",
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            threads=1,
        )


def _open(path: Path) -> OutputContainer:
    options = {"movflags": "faststart"} if path.suffix.lower() in {".mp4", ".m4v", ".mov"} else {}
    try:
        return av.open(f"file:{path}", "w", options=options)
    except (FFmpegError, ValueError) as error:
        if isinstance(error, OSError):  # the place is wrong, not the format; `atomic_file` says so
            raise
        raise VideoError(f"cannot write a video named '*{path.suffix}'; name it .mp4") from error


def _add_stream(container: OutputContainer, size: tuple[int, int], rate: float) -> VideoStream:
    name = next(name for name in _ENCODERS if _is_there(name))
    stream = container.add_stream(name, rate=_fraction(rate), options=_ENCODERS[name])
    assert isinstance(stream, VideoStream)
    stream.width = size[0] + size[0] % 2
    stream.height = size[1] + size[1] % 2
    stream.pix_fmt = "yuv420p"
    stream.colorspace = stream.color_primaries = stream.color_trc = _BT709
    stream.color_range = ColorRange.MPEG
    return stream


def _fraction(rate: float) -> Fraction:
    """Frames per second as containers store it: 1001 is the largest denominator in use, as in 30000/1001."""
    return max(Fraction(rate).limit_denominator(1001), _LOWEST_RATE)


def _is_there(encoder: str) -> bool:
    try:
        Codec(encoder, "w")
    except UnknownCodecError:
        return False
    return True
