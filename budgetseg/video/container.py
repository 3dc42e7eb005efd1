"""Frames of a video file, decoded by libav on demand, upright, with exact numbers."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
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
from budgetseg.types import UInt8
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
from budgetseg.video.room import check_room

__all__ = ["Container", "open_container"]

_AVI = "avi"
_Y4M = "yuv4mpegpipe"
_PACKET_IS_FRAME = INDEXED | {_AVI, _Y4M}  # others (MPEG-TS) may split a frame into its fields

_WORTH_SEEKING = 24  # frames; to an earlier frame, decoding from the start is as fast as seeking
_REORDER = 64  # packets; no codec presents a frame further than this from where it is stored


class _Mark(NamedTuple):
    """The properties of a packet that are needed to number frames."""

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
    rate : mean frames per second
    duration_s : length, if the file states it
    n_frames : number of frames, if the file states it
    threads : decoding threads; None leaves the choice to libav
    first_pts : timestamp of the first frame; None if timestamps mean nothing (AVI has none)
    times_s : presentation time of each frame of an AVI that leaves frames out, as webcams write it; else empty
    """

    path: Path
    size: tuple[int, int]
    rate: float
    duration_s: float | None
    n_frames: int | None
    threads: int | None
    first_pts: int | None
    times_s: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """File name without suffix."""
        return self.path.stem

    @property
    def stems(self) -> None:
        """None: frames of a video file have no file names."""
        return

    def count(self) -> int:
        """Number of frames: as the file states it, else by reading packets without decoding, else by decoding."""
        return self._counted if self.n_frames is None else self.n_frames

    @cached_property
    def _counted(self) -> int:
        """Number of frames, by reading all of the file; it is kept, since reading takes long."""
        with opened(self.path) as (container, stream):
            if container.format.name in _PACKET_IS_FRAME:
                return sum(is_shown(packet) for packet in packets(container, stream))
        return sum(1 for _ in self._checked(0))

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span`, in order; VideoError if the file is damaged before the end of the span."""
        reformatter = VideoReformatter()  # one for all frames: setting one up costs as much as converting a frame
        for index, time_s, frame in self.stored(span):
            yield Frame(index, time_s, upright_rgb(frame, reformatter))

    def stored(self, span: Span) -> Iterator[tuple[int, float, VideoFrame]]:
        """Number, time and picture of the frames of `span`, in order, as the file stores them: not turned upright."""
        n_seen = 0
        for index, frame in self._checked(span.start):
            n_seen = index + 1
            if span.keeps(index):
                yield index, self._time_s(index, frame), frame
            if span.ends_before(index + 1):  # checked before the next frame is decoded, which may be damaged
                return
        span.check_begins(n_seen, self.path)

    def alone(self, enough: Callable[[], bool] = lambda: False) -> dict[int, int]:
        """Numbers and timestamps of the frames that decode without others; empty if packets do not prove them.

        Packets are read but not decoded, until `enough` returns True.
        """
        first_pts = self.first_pts
        with opened(self.path) as (container, stream):
            if not is_one_to_one(stream) or first_pts is None:
                return {}
            marks, is_all = _marks(container, stream, enough)
        # Frames that are shown before the first one that decodes are left out by the decoder, too.
        times = sorted(mark.pts for mark in marks if mark.is_shown and mark.pts is not None and mark.pts >= first_pts)
        if len(set(times)) < len(times) or any(mark.pts is None for mark in marks):
            return {}
        certain = marks if is_all else marks[:-_REORDER]  # all frames shown before these are among the packets read
        keys = {mark.pts for mark in certain if mark.is_key and mark.is_shown}
        return {number: pts for number, pts in enumerate(times) if pts in keys}

    def pairs(self, places: Sequence[float], stride: int) -> Iterator[tuple[UInt8, UInt8]]:
        """Pairs of frames (H, W, 3) that are `stride` from each other, near places of the file, 0 to 1.

        The first of a pair is the frame that decodes without others before its place; where that cannot be found, or
        is damaged, there is no pair. Every two pairs are of different frames.
        """
        reformatter = VideoReformatter()
        seen: set[int | None] = set()
        with opened(self.path) as (container, stream):
            stream.codec_context.thread_count = 1  # more would decode frames that nobody needs
            for place in places:
                with suppress(FFmpegError, DamagedError):
                    if self.duration_s and self.first_pts is not None and stream.time_base:
                        to_s = place * self.duration_s
                        container.seek(self.first_pts + int(to_s / stream.time_base), stream=stream)
                    frames = list(islice(decoded(container, stream), stride + 1))
                    if len(frames) > stride and frames[0].pts not in seen:
                        seen.add(frames[0].pts)
                        yield upright_rgb(frames[0], reformatter), upright_rgb(frames[-1], reformatter)

    def pick_alone(self, times: Mapping[int, int]) -> Iterator[Frame]:
        """Frames with these numbers and timestamps, some of those from `alone`; no others are decoded.

        Frames that are damaged, or turn out to need others, are left out.
        """
        numbers = {pts: number for number, pts in times.items()}
        reformatter = VideoReformatter()
        left = set(numbers)
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
        """Intact frames that the decoder returns for a packet; with None, all that are still in the decoder."""
        with suppress(FFmpegError):
            for frame in stream.decode(packet):
                # x264 may refresh a picture in parts, and mark the first of them as a key frame.
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
                f"copy or convert it again, or use the part that is there with --end {n_sound}"
            ) from error

    def _time_s(self, index: int, frame: VideoFrame) -> float:
        if index < len(self.times_s):
            return self.times_s[index]
        if self.first_pts is None or frame.pts is None or not frame.time_base:
            return index / self.rate
        return float((frame.pts - self.first_pts) * frame.time_base)

    def _numbered(self, start: int) -> Iterator[tuple[int, VideoFrame]]:
        """Frames with their numbers: from `start` if a seek is proven to be exact, else from 0."""
        landmarks = self._landmarks(start) if start >= _WORTH_SEEKING else None
        if landmarks is not None:
            key_pts, start_pts = landmarks
            frames = self._decode(key_pts)
            try:
                later = dropwhile(lambda frame: frame.pts is None or frame.pts < start_pts, frames)
                first = next(later, None)
                if first is not None and first.pts == start_pts:
                    return enumerate(chain([first], later), start)
            except DamagedError:  # decoding from the start will find it, too, and count the frames before it
                pass
            frames.close()
        return enumerate(self._decode())

    def _landmarks(self, start: int) -> tuple[int, int] | None:
        """Timestamps of the key frame to seek to and of frame `start`; None if timestamps do not prove them.

        Frame `start` is the one with the `start`-th lowest timestamp, which a bounded number of packets shows.
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
        """The opened file, set to decode with its threads."""
        with opened(self.path) as (container, stream):
            stream.thread_type = "AUTO"
            stream.codec_context.thread_count = self.threads or 0
            yield container, stream


def _marks(container: InputContainer, stream: VideoStream, enough: Callable[[], bool]) -> tuple[list[_Mark], bool]:
    """Marks of the packets up to one that cannot be read, or until `enough`; and whether these are all packets."""
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


def open_container(path: Path, span: Span, threads: int | None = None, most_bytes: int | None = None) -> Container:
    """Open a video file; VideoError if its first frame does not decode, or it ends within `span`."""
    if not path.is_file():
        raise VideoError(f"'{path}' is no regular file; give a video file, or a folder of images")
    if path.stat().st_size == 0:
        raise VideoError(f"'{path}' is empty; copy or export it again")
    lacking = missing_bytes(path)
    if lacking:
        _check_reaches(path, span, lacking)
    with opened(path) as (container, stream):
        check_room(path, (stream.codec_context.width, stream.codec_context.height), most_bytes)
        first = _first_frame(path, container, stream)
        turned = is_transposed(first)
        times_s = _sparse_times_s(container, stream)
        stated_rate = float(stream.average_rate or stream.guessed_rate or 25)
        return Container(
            path=path,
            size=(first.height, first.width) if turned else (first.width, first.height),
            rate=(len(times_s) - 1) / times_s[-1] if times_s else stated_rate,
            duration_s=_duration_s(container, stream),
            n_frames=len(times_s) or _stated_frames(container, stream),
            threads=threads,
            first_pts=None if container.format.name == _AVI else first.pts,
            times_s=times_s,
        )


def _first_frame(path: Path, container: InputContainer, stream: VideoStream) -> VideoFrame:
    """Decode the first frame, which has the rotation; VideoError for a file without any frame."""
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
    """Number of frames by header or index, without those that an edit list hides; None if neither is complete."""
    if container.format.name == _Y4M:
        return stream.duration
    if stream.frames == 0 or stream.frames != len(stream.index_entries):
        return None
    return sum(entry.size > 0 and not entry.is_discard for entry in stream.index_entries)


def _sparse_times_s(container: InputContainer, stream: VideoStream) -> tuple[float, ...]:
    """Time of each frame of an AVI that has fewer frames than its rate says; empty for every other file.

    An AVI counts its frames at one rate, and repeats the last one where none is stored. Its index says where.
    """
    if container.format.name != _AVI or not stream.time_base:
        return ()
    counts = sorted(entry.timestamp for entry in stream.index_entries if entry.size > 0)
    is_whole = len(counts) > 1 and counts[-1] + 1 >= stream.frames
    if not is_whole or len(counts) == counts[-1] - counts[0] + 1:
        return ()
    return tuple(float((count - counts[0]) * stream.time_base) for count in counts)


def _check_reaches(path: Path, span: Span, lacking: int) -> None:
    """Raise VideoError for a file that is cut short, unless the existing part holds the whole span."""
    try:
        n_whole, is_all = _count_whole(path)
    except VideoError:  # it does not open: the index was in the missing part
        n_whole = 0
        is_all = False
    if is_all or (span.end is not None and span.end <= n_whole):
        return
    remedy = f"copy it again, or use the part that is there with --end {n_whole}" if n_whole else "copy it again"
    raise VideoError(f"'{path}' is cut short: {n_whole} frames can be decoded, {lacking} bytes are missing; {remedy}")


def _count_whole(path: Path) -> tuple[int, bool]:
    """Number of frames before the first one that may be missing, and whether they are all that the file states.

    Packets are in decoding order: missing frames would be shown at the decoding time of the last packet or later.
    """
    with opened(path) as (container, stream):
        # Y4M states no number: libav computes its length from the size of the file.
        stated = None if container.format.name == _Y4M else _stated_frames(container, stream)
        marks = [_mark(packet) for packet in packets(container, stream) if not packet.is_corrupt]
    shown = [mark for mark in marks if mark.is_shown]
    if len(shown) == stated:
        return len(shown), True
    decoded_to = max((mark.dts for mark in marks if mark.dts is not None), default=None)
    return sum(decoded_to is None or mark.pts is None or mark.pts <= decoded_to for mark in shown), False
