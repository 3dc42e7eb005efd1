"""Streams of the network, pipes and cameras: opened as they are, and no password is ever shown."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.timing.clock import WallClock
from budgetseg.video.capture import Address, Capturing, captured, hidden, is_address
from tests.video.clips import KINDS, N_FRAMES, number_of, write_clip

SECRET = "hunter2"
QUICK = Capturing(open_s=5.0, read_s=2.0)


@pytest.fixture
def port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "clip.ts"
    write_clip(path, KINDS["ts-h264"])
    return path


def numbers(address: Address) -> Iterator[int]:
    with captured(address, WallClock().now_s, QUICK) as pictures:
        for picture in pictures:
            yield number_of(picture.read())


@pytest.mark.parametrize(
    "url",
    [
        f"rtsp://me:{SECRET}@127.0.0.1:{{port}}/main",
        f"http://me:{SECRET}@127.0.0.1:{{port}}/a?token={SECRET}",
        f"tcp://me:{SECRET}@127.0.0.1:{{port}}",
    ],
)
def test_a_refused_connection_is_a_line_without_the_password(
    url: str, port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    address = Address.of(url.format(port=port))
    with pytest.raises(VideoError, match="cannot be opened") as caught, captured(address, WallClock().now_s, QUICK):
        pass
    said = f"{caught.value} {address!r} {address.name} {caught.value.__cause__} {''.join(capfd.readouterr())}"
    assert SECRET not in said
    assert "127.0.0.1" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_users_passwords_and_questions_are_hidden() -> None:
    assert hidden(f"rtsp://me:{SECRET}@camera:554/main?token={SECRET}#x") == "rtsp://camera:554/main"
    assert hidden(f"rtsp://me:a@b:{SECRET}@camera/main") == "rtsp://camera/main"
    assert hidden("udp://127.0.0.1:9000") == "udp://127.0.0.1:9000"


def test_other_schemes_and_missing_cameras_are_a_line() -> None:
    with pytest.raises(VideoError, match="no streams of 'gopher://'; give one of rtsp://"):
        Address.of("gopher://there")
    with pytest.raises(VideoError, match="no camera at '/dev/video971'"):
        Address.of("971")
    with pytest.raises(VideoError, match="no camera and no stream"):
        Address.of("/dev/null" if not Path("/dev/null").is_char_device() else __file__)


def test_a_scheme_that_ffmpeg_lacks_is_a_line() -> None:
    address = Address("srt-like", "nosuch://127.0.0.1:9")
    with pytest.raises(VideoError, match="the installed FFmpeg has no nosuch://"), captured(address, WallClock().now_s):
        pass


def test_files_are_no_addresses(tmp_path: Path) -> None:
    assert not is_address(str(tmp_path / "drive.mp4"))
    os.mkfifo(tmp_path / "pipe")
    assert is_address(str(tmp_path / "pipe"))


def test_a_pipe_gives_all_its_frames(tmp_path: Path, clip: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    address = Address.of(str(pipe))
    assert not address.may_return
    Thread(target=lambda: pipe.write_bytes(clip.read_bytes()), daemon=True).start()
    assert list(numbers(address)) == list(range(N_FRAMES))


def test_of_a_stream_over_tcp_what_had_been_waiting_is_left_out(clip: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def give() -> None:
            with server.accept()[0] as client:
                client.sendall(clip.read_bytes())

        Thread(target=give, daemon=True).start()
        found = list(numbers(Address.of(f"tcp://127.0.0.1:{server.getsockname()[1]}")))
    assert found == list(range(25, N_FRAMES))  # all was sent at once: a second of it had been waiting


def test_damage_on_the_way_costs_frames_and_not_the_stream(tmp_path: Path, clip: Path) -> None:
    data = bytearray(clip.read_bytes())
    rng = np.random.default_rng(0)
    for at in rng.integers(len(data) // 3, len(data) // 2, 30).tolist():
        data[at] ^= 0xFF
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    Thread(target=lambda: pipe.write_bytes(bytes(data)), daemon=True).start()
    found = list(numbers(Address.of(str(pipe))))
    assert N_FRAMES // 2 < len(found) <= N_FRAMES
    assert found[-1] == N_FRAMES - 1


def test_a_stream_without_video_is_a_line(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    header = (
        b"RIFF\x24\xfa\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00"
    )
    Thread(target=lambda: pipe.write_bytes(header + b"data\x00\xfa\x00\x00" + bytes(64000)), daemon=True).start()
    with pytest.raises(VideoError, match="has no video"), captured(Address.of(str(pipe)), WallClock().now_s, QUICK):
        pass


def test_a_stream_from_which_nothing_comes_is_a_line(port: int) -> None:
    address = Address.of(f"udp://127.0.0.1:{port}")
    quick = Capturing(open_s=1.0, read_s=0.5)
    with pytest.raises(VideoError, match="cannot be opened"), captured(address, WallClock().now_s, quick):
        pass
