"""Frames of a video file, through libav: lazy, upright, numbered exactly."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, dropwhile, islice
from pathlib import Path
from typing import NamedTuple

import av
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.video.frame import PictureType, VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from budgetseg.errors import VideoError
from budgetseg.video.core import Frame, Span
from budgetseg.video.cut import missing_bytes
from budgetseg.video.libav import (
    INDEXED,
    DamagedError,
    decoded,
    is_one_to_one,
    is_shown,
    is_transposed,
    opened,
    packets,
    upright_rgb,
)

__all__ = ["Container", "open_container"]

_AVI, _Y4M = "avi", "yuv4mpegpipe"
_PACKET_IS_FRAME = INDEXED | {_AVI, _Y4M}  # others (MPEG-TS) may split a frame into its fields

_WORTH_SEEKING = 24  # frames: before that, decoding from the start is as quick
_REORDER = 64  # packets: no codec presents a frame further than this from where it is stored


class _Mark(NamedTuple):
    """What is kept of a packet."""

    pts: int | None
    dts: int | None
    is_key: bool
    is_shown: bool


def _mark(packet: "Packet[VideoStream]") -> _Mark:
    return _Mark(packet.pts, packet.dts, packet.is_keyframe, is_shown(packet))


@dataclass(frozen=True)
class Container:
    """A video file (the contract is `Clip`).

    Attributes
    ----------
    path : the file
    size : width and height of the upright frames
    rate : mean frames a second
    duration_s : length, if the file says
    n_frames : frames, if the file says
    threads : decoding threads; None leaves the choice to libav
    first_pts : timestamp of the first frame, or None where timestamps mean nothing (AVI has none)
    """

    path: Path
    size: tuple[int, int]
    rate: float
    duration_s: float | None
    n_frames: int | None
    threads: int | None
    first_pts: int | None

    @property
    def name(self) -> str:
        """File name without suffix."""
        return self.path.stem

    @property
    def stems(self) -> None:
        """Frames of a video file have no names."""
        return

    def count(self) -> int:
        """Frames in the file: by its own word, else by reading packets without decoding, else by decoding."""
        return self._counted if self.n_frames is None else self.n_frames

    @cached_property
    def _counted(self) -> int:
        """By reading the file through, which is worth doing once."""
        with opened(self.path) as (container, stream):
            if container.format.name in _PACKET_IS_FRAME:
                return sum(is_shown(packet) for packet in packets(container, stream))
        return sum(1 for _ in self._checked(0))

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span`; VideoError where the file is damaged before its end."""
        reformatter = VideoReformatter()  # one for all frames: setting one up costs as much as converting a frame
        n_seen = 0
        for index, frame in self._checked(span.start):
            n_seen = index + 1
            if span.keeps(index):
                yield Frame(index, self._time_s(index, frame), upright_rgb(frame, reformatter))
            if span.ends_before(index + 1):  # asked before the next frame is decoded: it may be damaged
                return
        span.check_begins(n_seen, self.path)

    def alone(self, enough: Callable[[], bool] = lambda: False) -> dict[int, int]:
        """Numbers and timestamps of the frames that decode without others; none where packets do not prove them.

        Packets are read and not decoded, until `enough` says that this takes too long.
        """
        first_pts = self.first_pts
        with opened(self.path) as (container, stream):
            if not is_one_to_one(stream) or first_pts is None:
                return {}
            marks, is_all = _marks(container, stream, enough)
        # What is shown before the first frame that decodes is left out by the decoder, too.
        times = sorted(mark.pts for mark in marks if mark.is_shown and mark.pts is not None and mark.pts >= first_pts)
        if len(set(times)) < len(times) or any(mark.pts is None for mark in marks):
            return {}
        certain = marks if is_all else marks[:-_REORDER]  # of those before, all that is shown earlier was seen
        keys = {mark.pts for mark in certain if mark.is_key and mark.is_shown}
        return {number: pts for number, pts in enumerate(times) if pts in keys}

    def pick_alone(self, times: Mapping[int, int]) -> Iterator[Frame]:
        """Frames of these numbers and timestamps, some of what `alone` gives; no others are decoded.

        Those that are damaged, or turn out to need others, are left out.
        """
        numbers = {pts: number for number, pts in times.items()}
        reformatter, left = VideoReformatter(), set(numbers)
        with self._opened() as (container, stream):
            container.seek(min(numbers), stream=stream)
            for packet in packets(container, stream):
                if packet.pts not in left:
                    continue
                left.remove(packet.pts)
                yield from self._whole(stream, packet, numbers, reformatter)
                if not left:
                    break
            yield from self._whole(stream, None, numbers, reformatter)

    def _whole(
        self,
        stream: VideoStream,
        packet: "Packet[VideoStream] | None",
        numbers: Mapping[int, int],
        reformatter: VideoReformatter,
    ) -> Iterator[Frame]:
        """Frames that a packet brings out of the decoder, None for all that are in it; of damaged ones nothing."""
        with suppress(FFmpegError):
            for frame in stream.decode(packet):
                # x264 may refresh a picture in parts, and call the first of them a key frame.
                is_whole = frame.pict_type == PictureType.I and not frame.is_corrupt
                number = None if frame.pts is None else numbers.get(frame.pts)
                if is_whole and number is not None:
                    yield Frame(number, self._time_s(number, frame), upright_rgb(frame, reformatter))

    def _checked(self, start: int) -> Iterator[tuple[int, VideoFrame]]:
        """Numbered frames as `_numbered` gives them, with damage as VideoError."""
        n_seen = 0
        try:
            for index, frame in self._numbered(start):
                n_seen = index + 1
                yield index, frame
        except DamagedError as error:
            n_sound = n_seen - error.n_doubtful
            raise VideoError(
                f"'{self.path}' is damaged: {n_sound} frames can be decoded ({error}); "
                f"copy or convert it again, or set end={n_sound} to use the part that is there"
            ) from error

    def _time_s(self, index: int, frame: VideoFrame) -> float:
        if self.first_pts is None or frame.pts is None or not frame.time_base:
            return index / self.rate
        return float((frame.pts - self.first_pts) * frame.time_base)

    def _numbered(self, start: int) -> Iterator[tuple[int, VideoFrame]]:
        """Frames with their numbers: from `start` where a seek is proven exact, else from 0."""
        landmarks = self._landmarks(start) if start >= _WORTH_SEEKING else None
        if landmarks is not None:
            key_pts, start_pts = landmarks
            frames = self._decode(key_pts)
            try:
                later = dropwhile(lambda frame: frame.pts is None or frame.pts < start_pts, frames)
                first = next(later, None)
                if first is not None and first.pts == start_pts:
                    return enumerate(chain([first], later), start)
            except DamagedError:  # decoding from the start will meet it too, and count the frames before it
                pass
            frames.close()
        return enumerate(self._decode())

    def _landmarks(self, start: int) -> tuple[int, int] | None:
        """Timestamps of the key frame to seek to and of frame `start`; None where timestamps do not prove them.

        Frame `start` is the one with the `start`-th lowest timestamp, which a bounded look at the packets tells.
        """
        with opened(self.path) as (container, stream):
            if container.format.name not in INDEXED:
                return None
            marks = [_mark(packet) for packet in islice(packets(container, stream), start + _REORDER)]
        times = sorted(mark.pts for mark in marks if mark.is_shown and mark.pts is not None)
        if len(times) <= start or len(set(times)) < len(times) or any(mark.pts is None for mark in marks):
            return None
        keys = [mark.pts for mark in marks if mark.is_key and mark.pts is not None and mark.pts <= times[start]]
        return (max(keys), times[start]) if keys and max(keys) > times[0] else None

    def _decode(self, seek_pts: int | None = None) -> Generator[VideoFrame, None, None]:
        """Frames in presentation order, from the key frame at `seek_pts` if given."""
        with self._opened() as (container, stream):
            if seek_pts is not None:
                container.seek(seek_pts, stream=stream)
            yield from decoded(container, stream)

    @contextmanager
    def _opened(self) -> Iterator[tuple[InputContainer, VideoStream]]:
        """To decode with its threads."""
        with opened(self.path) as (container, stream):
            stream.thread_type = "AUTO"
            stream.codec_context.thread_count = self.threads or 0
            yield container, stream


