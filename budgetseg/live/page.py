"""A small page that shows streams while they run: the newest frame, its labels and their age, and what was asked.

It offers four things and no other path: the page, the newest frame of each source, the state, and metrics.
"""

import json
import socket
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

import cv2
import numpy as np

from budgetseg.errors import OutputError
from budgetseg.live.loop import Live, LiveFrame
from budgetseg.live.status import Status, metrics_of
from budgetseg.types import Classes
from budgetseg.video.draw import blend

__all__ = ["LOOPBACK", "Page"]

LOOPBACK = "127.0.0.1"
"""Nobody but this machine can ask."""


class Page:
    """Serves the page until it is closed.

    Parameters
    ----------
    loop : whose frames are shown
    status : of the loop
    classes : names and colours
    host, port : where it is served; port 0 takes any that is free
    most : clients that are answered at the same time, at most

    Attributes
    ----------
    url : of the page
    """

    def __init__(
        self, loop: Live, status: Status, classes: Classes, host: str = LOOPBACK, port: int = 0, most: int = 16
    ) -> None:
        self._loop = loop
        self._status = status
        self._classes = classes
        self._frames: dict[int, LiveFrame] = {}
        self._encoded: dict[int, tuple[int, bytes]] = {}
        self._lock = Lock()
        try:
            self._server = _Server((host, port), self._answer, most)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise OutputError(f"port {port} of '{host}' cannot be used ({reason}); give another with --serve") from None
        self.url = f"http://{host}:{self._server.server_address[1]}/"
        Thread(target=self._server.serve_forever, args=(0.1,), name="page", daemon=True).start()

    def show(self, frame: LiveFrame) -> None:
        """Take a frame as the newest of its source; it is encoded only when somebody asks for it."""
        self._frames[frame.source] = frame

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, path: str) -> tuple[str, bytes] | None:
        """Kind and content of what is at a path; None where there is nothing."""
        if path == "/":
            return "text/html; charset=utf-8", files(__package__).joinpath("page.html").read_bytes()
        if path == "/state.json":
            return "application/json", json.dumps(self._state()).encode()
        if path == "/metrics":
            return "text/plain; version=0.0.4; charset=utf-8", metrics_of(self._status.latest).encode()
        for number, frame in list(self._frames.items()):
            if path == f"/frame/{number}.jpg":
                return "image/jpeg", self._jpeg(frame)
        return None

    def _state(self) -> dict[str, Any]:
        shown = {number: self._shown(frame) for number, frame in list(self._frames.items())}
        names, colours = self._classes.names, self._classes.colours.tolist()
        return {
            **self._status.latest,
            "classes": [{"name": name, "colour": colour} for name, colour in zip(names, colours, strict=True)],
            "frames": shown,
            "questions": [own._asdict() for own in list(self._loop.questions)],
            "now_s": self._loop.now_s,
            "notes": list(self._loop.notes),
        }

    def _shown(self, frame: LiveFrame) -> Mapping[str, Any]:
        counts = np.bincount(frame.labels[::4, ::4].ravel(), minlength=len(self._classes))[: len(self._classes)]
        return {
            "number": frame.number,
            "age_ms": round(1000 * frame.age_s, 1),
            "networks": list(frame.networks),
            "shares": (counts / max(int(counts.sum()), 1)).round(3).tolist(),
        }

    def _jpeg(self, frame: LiveFrame) -> bytes:
        """A frame with its labels, encoded once for all that ask."""
        with self._lock:
            number, content = self._encoded.get(frame.source, (-1, b""))
            if number != frame.number:
                tinted = blend(frame.image, frame.labels, self._classes.colours)
                done, found = cv2.imencode(".jpg", cv2.cvtColor(tinted, cv2.COLOR_RGB2BGR))
                content = found.tobytes() if done else b""
                self._encoded[frame.source] = frame.number, content
            return content


class _Server(ThreadingHTTPServer):
    """Answers as many clients at the same time as it may; the others are told to come back."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, place: tuple[str, int], answer: Callable[[str], tuple[str, bytes] | None], most: int) -> None:
        self.answer = answer
        self._free = BoundedSemaphore(most)
        super().__init__(place, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, or refuse."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        try:
            request.settimeout(0.1)
            request.sendall(b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\n\r\n")
        except OSError:
            pass
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and be free again."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no error."""

    def server_bind(self) -> None:
        """Bind without asking any name server what this machine is called."""
        if hasattr(socket, "SO_REUSEADDR"):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name = str(self.server_address[0])
        self.server_port = int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    """Answers to GET, and to nothing else."""

    server: _Server
    timeout = 5.0  # seconds for which a client may say nothing

    def do_GET(self) -> None:
        """Give what is at the path."""
        found = self.server.answer(self.path.partition("?")[0])
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind, content = found
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; img-src 'self' blob: data:")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is given
        """Say nothing: requests are no news."""
