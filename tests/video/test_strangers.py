"""Files of strangers: special ones, lists of other files, texts in any encoding, codecs that nobody knows."""

import os
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.video import open_video

MakeClip = Callable[[str], Path]


def titled(path: Path, title: str) -> None:
    with av.open(str(path), "w") as container:
        container.metadata["title"] = title
        stream = container.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        container.mux(stream.encode(frame))
        container.mux(stream.encode())


def test_a_title_in_another_encoding_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    titled(path, "CafXX")
    data = path.read_bytes()
    assert b"CafXX" in data
    path.write_bytes(data.replace(b"CafXX", b"Caf\xe9\xff"))
    assert len(list(open_video(path))) == 1


def test_an_unknown_codec_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.avi"
    titled(path, "a")
    data = path.read_bytes()
    assert b"FMP4" in data
    path.write_bytes(data.replace(b"FMP4", b"ZZZZ"))
    with pytest.raises(VideoError, match=r"is in a codec that is not known here; convert it to H.264"):
        open_video(path)


@pytest.mark.parametrize("name", ["a.mp4", "folder/a.png"])
def test_pipes_and_endless_files_are_refused(tmp_path: Path, name: str) -> None:
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        path = tmp_path / make.__name__.strip("<>") / name
        path.parent.mkdir(parents=True)
        make(path)
        with pytest.raises(VideoError, match="is no regular file"):
            open_video(path.parent if path.suffix == ".png" else path)


@pytest.mark.parametrize("text", ["#EXTM3U\n#EXTINF:1,\n{0}\n#EXT-X-ENDLIST\n", "ffconcat version 1.0\nfile '{0}'\n"])
@pytest.mark.parametrize("suffix", [".m3u8", ".mp4", ".txt"])
def test_a_list_that_names_other_files_is_refused(make_clip: MakeClip, tmp_path: Path, text: str, suffix: str) -> None:
    path = tmp_path / f"list{suffix}"
    path.write_text(text.format(make_clip("mp4-h264")))
    with pytest.raises(VideoError, match="cannot be read as a video"):
        open_video(path)