def _marks(container: InputContainer, stream: VideoStream, enough: Callable[[], bool]) -> tuple[list[_Mark], bool]:
    """Of all packets up to one that cannot be read, or until it is enough; and whether these are all."""
    marks: list[_Mark] = []
    with suppress(FFmpegError):
        for packet in container.demux(stream):
            if enough():
                break
            if packet.size:
                marks.append(_mark(packet))
        else:
            return marks, True
    return marks, False


def open_container(path: Path, span: Span, threads: int | None = None) -> Container:
    """Open a video file, checked: its first frame decodes, and it is whole as far as `span` goes."""
    if path.stat().st_size == 0:
        raise VideoError(f"'{path}' is empty; copy or export it again")
    lacking = missing_bytes(path)
    if lacking:
        _check_reaches(path, span, lacking)
    with opened(path) as (container, stream):
        first = _first_frame(path, container, stream)
        turned = is_transposed(first)
        return Container(
            path=path,
            size=(first.height, first.width) if turned else (first.width, first.height),
            rate=float(stream.average_rate or stream.guessed_rate or 25),
            duration_s=_duration_s(container, stream),
            n_frames=_stated_frames(container, stream),
            threads=threads,
            first_pts=None if container.format.name == _AVI else first.pts,
        )


def _first_frame(path: Path, container: InputContainer, stream: VideoStream) -> VideoFrame:
    """Decode one frame: only a frame tells its rotation, and a file without one should fail at the door."""
    stream.codec_context.thread_count = 1
    try:
        frame = next(decoded(container, stream), None)
    except DamagedError:
        frame = None
    if frame is None:
        raise VideoError(f"'{path}' has no frame that can be decoded; copy or convert it again")
    return frame


