"""Encode frames to a video file."""

import os
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

__all__ = ["BT709", "VideoWriter", "converted", "even"]

BT709 = 1
"""The colour matrix of high-definition video, as streams number it."""

_LOWEST_RATE = Fraction(1, 1001)  # frames per second; a time lapse with longer gaps plays faster than recorded
_ENCODERS = {"libx264": {"crf": "24", "preset": "ultrafast"}, "mpeg4": {"qmin": "2", "qmax": "5"}}
_FINEST = {"libx264": 90_000, "mpeg4": 60_000}  # units of time in a second, about; MPEG-4 can count 65,535


class VideoWriter:
    """A video file that appears when the block ends without error: H.264 if libav has the encoder, else MPEG-4.

    A side of odd length gets one more row or column, a copy of the last, since colour is stored for pairs of pixels.
    MP4 files carry their index in front, so that they play before they are loaded.

    Parameters
    ----------
    path : the suffix chooses the container; .mp4 plays everywhere
    size : width and height of the frames
    rate : frames per second, 1/1001 at least; the mean, where frames have times of their own
    matrix : colour matrix of the pictures that `write_picture` gets

    Examples
    --------
    >>> with VideoWriter("overlay.mp4", (480, 360), 25.0) as writer:  # doctest: +SKIP
    ...     writer.write(frame)
    """

    def __init__(self, path: str | Path, size: tuple[int, int], rate: float, matrix: int = BT709) -> None:
        self.path = Path(path)
        self.size = size
        self.rate = rate
        self.matrix = matrix
        self.n_written = 0

    def __enter__(self) -> Self:
        self._session = self._encoding()
        self._session.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._session.__exit__(kind, error, trace)

    def write(self, frame: UInt8, time_s: float | None = None) -> None:
        """Add one frame, (H, W, 3) uint8, RGB. It is shown at `time_s`; None for one frame after the last."""
        width, height = self.size
        if frame.shape != (height, width, 3):
            raise VideoError(f"a frame of shape {frame.shape} does not fit a video of {width}x{height}; use one size")
        self.write_picture(converted(frame, self._reformatter, self.matrix), time_s)

    def write_picture(self, picture: VideoFrame, time_s: float | None = None) -> None:
        """Add a picture with even sides, 4:2:0, in the colour matrix of this video. It may not be changed later."""
        picture.pts = self._count_of(time_s)
        picture.duration = self._per_frame
        picture.time_base = self._unit_s
        self._container.mux(self._stream.encode(picture))
        self.n_written += 1
        self._last = picture.pts

    def _count_of(self, time_s: float | None) -> int:
        """When a frame is shown, in units of time since the first frame; later than the frame before."""
        if time_s is None:
            return self._last + self._per_frame if self.n_written else 0
        if self.n_written == 0:
            self._first_s = time_s
            return 0
        return max(round((time_s - self._first_s) / float(self._unit_s)), self._last + 1)

    @contextmanager
    def _encoding(self) -> Iterator[None]:
        """Open the file, let the block write it, and finish it; `atomic_file` removes it if anything fails."""
        with atomic_file(self.path) as part, _open(part) as self._container:
            name = next(name for name in _ENCODERS if _is_there(name))
            rate = _fraction(self.rate)
            self._per_frame = max(1, _FINEST[name] // rate.numerator)
            self._unit_s = 1 / (rate * self._per_frame)
            self._stream = _add_stream(self._container, name, self.size, rate, self.matrix)
            self._stream.codec_context.time_base = self._unit_s
            self._reformatter = VideoReformatter()
            self._last = 0
            yield
            if self.n_written == 0:
                raise VideoError(f"no frame was written to '{self.path}'; a video needs at least one")
            self._container.mux(self._stream.encode())


def even(size: tuple[int, int]) -> tuple[int, int]:
    """Width and height, each raised to an even number."""
    return size[0] + size[0] % 2, size[1] + size[1] % 2


def converted(frame: UInt8, reformatter: VideoReformatter, matrix: int = BT709) -> VideoFrame:
    """A frame (H, W, 3) in the format of an encoder: even sides, 4:2:0, in a colour matrix."""
    height, width, _ = frame.shape
    if height % 2 or width % 2:
        frame = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), "edge")
    return reformatter.reformat(
        VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24"),
        format="yuv420p",
        dst_colorspace=Colorspace.ITU709 if matrix == BT709 else Colorspace.ITU601,
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


def _add_stream(
    container: OutputContainer, name: str, size: tuple[int, int], rate: Fraction, matrix: int
) -> VideoStream:
    threads = max(1, (os.cpu_count() or 1) - 1)  # one core decodes, or makes the frames
    stream = container.add_stream(name, rate=rate, options={**_ENCODERS[name], "threads": str(threads)})
    assert isinstance(stream, VideoStream)
    stream.width, stream.height = even(size)
    stream.pix_fmt = "yuv420p"
    stream.colorspace = stream.color_primaries = stream.color_trc = matrix
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
