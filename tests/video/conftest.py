"""Clips that are written once for all tests."""

from collections.abc import Callable
from pathlib import Path

import av
import pytest

from tests.video.clips import KINDS, write_clip, write_images


@pytest.fixture(scope="session")
def make_clip(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A clip of the named kind, written once; skips where the encoder is missing."""
    folder = tmp_path_factory.mktemp("clips")

    def make(name: str) -> Path:
        kind = KINDS[name]
        path = folder / (name if kind.codec is None else name + kind.suffix)
        if path.exists():
            return path
        if kind.codec is None:
            write_images(path, kind.suffix)
        elif kind.codec not in av.codecs_available:
            pytest.skip(f"libav here has no {kind.codec}")
        else:
            write_clip(path, kind)
        return path

    return make


@pytest.fixture(scope="session")
def index_first(make_clip: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MP4 whose index is at its start, so that a part of it still opens."""
    path = tmp_path_factory.mktemp("first") / "index-first.mp4"
    with (
        av.open(str(make_clip("mp4-h264"))) as source,
        av.open(str(path), "w", options={"movflags": "faststart"}) as out,
    ):
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                out.mux(packet)
    return path