def _duration_s(container: InputContainer, stream: VideoStream) -> float | None:
    if stream.duration is not None and stream.time_base:
        return float(stream.duration * stream.time_base)
    return None if container.duration is None else container.duration / av.time_base


def _stated_frames(container: InputContainer, stream: VideoStream) -> int | None:
    """Frames that the header or the index promises, less those that an edit list hides; None if neither is complete."""
    if container.format.name == _Y4M:
        return stream.duration
    if stream.frames == 0 or stream.frames != len(stream.index_entries):
        return None
    return sum(entry.size > 0 and not entry.is_discard for entry in stream.index_entries)


def _check_reaches(path: Path, span: Span, lacking: int) -> None:
    """Refuse a file that is cut short, unless the part that is there holds the whole span."""
    try:
        n_whole, is_all = _count_whole(path)
    except VideoError:  # nothing opens: the index was in the part that is missing
        n_whole, is_all = 0, False
    if is_all or (span.end is not None and span.end <= n_whole):
        return
    remedy = f"copy it again, or set end={n_whole} to use the part that is there" if n_whole else "copy it again"
    raise VideoError(f"'{path}' is cut short: {n_whole} frames can be decoded, {lacking} bytes are missing; {remedy}")


def _count_whole(path: Path) -> tuple[int, bool]:
    """Frames before the first that may be missing, and whether they are all that the file promises.

    Packets lie in decoding order: what is missing was to be shown at the decoding time of the last packet or later.
    """
    with opened(path) as (container, stream):
        # Y4M states nothing: what libav gives as its length comes from the size of the file.
        stated = None if container.format.name == _Y4M else _stated_frames(container, stream)
        marks = [_mark(packet) for packet in packets(container, stream) if not packet.is_corrupt]
    shown = [mark for mark in marks if mark.is_shown]
    if len(shown) == stated:
        return len(shown), True
    decoded_to = max((mark.dts for mark in marks if mark.dts is not None), default=None)
    return sum(decoded_to is None or mark.pts is None or mark.pts <= decoded_to for mark in shown), False
