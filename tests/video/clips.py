"""Small clips in which every frame shows its own number, in every format that can be written here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from budgetseg.types import IGNORE, Classes, UInt8, Video
from budgetseg.video import Frame

N_FRAMES = 40
RATE = 25

CLASSES = Classes(("sky", "road", "car"), np.array([[10, 20, 200], [128, 64, 128], [255, 0, 0]], np.uint8))


@dataclass(frozen=True)
class Kind:
    """How to write a clip: `codec` is None for a folder of images."""

    suffix: str
    codec: str | None
    pix_fmt: str = "yuv420p"
    size: tuple[int, int] = (96, 64)
    options: dict[str, str] = field(default_factory=dict)
    format_options: dict[str, str] = field(default_factory=dict)


KINDS = {
    "mp4-h264": Kind(".mp4", "libx264"),
    "mp4-h264-fragmented": Kind(".mp4", "libx264", format_options={"movflags": "frag_keyframe+empty_moov"}),
    "mp4-h264-10bit": Kind(".mp4", "libx264", "yuv420p10le"),
    "mp4-h264-odd": Kind(".mp4", "libx264", "yuv444p", (97, 65)),
    "mp4-h264-open-gop": Kind(".mp4", "libx264", options={"x264-params": "open-gop=1:keyint=8:min-keyint=4"}),
    "mp4-hevc": Kind(".mp4", "libx265", options={"x265-params": "log-level=none:pools=1:keyint=12"}),
    "mkv-h264": Kind(".mkv", "libx264"),
    "mkv-h264-refresh": Kind(".mkv", "libx264", options={"x264-params": "intra-refresh=1:keyint=8"}),
    "mkv-ffv1": Kind(".mkv", "ffv1", "yuv444p"),
    "avi-mpeg4": Kind(".avi", "mpeg4"),
    "avi-h264": Kind(".avi", "libx264"),
    "webm-vp8": Kind(".webm", "libvpx", options={"deadline": "realtime"}),
    "webm-vp9": Kind(".webm", "libvpx-vp9", options={"deadline": "realtime", "cpu-used": "8"}),
    "y4m": Kind(".y4m", "wrapped_avframe"),
    "y4m-odd": Kind(".y4m", "wrapped_avframe", size=(97, 65)),
    "ts-h264": Kind(".ts", "libx264"),
    "png-folder": Kind(".png", None),
    "jpeg-folder": Kind(".jpg", None),
}


def numbered(number: int, size: tuple[int, int] = (96, 64)) -> UInt8:
    """A frame, (H, W, 3), whose upper half shows `number` as eight black or white bars, on grey."""
    width, height = size
    frame = np.full((height, width, 3), 60, np.uint8)
    for bit in range(8):
        frame[: height // 2, bit * width // 8 : (bit + 1) * width // 8] = 255 * (number >> bit & 1)
    return frame


def number_of(frame: UInt8) -> int:
    """The number that a frame shows."""
    height, width, _ = frame.shape
    row = frame[height // 4].mean(axis=1)
    return sum(int(row[(2 * bit + 1) * width // 16] > 128) << bit for bit in range(8))


def write_clip(path: Path, kind: Kind, times: list[int] | None = None) -> None:
    """Write N_FRAMES numbered frames, at `times` in milliseconds if given."""
    assert kind.codec is not None
    time_base = Fraction(1, 1000) if times else Fraction(1, RATE)
    with av.open(str(path), "w", options=kind.format_options) as container:
        stream = container.add_stream(kind.codec, rate=RATE, options=kind.options)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height = kind.size
        stream.pix_fmt = kind.pix_fmt
        stream.gop_size, stream.max_b_frames = 12, 2
        stream.codec_context.time_base = time_base
        for k in range(N_FRAMES):
            frame = av.VideoFrame.from_ndarray(numbered(k, kind.size))
            frame.pts, frame.time_base = times[k] if times else k, time_base
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def write_images(folder: Path, suffix: str) -> None:
    """Write N_FRAMES numbered frames as images whose numbers have no leading zeros."""
    folder.mkdir()
    for k in range(N_FRAMES):
        cv2.imwrite(str(folder / f"frame{k}{suffix}"), numbered(k))


def remux(source: Path, target: Path, change: Callable[[int, bytes], bytes]) -> None:
    """Copy a clip, with the data of its k-th packet replaced by `change(k, data)`."""
    with av.open(str(source)) as whole, av.open(str(target), "w") as out:
        stream = out.add_stream_from_template(whole.streams.video[0])
        for k, packet in enumerate(packet for packet in whole.demux(video=0) if packet.size):
            copy = av.Packet(change(k, bytes(packet)))
            copy.pts, copy.dts, copy.time_base = packet.pts, packet.dts, packet.time_base
            copy.is_keyframe, copy.stream = packet.is_keyframe, stream
            out.mux(copy)


def some_labels(shape: tuple[int, ...], seed: int = 0) -> UInt8:
    """Random labels, some of them ignored."""
    return np.random.default_rng(seed).choice(np.array([0, 1, 2, IGNORE], np.uint8), shape)


def smooth_video(n_frames: int = 12, size: tuple[int, int] = (64, 48), rate: float = 10.0) -> Video:
    """Frames that an encoder hardly changes."""
    width, height = size
    rows, columns = np.mgrid[:height, :width]
    frames = [np.dstack([rows * 3, columns * 3, 0 * rows + 10 * k]).astype(np.uint8) for k in range(n_frames)]
    return Video(np.stack(frames), np.arange(n_frames) / rate, "smooth")


def remade(path: Path, source: Path, change: Callable[[bytes], bytes]) -> Path:
    """A copy of a file with its bytes changed."""
    path.write_bytes(change(source.read_bytes()))
    return path


def assert_same(these: list[Frame], those: list[Frame]) -> None:
    """Fail unless these frames are those: numbers, times and pixels."""
    assert [frame.index for frame in these] == [frame.index for frame in those]
    assert [frame.time_s for frame in these] == [frame.time_s for frame in those]
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(these, those, strict=True))
