"""The few calls to libav: open a file, read its packets, decode its frames, turn them upright."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import av
import cv2
import numpy as np
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from budgetseg.errors import VideoError
from budgetseg.types import Int32, UInt8

__all__ = [
    "INDEXED",
    "DamagedError",
    "decoded",
    "is_one_to_one",
    "is_shown",
    "is_transposed",
    "is_upright",
    "opened",
    "packets",
    "upright_rgb",
]

INDEXED = frozenset({"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"})
"""Demuxers that give each frame as one packet, with its true time, and seek to key frames."""

_OPENING_OTHERS = frozenset(
    [
        "applehttp",
        "avisynth",
        "concat",
        "concatf",
        "dash",
        "fifo",
        "hls",
        "image2",
        "image2pipe",
        "imf",
        "iss",
        "lavfi",
        "rtp",
        "rtsp",
        "sap",
        "sdp",
        "tee",
        "vapoursynth",
        "webm_dash_manifest",
    ]
)
"""Formats of lists: files in them name other files or addresses, which would be opened, too."""
_FORMATS = ",".join(sorted(av.formats_available - _OPENING_OTHERS))
_NOT_VIDEO = {"tty"}  # libav draws text files as pictures
_KINDS = "an MP4, MKV, AVI, WebM or Y4M file, or a folder of PNG or JPEG images"


class DamagedError(Exception):
    """A frame cannot be decoded; this error does not leave `budgetseg.video`.

    Attributes
    ----------
    n_doubtful : number of frames that were already returned and come after the damage
    """

    def __init__(self, reason: str, n_doubtful: int = 0) -> None:
        super().__init__(reason)
        self.n_doubtful = n_doubtful


@contextmanager
def opened(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """Open the container and find its video stream; VideoError if there is none."""
    if not path.is_file():
        raise VideoError(f"'{path}' is no regular file; give {_KINDS}")
    try:
        # With the prefix, a colon in a path does not mark a protocol. Texts in files are in any encoding.
        container = av.open(
            f"file:{path}",
            options={"format_whitelist": _FORMATS, "protocol_whitelist": "file"},
            metadata_errors="replace",
        )
    except FFmpegError as error:
        raise VideoError(f"'{path}' cannot be read as a video ({_reason(error)}); give {_KINDS}") from error
    with container:
        streams = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
        if not streams or container.format.name in _NOT_VIDEO:
            raise VideoError(f"'{path}' holds no video; give {_KINDS}")
        if streams[0].codec_context is None:
            raise VideoError(f"'{path}' is in a codec that is not known here; convert it to H.264")
        yield container, streams[0]


def packets(container: InputContainer, stream: VideoStream) -> "Iterator[Packet[VideoStream]]":
    """Packets with data, up to the first one that cannot be read."""
    with suppress(FFmpegError):
        yield from (packet for packet in container.demux(stream) if packet.size)


def is_shown(packet: "Packet[VideoStream]") -> bool:
    """Whether a packet becomes a frame: it has data, no edit list hides it, and it is no VP8 reference picture."""
    is_vp8 = packet.stream.codec_context.name == "vp8"
    hidden = is_vp8 and packet.size > 0 and not memoryview(packet)[0] & 0x10
    return packet.size > 0 and not packet.is_discard and not hidden


def is_one_to_one(stream: VideoStream) -> bool:
    """Whether each packet holds one frame, with its true time; packets of mpeg4 may hold several, or none."""
    return stream.container.format.name in INDEXED and stream.codec_context.name != "mpeg4"


def decoded(container: InputContainer, stream: VideoStream) -> Iterator[VideoFrame]:
    """Frames in presentation order; DamagedError if one cannot be decoded.

    Packets that fail before the first frame are skipped: recordings may start between key frames.
    """
    tally = _Tally()
    for packet in _all_packets(container, stream):
        is_cut = tally.has_begun and packet.is_corrupt
        try:
            frames = _flush(stream, packet.dts) if is_cut else packet.decode()
        except FFmpegError as error:
            if tally.has_begun:
                raise DamagedError(_reason(error)) from error
            continue
        tally.owe(packet)
        for frame in frames:
            if tally.has_begun and frame.is_corrupt:
                raise DamagedError("the next one has errors")
            tally.give(frame)
            yield frame
        if is_cut:
            raise DamagedError("the next one is cut off")
    tally.settle()


class _Tally:
    """Counts packets that have not become frames, since errors of a decoder with several threads can get lost."""

    def __init__(self) -> None:
        self._owed: set[int] = set()
        self._given: list[int] = []
        self.has_begun = False

    def owe(self, packet: "Packet[VideoStream]") -> None:
        if is_one_to_one(packet.stream) and is_shown(packet) and packet.pts is not None:
            self._owed.add(packet.pts)

    def give(self, frame: VideoFrame) -> None:
        self.has_begun = True
        if frame.pts is not None:
            self._owed.discard(frame.pts)
            self._given.append(frame.pts)

    def settle(self) -> None:
        """Raise DamagedError if frames are missing. Those before the first one may be: they can need a cut-off part."""
        lost = [pts for pts in self._owed if self._given and pts > self._given[0]]
        if lost:
            n_doubtful = sum(pts > min(lost) for pts in self._given)
            raise DamagedError(f"{len(lost)} later ones fail", n_doubtful)


def _all_packets(container: InputContainer, stream: VideoStream) -> "Iterator[Packet[VideoStream]]":
    """All packets, with the empty one at the end that makes the decoder return its last frames."""
    try:
        yield from container.demux(stream)
    except FFmpegError as error:
        raise DamagedError(_reason(error)) from error


def _flush(stream: VideoStream, missing_dts: int | None) -> list[VideoFrame]:
    """Frames still in the decoder that come before those missing from `missing_dts` on."""
    frames = stream.decode(None)
    return [f for f in frames if missing_dts is not None and f.pts is not None and f.pts <= missing_dts]


def is_transposed(frame: VideoFrame) -> bool:
    """Whether the frame is stored rotated by 90°, so that its width is the height on display."""
    matrix = _display_matrix(frame)
    return bool(abs(matrix[0, 1]) > abs(matrix[0, 0]))


def is_upright(frame: VideoFrame) -> bool:
    """Whether the frame is stored as it is displayed: neither rotated nor mirrored."""
    (a, b), (c, d) = _display_matrix(frame)[:2, :2].tolist()
    return bool(a > 0 and d > 0 and b == c == 0)


def upright_rgb(frame: VideoFrame, reformatter: VideoReformatter) -> UInt8:
    """Pixels as displayed, (H, W, 3) uint8, RGB: mirrored, and rotated by the nearest multiple of 90°."""
    # One thread: for small frames, distributing slices costs more than converting them.
    pixels = np.asarray(reformatter.reformat(frame, format="rgb24", threads=1).to_ndarray(), np.uint8)
    (a, b), (c, d) = _display_matrix(frame)[:2, :2].tolist()
    mirrored, flipped = (c < 0, b < 0) if is_transposed(frame) else (a < 0, d < 0)
    if is_transposed(frame):
        pixels = np.asarray(cv2.transpose(pixels), np.uint8)
    if mirrored or flipped:
        pixels = np.asarray(cv2.flip(pixels, -1 if mirrored and flipped else int(mirrored)), np.uint8)
    return np.ascontiguousarray(pixels)


def _display_matrix(frame: VideoFrame) -> Int32:
    """Display matrix of the frame, (3, 3): x' = x·m[0, 0] + y·m[1, 0], y' = x·m[0, 1] + y·m[1, 1]."""
    data = frame.side_data.get("DISPLAYMATRIX")
    if data is None:
        return np.eye(3, dtype=np.int32)
    return np.frombuffer(bytes(data), np.int32).reshape(3, 3)  # type: ignore[call-overload]


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
