"""Serve a video as a live stream of MPEG-TS over UDP, with loss and restarts: a program of its own.

python -m budgetseg.evaluation.stream_server drive.mp4 --port 9000 --loss 0.01 --pause-every 5
"""

import argparse
import socket
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from threading import Event

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from budgetseg.timing.clock import WallClock
from budgetseg.video import open_video
from budgetseg.video.encode import converted, even

__all__ = ["Serving", "packets_of", "serve"]

PACKET = 188
TOGETHER = 7
"""Packets in a datagram, which then fits in one frame of Ethernet."""


@dataclass(frozen=True)
class Serving:
    """How a stream is served.

    Attributes
    ----------
    rate : frames a second
    loss : share of the datagrams that are lost
    pause_every, pause_s : seconds after which the stream stops, and for how long; 0 for never
    key_every : frames from one key frame to the next: whoever joins waits for one
    """

    rate: float = 15.0
    loss: float = 0.0
    pause_every: float = 0.0
    pause_s: float = 1.0
    key_every: int = 15


def packets_of(path: Path, serving: Serving) -> list[bytes]:
    """The stream in pieces, one for each frame of a video."""
    rate = Fraction(serving.rate).limit_denominator(1001)
    file = BytesIO()
    pieces = []
    options = {"preset": "ultrafast", "tune": "zerolatency", "crf": "18"}
    reformatter = VideoReformatter()
    with av.open(file, "w", format="mpegts", options={"flush_packets": "1"}) as out:
        stream = out.add_stream("libx264", rate=rate, options=options)
        assert isinstance(stream, av.VideoStream)
        stream.pix_fmt, stream.gop_size = "yuv420p", serving.key_every
        video = open_video(path)
        stream.width, stream.height = even((video.width, video.height))
        at = 0
        for k, frame in enumerate(video):
            picture = converted(frame.pixels, reformatter)
            picture.pts, picture.time_base = k, 1 / rate
            out.mux(stream.encode(picture))
            pieces.append(file.getvalue()[at:])
            at += len(pieces[-1])
    return pieces


def serve(pieces: list[bytes], port: int, serving: Serving, stop: Event) -> None:
    """Send the pieces at their rate, again and again, until an event is set."""
    clock = WallClock()
    rng = np.random.default_rng(0)
    paused_s = 0.0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        sent = 0
        while not stop.is_set():
            due_s = sent / serving.rate + paused_s
            if serving.pause_every and sent and sent % round(serving.pause_every * serving.rate) == 0:
                paused_s += serving.pause_s
                due_s += serving.pause_s
            if stop.wait(max(due_s - clock.now_s(), 0.0)):
                return
            piece = pieces[sent % len(pieces)]
            for first in range(0, len(piece), TOGETHER * PACKET):
                if rng.random() >= serving.loss:
                    out.sendto(piece[first : first + TOGETHER * PACKET], ("127.0.0.1", port))
            sent += 1


def main() -> None:
    """Serve until the program is ended."""
    parser = argparse.ArgumentParser(description="Serve a video as MPEG-TS over UDP to a port of this machine.")
    parser.add_argument("video", type=Path)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--rate", type=float, default=Serving.rate)
    parser.add_argument("--loss", type=float, default=Serving.loss)
    parser.add_argument("--pause-every", type=float, default=Serving.pause_every)
    given = parser.parse_args()
    serving = Serving(given.rate, given.loss, given.pause_every)
    pieces = packets_of(given.video, serving)
    print("ready", flush=True)
    serve(pieces, given.port, serving, Event())


if __name__ == "__main__":
    main()
